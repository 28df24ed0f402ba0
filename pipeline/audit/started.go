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
	got, err := restarted(ctx, s, c, have.Start, options)
	if s.Earlier != nil && (err != nil || got != have.Start.StateHash) {
		earlier := *s
		earlier.Rows = s.Earlier
		if before, unread := restarted(ctx, &earlier, c, have.Start, options); unread == nil && before == have.Start.StateHash {
			got, err = before, nil
		}
	}
	if err != nil {
		return err
	}
	v.start(c, got)
	return nil
}

// restarted returns the hash of the state that a model begins with.
func restarted(ctx context.Context, s *model.Start, c model.Config, as *modellog.Start, options []byte) (snapshot.Hash, error) {
	h, _, err := beginning.State(ctx, s, c, options)
	if err != nil {
		return snapshot.Hash{}, err
	}
	again, err := journal.Describe(*as, h)
	if err != nil {
		return snapshot.Hash{}, err
	}
	return again.StateHash, nil
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
