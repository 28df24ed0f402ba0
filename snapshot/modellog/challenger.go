package modellog

import (
	"fmt"
	"math"
)

// Challenger completes a snapshot that is not the learner's own state: a model
// that was solved for on the same features, for a gate to compare with what is
// served. It changes nothing of what is learned, and no learner recovers from
// it: its file has a serving part, and resuming arrays none.
type Challenger struct {
	Manifest       // of its chunks; Previous is of the CHALLENGER before
	Refit    Refit `json:"refit"`
}

// Refit is how a challenger was made, and what is certain of it.
type Refit struct {
	Rows    int64   `json:"rows"`     // the last ones learned up to Seq
	FromSeq int64   `json:"from_seq"` // BATCH of the first of them
	Loss    string  `json:"loss"`
	Lambda  float64 `json:"lambda"` // weight of ‖f‖²/2 beside the mean loss
	Asked   float64 `json:"asked"`  // relative gap to reach

	Relative float64 `json:"relative_gap"` // Gap over the objective of the model 0
	Gap      float64 `json:"gap"`          // that the objective is above the optimum, at most
	Bound    float64 `json:"bound"`        // that an output differs from the optimal model's, at most
	Passes   float64 `json:"passes"`

	// Suboptimality is what the objective of the learner's own model, with its own
	// loss, was above the optimum, at most; nil where nothing is known of it.
	Suboptimality *float64 `json:"suboptimality"`
}

func (*Challenger) Type() string { return "challenger" }

func (c *Challenger) String() string {
	s := fmt.Sprintf("snapshot %v at seq %d, step %d: %d bytes in %d chunks, state %.16s; of %d rows, within %.3g of the optimum",
		c.Snapshot, c.Seq, c.Step, c.Size, c.Chunks, c.StateHash, c.Refit.Rows, c.Refit.Gap)
	if c.Refit.Suboptimality != nil {
		s += fmt.Sprintf(", the learner within %.3g", *c.Refit.Suboptimality)
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
	if r.Rows < 1 || r.FromSeq < 1 || r.FromSeq > c.Seq || len(r.Loss) > 64 || !(r.Lambda > 0) || !(r.Asked > 0) || math.IsInf(r.Gap, 0) {
		return fmt.Errorf("refit to %d rows from seq %d, loss %.70q, lambda %v, gap asked %v", r.Rows, r.FromSeq, r.Loss, r.Lambda, r.Asked)
	}
	return nil
}

// StoredChallenger is a complete challenger in the log.
type StoredChallenger struct {
	Challenger *Challenger `json:"challenger"`
	Offset     int64       `json:"offset"`
	Chunks     []int64     `json:"chunks"`
}

// Challengers are the complete challengers that the fold remembers, as many as
// snapshots at most, the newest first.
func (f *Fold) Challengers() []StoredChallenger {
	all := f.get().challengers
	out := make([]StoredChallenger, len(all))
	for i, c := range all {
		out[len(all)-1-i] = c
	}
	return out
}

// FinishChallenger is Finish for a challenger, whose chunks must be the last ones
// of a challenger that counted.
func (f *Fold) FinishChallenger(c *Challenger) error {
	l := f.get()
	c.Previous = -1
	if n := len(l.challengers); n > 0 {
		c.Previous = l.challengers[n-1].Offset
	}
	return l.finish(&c.Manifest, l.challenge)
}

// challenged is what complete is for a MANIFEST. What stands before the oldest
// snapshot cannot be looked up any more, and does not matter.
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
