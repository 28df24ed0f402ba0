package history

import (
	"iter"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// inOrder returns the records of a BATCH in the order in which they are decided: one span after the
// other, or by their times. Records of one span stay in their order. If the next records of several
// spans have the same time, that of the first span comes first. The order follows from the spans
// alone, so that a replay has the same one.
func inOrder(spans []input.Span, byTime bool) iter.Seq2[*input.Partition, *ingest.Record] {
	if !byTime {
		return func(yield func(*input.Partition, *ingest.Record) bool) {
			for _, sp := range spans {
				for i := range sp.Records {
					if !yield(sp.In, &sp.Records[i]) {
						return
					}
				}
			}
		}
	}
	return func(yield func(*input.Partition, *ingest.Record) bool) {
		taken := make([]int, len(spans))
		for {
			next := -1
			for k, sp := range spans {
				if taken[k] < len(sp.Records) && (next < 0 || sp.Records[taken[k]].Time < spans[next].Records[taken[next]].Time) {
					next = k
				}
			}
			if next < 0 || !yield(spans[next].In, &spans[next].Records[taken[next]]) {
				return
			}
			taken[next]++
		}
	}
}

// cover adds the range of a span, with the digest and the fingerprint of its records.
func (d *Decided) cover(sp input.Span) {
	digest, fingerprint := xxhash.New(), uint64(0)
	for i := range sp.Records {
		input.HashRecord(digest, &sp.Records[i])
	}
	if n := len(sp.Records); n > 0 {
		fingerprint = input.Fingerprint(&sp.Records[n-1])
	}
	d.Counts.Skipped += sp.To - sp.From - int64(len(sp.Records))
	d.fingerprints = append(d.fingerprints, fingerprint)
	d.Ranges = append(d.Ranges, modellog.Range{
		Topic: sp.In.Topic, TopicID: sp.In.ID, Partition: sp.In.Partition,
		From: sp.From, To: sp.To, Records: int64(len(sp.Records)), Digest: digest.Sum64(),
	})
}
