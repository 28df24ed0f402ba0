package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// EpochEnd is the end of the records of a leader epoch in the log of the current
// leader (KIP-320).
type EpochEnd struct {
	Epoch int32 // the newest one in the log that is not after the requested one; -1 if the leader cannot tell
	End   int64 // the offset after its last record, committed or not; -1 if the leader cannot tell
}

// EndOfEpoch requests the end of an epoch from the leader of a partition. The
// error is errors.ErrUnsupported if the broker does not support the request
// (before Kafka 2.1). Other errors are those of Poll.
func (c *Client) EndOfEpoch(ctx context.Context, topic string, partition int, epoch int32) (EpochEnd, error) {
	unknown := EpochEnd{-1, -1}
	at, err := c.leader(ctx, topic, partition)
	if err != nil {
		return unknown, err
	}
	rp := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	rp.Partition, rp.CurrentLeaderEpoch, rp.LeaderEpoch = int32(partition), at.epoch, epoch
	req := kmsg.NewPtrOffsetForLeaderEpochRequest()
	req.ReplicaID = -1
	req.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{rp}}}
	r, _, err := c.doLeader(ctx, topic, partition, req, responseLimit)
	if err != nil {
		return unknown, err
	}
	resp := r.(*kmsg.OffsetForLeaderEpochResponse)
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return unknown, fmt.Errorf("%w: epoch end offset of another topic", ErrCorrupt)
	}
	p := &resp.Topics[0].Partitions[0]
	if kafka.Error(p.ErrorCode) == kafka.UnsupportedVersion {
		return unknown, fmt.Errorf("leader epoch end offset: %w", errors.ErrUnsupported)
	}
	if err := c.topicError(topic, p.ErrorCode, "DESCRIBE"); err != nil {
		c.forget(topic)
		return unknown, err
	}
	return EpochEnd{p.LeaderEpoch, p.EndOffset}, nil
}

// Truncated is Client.Truncated for the partition that f reads.
func (f *Fetcher) Truncated(ctx context.Context, next int64, epoch int32) (end int64, truncated, known bool, err error) {
	return f.client.Truncated(ctx, f.topic, f.partition, next, epoch)
}

// Truncated reports whether the log has lost records before next. epoch is the
// leader epoch of the last of these records. The answer is definite: a broker that
// temporarily does not know the end of the log does not count as a truncation.
//
// If truncated is true, end is an upper bound of the offset up to which the log is
// unchanged. known is false if the leader cannot tell, such as a broker before
// Kafka 2.1. With epoch -1, Truncated detects a log that ends before next, and
// cannot detect one that has been written to again after the truncation.
func (c *Client) Truncated(ctx context.Context, topic string, partition int, next int64, epoch int32) (end int64, truncated, known bool, err error) {
	if epoch >= 0 {
		at, err := c.EndOfEpoch(ctx, topic, partition, epoch)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return 0, false, false, nil
		case err != nil:
			return 0, false, false, err
		case at.Epoch == epoch && at.End >= 0:
			return min(at.End, next), at.End < next, true, nil
		case at.Epoch >= 0 && at.Epoch < epoch: // the leader has no record of that epoch at all
			return min(at.End, next-1), true, true, nil
		}
	}
	now, err := c.leader(ctx, topic, partition)
	if err != nil || now.epoch < 0 || now.epoch == epoch {
		return 0, false, false, err
	}
	at, err := c.EndOfEpoch(ctx, topic, partition, now.epoch) // the end of everything
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return 0, false, false, nil
	case err != nil:
		return 0, false, false, err
	case at.Epoch == now.epoch && at.End >= 0 && at.End < next:
		return at.End, true, true, nil
	}
	return 0, false, false, nil
}

// Connections returns the number of the newest connection to a broker. A response
// on a connection with this number or a lower one comes from a broker process that
// was running at the time of the call.
func (c *Client) Connections() int64 { return c.opened.Load() }
