package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// broken is what a follower remembers about a log that has turned out to be damaged,
// truncated or replaced.
type broken struct {
	err   error
	id    [16]byte // of the topic
	seq   int64    // last sequence number read before
	chain snapshot.Hash
	end   int64 // end offset of the log when it was last found broken
}

// breaks records the last known state of the log if err is kafkalog.ErrLog. It
// returns err.
func (f *Follower) breaks(err error) error {
	if !errors.Is(err, kafkalog.ErrLog) {
		return err
	}
	if f.broken == nil {
		f.broken = &broken{end: -1}
		if f.log != nil {
			f.broken.id, f.broken.seq, f.broken.chain = f.log.ID(), f.log.Fold.Seq(), f.log.Fold.Chain()
		}
	}
	f.broken.err, f.log = err, nil
	return err
}

func (f *Follower) whole() {
	if f.broken != nil && f.Repaired != nil {
		f.Repaired()
	}
	f.broken = nil
}

// mended returns an error unless the log again contains the records that were read
// before it broke, or a record that rolls them back. A new topic under the same name
// is accepted as another log, created on purpose.
func (b *broken) mended(ctx context.Context, log *kafkalog.Log) error {
	if b.seq == 0 || log.ID() != b.id {
		return nil
	}
	first, end, err := log.Bounds(ctx)
	if err != nil {
		return err
	}
	if end == b.end {
		return b.err
	}
	found := false
	log.Rewind(first)
	err = log.ReadOn(ctx, func(_ *ingest.Record, v modellog.Verdict) {
		found = found || v.Void == "" && b.settles(v.Record)
	})
	if err != nil {
		return err
	}
	if !found {
		b.end = end
		return fmt.Errorf("%w: the records read before, up to seq %d, are no longer in it", b.err, b.seq)
	}
	return nil
}

// settles reports whether r proves that the log continues the records that were read.
func (b *broken) settles(r modellog.Record) bool {
	if r, ok := r.(*modellog.Rollback); ok && r.ToSeq < b.seq && b.seq < r.Seq {
		return true
	}
	seq, chain, ok := modellog.Decided(r)
	return ok && seq == b.seq && chain == b.chain
}
