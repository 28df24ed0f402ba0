package audit

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/pipeline/internal/beginning"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Started describes how a model began, and whether that was verified.
type Started struct {
	*modellog.Start
	Seq      int64 `json:"begun_seq"` // seq of the snapshot that the history continues from
	Verified bool  `json:"verified"`  // the state was computed again
}

// began computes the state with which the model began again, if its source is known, and compares
// it with the one in GENESIS.
func (v *Verification) began(ctx context.Context, c model.Config, f *modellog.Fold, options []byte) error {
	have := f.Genesis()
	if have.Start == nil {
		if c.Start != nil && c.Start.Kind() != modellog.StartEmpty {
			return fmt.Errorf("%w: the model log began with the empty state, not with %s", model.ErrStart, c.Start.Name)
		}
		return nil
	}
	v.Start = &Started{Start: have.Start, Seq: have.Seq}
	s := c.Start
	if s == nil && have.Start.Kind == modellog.StartEmpty {
		s = new(model.Start)
	}
	if s == nil && have.Start.Kind == modellog.StartRebuild {
		got, known, err := rebuiltAs(ctx, c, have.Start)
		if known {
			v.start(c, got)
		}
		return err
	}
	if s == nil {
		return nil
	}
	if !s.Is(have.Start) {
		return fmt.Errorf("%w: the model log began with %v, not with %s", model.ErrStart, have.Start, s.Name)
	}
	h, _, err := beginning.State(ctx, s, c, options)
	if err != nil {
		return err
	}
	again, err := journal.Describe(*have.Start, h)
	if err != nil {
		return err
	}
	v.start(c, again.StateHash)
	return nil
}

// start compares the state got with the one that the model began with.
func (v *Verification) start(c model.Config, got snapshot.Hash) {
	s := v.Start
	v.Compared++
	s.Verified = got == s.StateHash
	if !s.Verified {
		v.Divergent++
		c.Report(Divergence{Seq: s.Seq, Step: s.Step, Want: s.StateHash, Got: got})
	}
}
