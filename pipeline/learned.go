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
	batches, err := batchesBefore(ctx, c, s.Seq, s.Chain, n)
	if err != nil {
		return nil, 0, err
	}
	for len(batches) > 0 {
		rows, from, read, err := rowsOf(ctx, c, ins, s, batches, n)
		var gap *ingest.GapError
		if !errors.As(err, &gap) {
			return rows, from, err
		}
		batches = batches[read+1:] // after what retention has deleted
	}
	return nil, 0, fmt.Errorf("%w: the input topics have none of the most recently learned records", input.ErrHistory)
}

// rowsOf returns the last n labelled rows of the batches. With an error, read is the
// number of batches read before it.
func rowsOf(ctx context.Context, c Config, ins input.Partitions, s *snapshot.Snapshot, batches []*modellog.Batch, n int) (rows *learner.Batch, from int64, read int, err error) {
	var schema decode.Schema
	if err := json.Unmarshal(s.Schema, &schema); err != nil {
		return nil, 0, 0, fmt.Errorf("%w: schema: %w", snapshot.ErrCorrupt, err)
	}
	if _, err := c.keepReading(s.Config); err != nil {
		return nil, 0, 0, err
	}
	d, err := history.NewDecider(c.Decode, c.Learner.Keyed(), &schema)
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
	first, end, err := c.Client.Offsets(ctx, LogTopic(c.Model))
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
// link is missing. It returns the BATCHes on the way, the newest first.
func follow(found map[int64][]modellog.Record, seq int64, chain snapshot.Hash, n int) (batches []*modellog.Batch, rows int) {
	for ; seq > 0 && rows < n; seq-- {
		var at modellog.Record
		before := []snapshot.Hash{{}} // the predecessor of the first
		if seq > 1 {
			before = before[:0]
			for _, r := range found[seq-1] {
				before = append(before, chainOf(r))
			}
		}
		for _, r := range found[seq] {
			if i := slices.IndexFunc(before, func(h snapshot.Hash) bool { return chainOf(r) == chain && modellog.NextChain(h, r) == chain }); i >= 0 {
				at, chain = r, before[i]
				break
			}
		}
		if at == nil {
			break
		}
		if b, ok := at.(*modellog.Batch); ok {
			batches = append(batches, b)
			rows += int(b.Counts.Learned)
		}
	}
	return batches, rows
}

func chainOf(r modellog.Record) snapshot.Hash {
	switch r := r.(type) {
	case *modellog.Batch:
		return r.Chain
	case *modellog.Gap:
		return r.Chain
	}
	panic("pipeline: a " + r.Type() + " has no chain")
}

// readDecisions adds the BATCHes and GAPs at the offsets [from, to) to found.
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
			if r.Offset >= to || string(r.Key) != "batch" && string(r.Key) != "gap" {
				continue
			}
			record, err := modellog.Parse(r.Key, r.Value)
			switch record := record.(type) {
			case *modellog.Batch:
				found[record.Seq] = append(found[record.Seq], record)
			case *modellog.Gap:
				found[record.Seq] = append(found[record.Seq], record)
			}
			if errors.Is(err, snapshot.ErrTooNew) {
				return err
			}
		}
		from = got.Next
	}
	return nil
}
