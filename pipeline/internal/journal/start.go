package journal

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Describe returns s completed for a model that starts with the state h: with its step and its
// state hash.
func Describe(s modellog.Start, h *history.History) (*modellog.Start, error) {
	frozen, err := h.Freeze(0)
	if err != nil {
		return nil, err
	}
	s.Step, s.StateHash = h.Step(), snapshot.StateHash(frozen.Schema, frozen.State)
	return &s, nil
}

// Start claims the log and writes the GENESIS of a model that begins with h, then the snapshot of
// h, and then the IMPORTED that completes the beginning. It continues a start that was interrupted.
func (j *Journal) Start(ctx context.Context, c model.Config, options []byte, h *history.History, how *modellog.Start) error {
	if err := j.Trusted(c); err != nil {
		return err
	}
	before, err := j.Outlived(ctx, c)
	if err != nil {
		return err
	}
	f := j.Log.Fold
	seq, chain := before+1, how.Hash()
	if f.Claim().Epoch > 0 { // an interrupted start
		g := f.Genesis()
		how, seq, chain = g.Start, g.Seq, f.Chain()
		j.starting = true
	}
	h.Begin(c.Model, options, seq, chain, how.Positions)
	err = j.Claim(ctx, c.Versions(), func(o modellog.Owner) []modellog.Record {
		if j.Log.Fold.Claim().Epoch > 0 {
			return nil
		}
		return []modellog.Record{
			&modellog.Genesis{Owner: o, Model: c.Model, TopicID: j.Log.ID(), Seq: seq, Chain: chain, Import: seq, Start: how, Versions: c.Versions(), Writer: j.writer},
			&modellog.Config{Owner: o, Hash: sha256.Sum256(options), Config: options},
		}
	})
	if err != nil {
		return err
	}
	g := j.Log.Fold.Genesis()
	if g.Start == nil || g.Import != seq || j.Log.Fold.Chain() != chain {
		return fmt.Errorf("%w: another process has written to %q in the meantime", model.ErrStart, j.Topic)
	}
	frozen, err := h.Freeze(j.Owner.Epoch)
	if err != nil {
		return err
	}
	if got := snapshot.StateHash(frozen.Schema, frozen.State); got != how.StateHash {
		return fmt.Errorf("%w: %v leads to state %v now, but was recorded with state %v: delete the topic %q to begin again", model.ErrStart, how, got, how.StateHash, j.Topic)
	}
	if err := j.seal(ctx, c, frozen); err != nil {
		return err
	}
	c.Report(event.Began{Start: how, Examples: h.Progress().Examples})
	return nil
}

// seal writes the snapshot with which a model begins, and the IMPORTED that completes it.
func (j *Journal) seal(ctx context.Context, c model.Config, s *snapshot.Snapshot) error {
	file, err := snapshot.Append(nil, s)
	if err != nil {
		return err
	}
	chunks, m, err := modellog.Split(file, j.Owner, c.ChunkBytes)
	if err != nil {
		return err
	}
	for _, chunk := range chunks {
		if err := j.Append(ctx, chunk); err != nil {
			return err
		}
	}
	if err := j.finish(ctx, m); err != nil {
		return err
	}
	return j.Append(ctx, &modellog.Imported{Owner: j.Owner, Seq: s.Seq, Chain: s.Chain})
}
