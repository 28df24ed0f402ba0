package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// learnedBefore returns the last n labelled records up to s, as rows, and the seq of
// the BATCH that has the first of them. It returns fewer if the log or the input has
// no more.
func learnedBefore(ctx context.Context, c Config, ins input.Partitions, s *snapshot.Snapshot, n int) (*learner.Batch, int64, error) {
	return readLearned(ctx, c, ins, s, n, c.Learner.Keyed())
}

// readLearned is learnedBefore, with the keys of the records if they are wanted.
func readLearned(ctx context.Context, c Config, ins input.Partitions, s *snapshot.Snapshot, n int, keyed bool) (*learner.Batch, int64, error) {
	batches, err := batchesBefore(ctx, c, s.Seq, s.Chain, n)
	if err != nil {
		return nil, 0, err
	}
	for len(batches) > 0 {
		rows, from, read, err := rowsOf(ctx, c, ins, s, batches, n, keyed)
		var gap *ingest.GapError
		if !errors.As(err, &gap) {
			return rows, from, err
		}
		batches = batches[read+1:] // after what retention has deleted
	}
	return nil, 0, errNoRows
}

// errNoRows means that the rows before a seq cannot be read again: retention has
// deleted the records, or the log was trimmed to just before that seq.
var errNoRows = fmt.Errorf("%w: the input topics have none of the most recently learned records", input.ErrHistory)

// rowsOf returns the last n labelled rows of the batches. With an error, read is the
// number of batches read before it.
func rowsOf(ctx context.Context, c Config, ins input.Partitions, s *snapshot.Snapshot, batches []*modellog.Batch, n int, keyed bool) (rows *learner.Batch, from int64, read int, err error) {
	var schema decode.Schema
	if err := json.Unmarshal(s.Schema, &schema); err != nil {
		return nil, 0, 0, fmt.Errorf("%w: schema: %w", snapshot.ErrCorrupt, err)
	}
	if _, err := c.keepReading(s.Config); err != nil {
		return nil, 0, 0, err
	}
	d, err := history.NewDecider(c.Decode, keyed, &schema)
	if err != nil {
		return nil, 0, 0, err
	}
	replay := history.NewReplayer(c.Client, ins, d, ingest.NewBudget(memoryRead), c.Report)
	defer replay.Close()
	skip := -n // labelled rows before the last n
	for _, b := range batches {
		skip += int(b.Counts.Learned)
	}
	rows = new(learner.Batch)
	for i, b := range batches {
		decided, err := replay.Decide(ctx, b)
		if err != nil {
			return nil, 0, i, err
		}
		for k := range decided.Batch.Len() {
			y := decided.Batch.Label(k)
			if y.Task == learner.Auto {
				continue
			}
			if skip--; skip >= 0 {
				continue
			}
			if rows.Len() == 0 {
				rows.Reset(decided.Batch.Dim())
				from = b.Seq
			}
			rows.Append(decided.Batch.X(k), y, decided.Batch.Weight(k))
			rows.SetKey(decided.Batch.Key(k))
		}
	}
	return rows, from, len(batches), nil
}

// batchesBefore returns the BATCHes up to seq, the oldest first, that have the last n
// learned records. It reads the model log backwards from its end. It finds the records
// that are valid by their chain, in which each BATCH or GAP includes its predecessor.
func batchesBefore(ctx context.Context, c Config, seq int64, chain snapshot.Hash, n int) ([]*modellog.Batch, error) {
	first, end, err := input.Offsets(ctx, c.Client, LogTopic(c.Model), c.Report)
	if err != nil {
		return nil, err
	}
	found := map[int64][]modellog.Record{} // by seq
	to := end[0]
	for back := int64(256); ; back *= 4 {
		from := max(first[0], end[0]-back)
		if err := readDecisions(ctx, c, from, to, found); err != nil {
			return nil, err
		}
		to = from
		batches, rows := follow(found, seq, chain, n)
		if rows >= n || from == first[0] {
			slices.Reverse(batches)
			return batches, nil
		}
	}
}

// follow walks back along the chain from seq until it has n learned records or a
// link is missing, and passes over what was rolled back. It ends at an ADOPT, before
// which the records are in another topic, and at an UPGRADE. It returns the BATCHes on
// the way, the newest first.
func follow(found map[int64][]modellog.Record, seq int64, chain snapshot.Hash, n int) (batches []*modellog.Batch, rows int) {
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
		if chainOf(r) != chain {
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

// chainsBefore returns the chains from which that of r may follow. The seq before that
// of a ROLLBACK may be any lower one.
func chainsBefore(found map[int64][]modellog.Record, r modellog.Record, seq int64) []snapshot.Hash {
	before := []snapshot.Hash{{}} // of the first decision
	add := func(seq int64) {
		for _, r := range found[seq] {
			before = append(before, chainOf(r))
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

func chainOf(r modellog.Record) snapshot.Hash {
	switch r := r.(type) {
	case *modellog.Batch:
		return r.Chain
	case *modellog.Gap:
		return r.Chain
	case *modellog.Rollback:
		return r.Chain
	case *modellog.Adopt:
		return r.Chain
	case *modellog.Upgrade:
		return r.Chain
	}
	panic("pipeline: a " + r.Type() + " has no chain")
}

// readDecisions adds the decisions at the offsets [from, to) to found.
func readDecisions(ctx context.Context, c Config, from, to int64, found map[int64][]modellog.Record) error {
	f := c.Client.Fetcher(LogTopic(c.Model), 0)
	for from < to {
		got, err := input.Poll(ctx, f, from, c.Report)
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
			if seq, ok := seqOf(record); ok {
				found[seq] = append(found[seq], record)
			}
		}
		from = got.Next
	}
	return nil
}
