package history

import (
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
)

// Without decides the records of b again, except those that drop selects. It also returns the
// number of dropped records.
func (d *Decider) Without(b *Decided, drop func(topic string, partition int32, r *ingest.Record) bool) (*Decided, int64) {
	spans := make([]input.Span, 0, len(b.Ranges))
	dropped := int64(0)
	for _, r := range b.Ranges {
		s := input.Span{In: &input.Partition{Topic: r.Topic, ID: r.TopicID, Partition: r.Partition}, From: r.From, To: r.To}
		for _, it := range b.Items {
			if it.in.Partition != r.Partition || it.in.Topic != r.Topic || it.Record.Offset < r.From || it.Record.Offset >= r.To {
				continue
			}
			if drop(r.Topic, r.Partition, it.Record) {
				dropped++
				continue
			}
			s.Records = append(s.Records, *it.Record)
		}
		spans = append(spans, s)
	}
	d.tables.Apply(b.Tables) // as those of b were applied
	d.changed = b.Tables
	d.renamed(b.Renames)
	return d.Decide(spans), dropped
}
