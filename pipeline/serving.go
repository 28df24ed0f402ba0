package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Serve writes a SERVING to the model log: what scorers serve from here on. choose returns
// it, given what they serve now and the newest snapshot; ok is false if there is none. It
// returns what was served before.
func Serve(ctx context.Context, c Config, choose func(now modellog.Choice, newest modellog.Ref, ok bool) (modellog.Choice, error)) (was, is modellog.Choice, err error) {
	j, err := openJournal(ctx, c, 1)
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return was, is, noLog(c.Model)
	}
	if err != nil {
		return was, is, err
	}
	for {
		var newest modellog.Ref
		var ok bool
		if was, ok = j.log.Fold.Serves(); ok {
			s := j.log.Fold.Snapshots()[0]
			newest = modellog.RefTo(s.Manifest, s.Offset)
		}
		if is, err = choose(was, newest, ok); err != nil {
			return was, is, err
		}
		is.By = host()
		// A claim in between makes the record void. It is then repeated under that claim.
		owner := j.log.Fold.Claim().Owner
		if err := j.write(ctx, &modellog.Serving{Owner: owner, Choice: is}); err != nil {
			return was, is, err
		}
		if now, _ := j.log.Fold.Serves(); now == is {
			return was, is, nil
		}
		if j.log.Fold.Claim().Owner == owner {
			return was, is, fmt.Errorf("%w: the model log does not accept snapshot %v of step %d", snapshot.ErrMismatch, is.Snapshot.Snapshot, is.Snapshot.Step)
		}
	}
}
