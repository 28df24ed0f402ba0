package transfer

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Rehearsal is a Destination that writes nothing and only decides which records count.
type Rehearsal struct {
	log *modellog.Fold
	now modellog.Owner
}

func (r *Rehearsal) Fold() *modellog.Fold  { return r.log }
func (r *Rehearsal) Owner() modellog.Owner { return r.now }

func (r *Rehearsal) Claim(v modellog.Versions, first func(modellog.Owner) []modellog.Record) error {
	if r.log == nil {
		r.log = modellog.NewFold(0, math.MaxInt)
	}
	r.now = modellog.Owner{Epoch: r.now.Epoch + 1, Nonce: snapshot.ID{1}}
	rs := []modellog.Record{&modellog.Claim{Owner: r.now, Versions: v}}
	if first != nil {
		rs = append(rs, first(r.now)...)
	}
	return r.Append(nil, rs)
}

func (r *Rehearsal) Append(_ []int64, rs []modellog.Record) error {
	for _, rec := range rs {
		if _, _, err := modellog.Encode(rec); err != nil {
			return fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
		}
		if v := r.log.Judge(r.log.Next(), rec); !v.Counts() {
			return fmt.Errorf("%w: a record of the export would be void: %v", snapshot.ErrMismatch, v)
		}
	}
	return nil
}
