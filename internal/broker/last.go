package broker

import "github.com/twmb/franz-go/pkg/kmsg"

// keepLast makes a DeleteRecords request that would empty a partition keep its
// last record. kfake derives the end of a partition from the batches on disk:
// after a kill -9 an empty partition would begin at 0 again, and readers with a
// higher offset would take it for another topic.
func (b *Broker) keepLast(r kmsg.Request) (kmsg.Response, error, bool) {
	for _, t := range r.(*kmsg.DeleteRecordsRequest).Topics {
		for i := range t.Partitions {
			p := &t.Partitions[i]
			has := b.cluster.PartitionInfo(t.Topic, p.Partition)
			if has != nil && has.LogStartOffset < has.HighWatermark && (p.Offset == -1 || p.Offset == has.HighWatermark) {
				p.Offset = has.HighWatermark - 1
			}
		}
	}
	return nil, nil, false
}
