package broker

import "github.com/twmb/franz-go/pkg/kmsg"

// keepLast has a DeleteRecords that would empty a partition leave its last
// record. kfake knows where a partition ends by the batches that it finds on
// disk: after a kill -9 an empty one would begin at 0 again, and readers that
// have been further would take it for another topic.
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
