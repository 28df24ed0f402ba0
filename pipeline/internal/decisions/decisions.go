// Package decisions reads the decisions of a model log backwards from its end, without folding the
// log. A refit needs this, and it reaches back only a few BATCHes.
package decisions

import (
	"context"
	"errors"
	"slices"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Log is a model log to read.
type Log struct {
	Client *ingest.Client
	Topic  string
	Report func(event.Event)
}

// Before returns the BATCHes up to seq, the oldest first, that have the last n learned records. It
// reads the model log backwards from its end. The chain shows which records are valid, because the
// chain of each decision includes its predecessor.
func (l *Log) Before(ctx context.Context, seq int64, chain snapshot.Hash, n int) ([]*modellog.Batch, error) {
	first, end, err := input.Offsets(ctx, l.Client, l.Topic, l.Report)
	if err != nil {
		return nil, err
	}
	found := map[int64][]modellog.Record{} // by seq
	to := end[0]
	for back := int64(256); ; back *= 4 {
		from := max(first[0], end[0]-back)
		if err := l.Read(ctx, from, to, found); err != nil {
			return nil, err
		}
		to = from
		batches, rows := Follow(found, seq, chain, n)
		if rows >= n || from == first[0] {
			slices.Reverse(batches)
			return batches, nil
		}
	}
}

// Follow walks back along the chain from seq until it has n learned records or a link is missing.
// It skips decisions that were rolled back. It ends at an ADOPT, because the records before it are
// in another topic, and at an UPGRADE. It returns the BATCHes on the way, the newest first.
func Follow(found map[int64][]modellog.Record, seq int64, chain snapshot.Hash, n int) (batches []*modellog.Batch, rows int) {
	for seq > 0 && rows < n {
		r, before := decided(found, seq, chain)
		seq--
		switch r := r.(type) {
		case *modellog.Batch:
			batches = append(batches, r)
			rows += int(r.Counts.Learned)
		case *modellog.Gap:
		case *modellog.Rollback:
			seq, before = r.ToSeq, r.ToChain
		default:
			return batches, rows
		}
		chain = before
	}
	return batches, rows
}

// decided returns the decision with a seq and a chain, and the chain before it. It
// returns nil if the decision or its predecessor was not found.
func decided(found map[int64][]modellog.Record, seq int64, chain snapshot.Hash) (modellog.Record, snapshot.Hash) {
	for _, r := range found[seq] {
		if _, of, _ := modellog.Decided(r); of != chain {
			continue
		}
		for _, before := range chainsBefore(found, r, seq) {
			if modellog.NextChain(before, r) == chain {
				return r, before
			}
		}
	}
	return nil, snapshot.Hash{}
}

// chainsBefore returns the chains that may precede r, whose seq is given. The seq before a ROLLBACK
// may be any lower one.
func chainsBefore(found map[int64][]modellog.Record, r modellog.Record, seq int64) []snapshot.Hash {
	before := []snapshot.Hash{{}} // chain before the first decision
	add := func(seq int64) {
		for _, r := range found[seq] {
			_, chain, _ := modellog.Decided(r)
			before = append(before, chain)
		}
	}
	if add(seq - 1); r.Type() == "rollback" {
		for s := range found {
			if s < seq-1 {
				add(s)
			}
		}
	}
	return before
}

// Read adds the decisions at the offsets [from, to) to found.
func (l *Log) Read(ctx context.Context, from, to int64, found map[int64][]modellog.Record) error {
	f := l.Client.Fetcher(l.Topic, 0)
	for from < to {
		got, err := input.Poll(ctx, f, from, l.Report)
		var gap *ingest.GapError
		if errors.As(err, &gap) { // the owner has deleted old history in the meantime
			from = gap.LogStart
			continue
		}
		if err != nil {
			return err
		}
		for _, r := range got.Records {
			if r.Offset >= to || string(r.Key) == "chunk" {
				continue
			}
			record, err := modellog.Parse(r.Key, r.Value)
			if errors.Is(err, snapshot.ErrTooNew) {
				return err
			}
			if err != nil {
				continue
			}
			if seq, _, ok := modellog.Decided(record); ok {
				found[seq] = append(found[seq], record)
			}
		}
		from = got.Next
	}
	return nil
}
