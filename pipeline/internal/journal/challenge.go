package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Challenge writes s, the result of the refit r, to the log: first its chunks, and then the
// CHALLENGER that completes it. It does not interfere with snapshots.
func (j *Journal) Challenge(ctx context.Context, s *snapshot.Snapshot, r modellog.Refit, c model.Config) (event.Refitted, error) {
	file, err := snapshot.Append(nil, s)
	if err != nil {
		return event.Refitted{}, err
	}
	chunks, m, err := modellog.SplitChallenger(file, j.Owner, c.ChunkBytes)
	if err != nil {
		return event.Refitted{}, err
	}
	m.Refit = r
	for wait := new(ingest.Backoff); ; {
		for _, chunk := range chunks {
			if err := j.Append(ctx, chunk); err != nil {
				return event.Refitted{}, err
			}
		}
		err := j.finishChallenger(ctx, m, c)
		if err == nil {
			return event.Refitted{ID: m.Snapshot.String(), Seq: m.Seq, Step: m.Step, Bytes: len(file), StateHash: m.StateHash, Refit: m.Refit}, nil
		}
		if !errors.Is(err, errBroken) {
			return event.Refitted{}, err
		}
		j.report(event.Retrying{Err: err})
		if err := wait.Pause(ctx, err); err != nil {
			return event.Refitted{}, err
		}
	}
}

func (j *Journal) finishChallenger(ctx context.Context, m *modellog.Challenger, c model.Config) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	if j.lost != nil {
		return j.lost
	}
	if at, ok := j.Log.Fold.ChainAt(m.Seq); !ok || at != m.Chain {
		return fmt.Errorf("%w: newer snapshots have replaced seq %d in the meantime", ErrOvertaken, m.Seq)
	}
	if err := j.Log.Fold.FinishChallenger(m); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	if c.SignKey != nil {
		if err := m.Sign(c.SignKey); err != nil {
			return err
		}
	}
	if err := j.appendLocked(ctx, nil, m); err != nil {
		return err
	}
	if newest := j.Log.Fold.Challengers(); len(newest) == 0 || newest[0].Challenger.Snapshot != m.Snapshot {
		return errBroken
	}
	return nil
}

// ErrOvertaken means that a refit took so long that the log no longer reaches back to
// the seq at which it began.
var ErrOvertaken = errors.New("the refit took too long")
