package pipeline

import (
	"errors"

	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// ErrChanged means that the columns of the input have changed while Config.OnChange is
// "stop" and Config.ToEnd is set, so that Run does not wait for a RESUME.
var ErrChanged = errors.New("the columns of the input have changed")

// changed returns a function that makes the PAUSE for a BATCH with which columns have vanished or
// fields have appeared, or nil if none have. Like the budget, it affects when records are learned,
// but not what is learned.
func changed(d *history.Decided) func(seq int64, o modellog.Owner) *modellog.Pause {
	c := d.Journaled()
	if c == nil || len(c.Gone)+len(c.New) == 0 {
		return nil
	}
	return func(seq int64, o modellog.Owner) *modellog.Pause {
		return &modellog.Pause{Owner: o, Seq: seq, Columns: &modellog.Columns{Gone: c.Gone, New: c.New}}
	}
}
