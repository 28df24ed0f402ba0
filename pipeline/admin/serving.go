package admin

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Serve writes a SERVING to the model log, which determines what scorers serve from then on. choose
// returns the new choice, given the present one and the newest snapshot; ok is false if there is no
// snapshot. Serve returns the choices before and after.
func Serve(ctx context.Context, c model.Config, choose func(now modellog.Choice, newest modellog.Ref, ok bool) (modellog.Choice, error)) (was, is modellog.Choice, err error) {
	c = c.Quiet()
	j, err := journal.Open(ctx, c, 1)
	if err != nil {
		return was, is, err
	}
	if err := j.Trusted(c); err != nil {
		return was, is, err
	}
	for {
		var newest modellog.Ref
		var ok bool
		if was, ok = j.Log.Fold.Serves(); ok {
			s := j.Log.Fold.Snapshots()[0]
			newest = modellog.RefTo(s.Manifest, s.Offset)
		}
		if is, err = choose(was, newest, ok); err != nil {
			return was, is, err
		}
		is.By = journal.Host()
		// A claim in between makes the record void. It is then repeated under that claim.
		owner := j.Log.Fold.Claim().Owner
		if err := j.Write(ctx, &modellog.Serving{Owner: owner, Choice: is}); err != nil {
			return was, is, err
		}
		if now, _ := j.Log.Fold.Serves(); now == is {
			return was, is, nil
		}
		if j.Log.Fold.Claim().Owner == owner {
			return was, is, fmt.Errorf("%w: the model log does not accept snapshot %v of step %d", snapshot.ErrMismatch, is.Snapshot.Snapshot, is.Snapshot.Step)
		}
	}
}
