package history

import (
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
)

// Without decides the records of b again, without those that drop selects. It returns the
// number of these.
func (d *Decider) Without(b *Decided, drop func(topic string, partition int32, r *ingest.Record) bool) (*Decided, int64) {
	spans := make([]input.Span, 0, len(b.Ranges))
	items, dropped := b.Items, int64(0)
	for _, r := range b.Ranges {
		s := input.Span{In: &input.Partition{Topic: r.Topic, ID: r.TopicID, Partition: r.Partition}, From: r.From, To: r.To}
		for _, it := range items[:r.Records] {
			if drop(r.Topic, r.Partition, it.Record) {
				dropped++
				continue
			}
			s.Records = append(s.Records, *it.Record)
		}
		items = items[r.Records:]
		spans = append(spans, s)
	}
	d.tables.Apply(b.Tables) // as those of b were applied
	d.changed = b.Tables
	return d.Decide(spans), dropped
}
