package modellog

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/snapshot"
)

// Serving states which snapshot scorers serve from here on. As with a RESUME, its writer is not the
// owner of the log. It does not affect what is learned.
type Serving struct {
	Owner
	Choice
	Signed
}

// Choice is a snapshot to serve, and how to treat later ones.
type Choice struct {
	Mode     Mode   `json:"mode"`
	Snapshot Ref    `json:"snapshot"`
	Reason   string `json:"reason"`
	By       string `json:"by"` // name of the writer, for people
}

// Mode says what scorers do with snapshots that are newer than the one in a Choice.
type Mode string

const (
	Follow Mode = "follow" // serve newer snapshots that pass the gate
	Hold   Mode = "hold"   // do not serve newer snapshots; the one served at the time is kept
	Pin    Mode = "pin"    // do not serve newer snapshots; the one in the Choice was chosen among all
)

// Ref names a snapshot in the log.
type Ref struct {
	Snapshot snapshot.ID `json:"snapshot"`
	Offset   int64       `json:"offset"` // of its MANIFEST
	Start    int64       `json:"start"`  // the log is needed from this offset on
	Seq      int64       `json:"seq"`
	Step     int64       `json:"step"`
}

// String returns the step with what tells the snapshot from others of the same step, for people.
func (r Ref) String() string { return fmt.Sprintf("step %d (seq %d, %.8s)", r.Step, r.Seq, r.Snapshot) }

// RefTo returns the name of the snapshot that the MANIFEST at an offset completes.
func RefTo(m *Manifest, offset int64) Ref {
	return Ref{m.Snapshot, offset, min(m.Start.Offset, m.FirstChunk), m.Seq, m.Step}
}

// Gate is the comparison of a new snapshot with the served one, on the last labelled records. The
// learner predicted each of these records before it learned it, and the served snapshot predicted
// it as well.
type Gate struct {
	Metric    string  `json:"metric"`
	Rows      int64   `json:"rows"` // number of rows compared
	Loss      float64 `json:"loss"` // mean of the metric for the learner
	Served    float64 `json:"served"`
	WorseThan float64 `json:"worse_than"` // share by which Loss may exceed Served
	Passed    bool    `json:"passed"`
	Champion  Ref     `json:"champion"` // the snapshot served at the time
}

func (*Serving) Type() string { return "serving" }

func (s *Serving) String() string {
	text := fmt.Sprintf("%s snapshot %v of step %d, by %q", s.Mode, s.Snapshot.Snapshot, s.Snapshot.Step, s.By)
	if s.Reason != "" {
		text += ": " + s.Reason
	}
	return text
}

func (g *Gate) String() string {
	verdict := "refused"
	if g.Passed {
		verdict = "passed"
	}
	return fmt.Sprintf("%s by the gate: %s %.4g over %d rows, that of step %d has %.4g", verdict, g.Metric, g.Loss, g.Rows, g.Champion.Step, g.Served)
}

func (c *Choice) check() error {
	if c == nil {
		return nil
	}
	if c.Mode != Follow && c.Mode != Hold && c.Mode != Pin || len(c.Reason) > maxText || len(c.By) > maxText {
		return fmt.Errorf("mode %.20q, reason of %d bytes, writer of %d", c.Mode, len(c.Reason), len(c.By))
	}
	return c.Snapshot.check()
}

func (s *Serving) check() error { return s.Choice.check() }

func (r Ref) check() error {
	if r.Seq < 0 || r.Step < 0 || r.Start < 0 || r.Offset <= r.Start || r.Snapshot == (snapshot.ID{}) {
		return fmt.Errorf("invalid snapshot %v at offset %d, start %d, seq %d, step %d", r.Snapshot, r.Offset, r.Start, r.Seq, r.Step)
	}
	return nil
}

func (g *Gate) check() error {
	if g == nil {
		return nil
	}
	finite := !math.IsNaN(g.Loss-g.Served) && !math.IsInf(g.Loss, 0) && !math.IsInf(g.Served, 0)
	if len(g.Metric) > 64 || g.Rows < 1 || !finite || !(g.WorseThan >= 0) || math.IsInf(g.WorseThan, 0) {
		return fmt.Errorf("gate over %d rows of %.70q: %v and %v, worse than %v", g.Rows, g.Metric, g.Loss, g.Served, g.WorseThan)
	}
	return g.Champion.check()
}

// Serves returns the snapshot that scorers serve, and how it was chosen. ok is false if the
// fold has not seen a snapshot.
func (f *Fold) Serves() (c Choice, ok bool) {
	l := f.get()
	switch {
	case l.choice != nil:
		return *l.choice, true
	case l.champion != nil:
		return Choice{Mode: Follow, Snapshot: *l.champion, Reason: l.promoted.Reason, By: l.promoted.By}, true
	}
	return Choice{Mode: Follow}, false
}

// serve decides about a SERVING.
func (l *ledger) serve(offset int64, s *Serving) (void string) {
	ref := s.Snapshot
	at := slices.IndexFunc(l.kept, func(k Stored) bool { return k.Offset == ref.Offset })
	switch {
	case ref.Offset >= offset || ref.Seq > l.seq:
		return fmt.Sprintf("snapshot %v at offset %d, seq %d is not before it", ref.Snapshot, ref.Offset, ref.Seq)
	case at >= 0 && RefTo(l.kept[at].Manifest, ref.Offset) != ref, at < 0 && len(l.kept) > 0 && ref.Offset > l.kept[0].Offset:
		return fmt.Sprintf("there is no snapshot %v at offset %d", ref.Snapshot, ref.Offset)
	}
	if s.Mode == Follow {
		l.choice, l.champion, l.promoted = nil, &ref, s.Choice
		return ""
	}
	l.choice = &s.Choice
	return ""
}

// crown makes the snapshot of m the champion if it passes the gate.
func (l *ledger) crown(m *Manifest, offset int64) {
	switch {
	case m.Gate == nil || m.Gate.Passed:
		ref := RefTo(m, offset)
		l.champion, l.promoted = &ref, Choice{}
	case l.champion == nil: // the fold began after the record that made it champion
		l.champion = &m.Gate.Champion
	}
}

// dethrone drops the choice and the champion if their snapshots are after seq.
func (l *ledger) dethrone(seq int64) {
	if l.choice != nil && l.choice.Snapshot.Seq > seq {
		l.choice = nil
	}
	if l.champion == nil || l.champion.Seq <= seq {
		return
	}
	l.champion, l.promoted = nil, Choice{}
	for _, k := range l.kept {
		l.crown(k.Manifest, k.Offset)
	}
	if l.champion != nil && l.champion.Seq > seq {
		l.champion = nil
	}
}

// needed returns the offset from which on the log is needed to load the served snapshot.
func (l *ledger) needed() int64 {
	need := int64(math.MaxInt64)
	if l.choice != nil {
		need = l.choice.Snapshot.Start
	}
	if l.champion != nil {
		need = min(need, l.champion.Start)
	}
	return need
}
