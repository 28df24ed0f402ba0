package pipeline

import (
	"errors"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// ErrPoisoned means that too much of the input is bad while Config.ToEnd is set, so
// that Run does not wait for a RESUME.
var ErrPoisoned = errors.New("too much of the input is invalid")

// budget limits the bad input that is accepted before the learner pauses: budgetWindow/2 of the
// last budgetWindow records. It protects the model when a producer changes its schema.
//
// The budget affects when records are learned, but not what is learned. It is therefore not
// restored exactly: after a restart it begins with the records after the snapshot. Its decisions
// are in the model log as PAUSEs.
type budget struct {
	bad  [budgetWindow]bool
	n    int // records seen, at most budgetWindow
	at   int // index of the oldest of them
	sum  int // number of bad ones
	last error
}

const budgetWindow = 1000 // records

// spend adds the records of a BATCH and reports whether the budget is exceeded.
func (b *budget) spend(items []history.Item) (over bool) {
	for _, it := range items {
		if b.bad[b.at] {
			b.sum--
		}
		b.bad[b.at] = it.Err != nil
		if it.Err != nil {
			b.sum++
			b.last = it.Err
		}
		b.at = (b.at + 1) % budgetWindow
		b.n = min(b.n+1, budgetWindow)
		over = over || b.sum > budgetWindow/2
	}
	return over
}

// pause returns the PAUSE for the model log when the budget is spent, and resets the
// budget.
func (b *budget) pause(seq int64, o modellog.Owner) *modellog.Pause {
	p := &modellog.Pause{Owner: o, Seq: seq, Bad: int64(b.sum), Of: int64(b.n), Reason: record.Reason(b.last)}
	*b = budget{}
	return p
}
