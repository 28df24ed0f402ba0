package admin

import (
	"context"

	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Resume writes a RESUME to the model log if a PAUSE is in effect, so that a paused
// learner continues, or does not pause when it starts. It returns the pause that was
// in effect; nil if there was none.
func Resume(ctx context.Context, c model.Config) (*modellog.Pause, error) {
	c = c.Quiet()
	j, err := journal.Open(ctx, c, 1)
	if err != nil {
		return nil, err
	}
	if err := j.Trusted(c); err != nil {
		return nil, err
	}
	was := j.Log.Fold.Paused()
	for {
		p := j.Log.Fold.Paused()
		if p == nil {
			return was, nil
		}
		// A claim in between makes the RESUME void. It is then repeated under that claim.
		if err := j.Write(ctx, &modellog.Resume{Owner: j.Log.Fold.Claim().Owner, Seq: p.Seq, By: journal.Host()}); err != nil {
			return nil, err
		}
	}
}
