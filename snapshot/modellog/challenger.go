package modellog

import (
	"fmt"
	"math"
)

// Challenger completes a snapshot that is not the state of the learner itself. It is a model that
// was solved for with the same random features, to be compared with the served model. It does not
// affect what is learned, and no learner recovers from it: its file has a serving part and no
// resuming arrays.
type Challenger struct {
	Manifest       // describes its chunks; Previous is the offset of the previous CHALLENGER
	Refit    Refit `json:"refit"`
}

// Refit describes how a challenger was computed and the bounds that were proved.
type Refit struct {
	Rows      int64   `json:"rows"`     // number of last records learned up to Seq
	FromSeq   int64   `json:"from_seq"` // seq of the BATCH that has the first of these records
	Loss      string  `json:"loss"`
	Lambda    float64 `json:"lambda"` // weight of ‖f‖²/2 relative to the mean loss
	Tolerance float64 `json:"asked"`  // required relative gap

	// Prune is the penalty that removes random features, as a share of the smallest one that
	// removes all of them. Kept is the number of Features that are left. Without pruning all three
	// are 0.
	Prune    float64 `json:"prune,omitempty"`
	Features int     `json:"features,omitempty"`
	Kept     int     `json:"kept,omitempty"`

	Relative float64 `json:"relative_gap"` // Gap relative to the objective of the zero model
	Gap      float64 `json:"gap"`          // upper bound on the objective minus the optimum
	Bound    float64 `json:"bound"`        // upper bound on the difference of a score from that of the optimal model
	Passes   float64 `json:"passes"`

	// Suboptimality is an upper bound on the objective of the model of the learner, with its own
	// loss, minus the optimum; nil if it is unknown.
	Suboptimality *float64 `json:"suboptimality"`
}

func (*Challenger) Type() string { return "challenger" }

func (c *Challenger) String() string {
	s := fmt.Sprintf("snapshot %v at seq %d, step %d: %d bytes in %d chunks, state %.16s; refit on %d rows, within %.3g of the optimum",
		c.Snapshot, c.Seq, c.Step, c.Size, c.Chunks, c.StateHash, c.Refit.Rows, c.Refit.Gap)
	if c.Refit.Suboptimality != nil {
		s += fmt.Sprintf(", the learner within %.3g", *c.Refit.Suboptimality)
	}
	if c.Refit.Prune > 0 {
		s += fmt.Sprintf(", %d of %d random features kept", c.Refit.Kept, c.Refit.Features)
	}
	if len(c.Signature) > 0 {
		s += ", signed"
	}
	return s
}

func (c *Challenger) check() error {
	if err := c.Manifest.check(); err != nil {
		return err
	}
	r := c.Refit
	if r.Rows < 1 || r.FromSeq < 1 || r.FromSeq > c.Seq || len(r.Loss) > 64 || !(r.Lambda > 0) || !(r.Tolerance > 0) || !(r.Prune >= 0 && r.Prune < 1) || math.IsInf(r.Gap, 0) {
		return fmt.Errorf("refit on %d rows from seq %d, loss %.70q, lambda %v, requested gap %v, prune %v", r.Rows, r.FromSeq, r.Loss, r.Lambda, r.Tolerance, r.Prune)
	}
	return nil
}

// StoredChallenger is a complete challenger in the log.
type StoredChallenger struct {
	Challenger *Challenger `json:"challenger"`
	Offset     int64       `json:"offset"`
	Chunks     []int64     `json:"chunks"`
}

// Challengers returns the complete challengers that the fold remembers, newest
// first. It remembers at most as many challengers as snapshots.
func (f *Fold) Challengers() []StoredChallenger {
	all := f.get().challengers
	out := make([]StoredChallenger, len(all))
	for i, c := range all {
		out[len(all)-1-i] = c
	}
	return out
}

// FinishChallenger is like Finish, for a challenger. Its chunks must be the last chunks of a
// challenger that counted.
func (f *Fold) FinishChallenger(c *Challenger) error {
	l := f.get()
	c.Previous = -1
	if n := len(l.challengers); n > 0 {
		c.Previous = l.challengers[n-1].Offset
	}
	return l.finish(&c.Manifest, l.challenge)
}

// challenged decides about a CHALLENGER, as complete does about a MANIFEST. Decisions before the
// oldest snapshot can no longer be looked up, so challengers of these are not checked.
func (l *ledger) challenged(offset int64, c *Challenger) (void string) {
	p := l.challenge
	if void := p.differs(&c.Manifest); void != "" {
		return void
	}
	if c.Seq > l.seq {
		return fmt.Sprintf("the last seq is %d", l.seq)
	}
	at, ok := l.find(c.Seq)
	if !ok && (c.Seq > l.base.seq || l.base.start.Offset == 0) {
		return fmt.Sprintf("there is no seq %d", c.Seq)
	}
	if ok {
		if void := at.differs(&c.Manifest); void != "" {
			return void
		}
	}
	l.challengers = append(l.challengers, StoredChallenger{c, offset, p.offsets})
	l.challenge = pending{}
	if n := len(l.challengers); n > l.keep {
		l.challengers = l.challengers[n-l.keep:]
	}
	return ""
}
