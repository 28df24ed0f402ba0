package input

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot"
)

// Seek sets every input to the position of the history, after verifying that it is the partition
// that was learned from. An input without a position in the history begins at its first record.
func (ins Partitions) Seek(ctx context.Context, c *ingest.Client, reached []snapshot.Position, report func(event.Event)) error {
	if err := ins.Include(reached); err != nil {
		return err
	}
	known := map[*Partition]snapshot.Position{}
	for _, p := range reached {
		in := ins.Find(p.Topic, p.Partition)
		if !ingest.SameTopic(in.ID, p.TopicID) && !planted.Fault("recreated") {
			return Recreated(p.Topic)
		}
		known[in] = p
	}
	var first, end []int64
	for i, in := range ins {
		if i == 0 || in.Topic != ins[i-1].Topic {
			var err error
			if first, end, err = Offsets(ctx, c, in.Topic, report); err != nil {
				return err
			}
		}
		if int(in.Partition) >= len(first) { // Kafka removes no partitions of a topic
			return Recreated(in.Topic)
		}
		p, ok := known[in]
		if !ok {
			in.Next = first[in.Partition]
			continue
		}
		in.Next = p.Next
		if planted.Fault("seek") {
			in.Next++
		}
		switch {
		case p.Next > end[in.Partition]:
			if _, err := newWitness(c, in, nil, report).poll(ctx, p.Next); err != nil {
				return err
			}
		case p.Next > first[in.Partition]:
			if err := in.Recognise(ctx, c, p, first[in.Partition], report); err != nil {
				return err
			}
		}
	}
	return nil
}

// Include returns an error unless all of these positions are in one of the partitions.
func (ins Partitions) Include(reached []snapshot.Position) error {
	for _, p := range reached {
		if ins.Find(p.Topic, p.Partition) == nil {
			return fmt.Errorf("%w: the model has learned from %s/%d up to offset %d, but this partition is not among its inputs: add the topic to input.topics again, name the topic that replaces it (accrete adopt --topic %s=NEW), or start a new model under another name", ErrHistory, p.Topic, p.Partition, p.Next, p.Topic)
		}
	}
	return nil
}

// Recognise compares the last record before the position p with the record that was decided last,
// by their fingerprints. It accepts the partition if that record was deleted.
func (in *Partition) Recognise(ctx context.Context, c *ingest.Client, p snapshot.Position, first int64, report func(event.Event)) error {
	if p.Fingerprint == 0 || planted.Fault("fingerprint") { // after a GAP
		return nil
	}
	for back := int64(2); ; back *= 8 { // there may be control records of transactions in between
		from := max(first, p.Next-back)
		r := NewCursor(c.Fetcher(in.Topic, int(in.Partition)))
		records, err := r.Take(ctx, from, p.Next, report)
		var gap *ingest.GapError
		if errors.As(err, &gap) {
			return nil // deleted in the meantime
		}
		if err != nil {
			return err
		}
		if n := len(records); n > 0 {
			last := &records[n-1]
			if Fingerprint(last) != p.Fingerprint {
				return replaced(in, last.Offset)
			}
			in.mark = lastRead{next: p.Next, epoch: -1, offset: last.Offset, fingerprint: p.Fingerprint}
			return nil
		}
		if from == first {
			return nil
		}
	}
}
