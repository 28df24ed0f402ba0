package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// EpochEnd is where the records of a leader epoch end in the log that the
// present leader has (KIP-320).
type EpochEnd struct {
	Epoch int32 // the newest one in the log that is not after the one asked for; -1 if the leader cannot tell
	End   int64 // the offset after its last record, committed or not; -1 if the leader cannot tell
}

// EndOfEpoch asks the leader of a partition where the records of an epoch end.
// Its error is errors.ErrUnsupported where the broker has no such request
// (before Kafka 2.1), and otherwise as those of Poll.
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
		return unknown, fmt.Errorf("%w: the end of an epoch of another topic", ErrCorrupt)
	}
	p := &resp.Topics[0].Partitions[0]
	if kafka.Error(p.ErrorCode) == kafka.UnsupportedVersion {
		return unknown, fmt.Errorf("the end of a leader epoch: %w", errors.ErrUnsupported)
	}
	if err := c.topicError(topic, p.ErrorCode); err != nil {
		c.forget(topic)
		return unknown, err
	}
	return EpochEnd{p.LeaderEpoch, p.EndOffset}, nil
}

// Truncated says whether the log has lost records before next, the last of
// which was written under epoch: the truth, and not a broker's momentary lack of
// knowledge. end is then where what is still the same ends, at most. known is
// false where the leader cannot tell, as a broker before Kafka 2.1.
func (c *Client) Truncated(ctx context.Context, topic string, partition int, next int64, epoch int32) (end int64, truncated, known bool, err error) {
	if epoch < 0 {
		return 0, false, false, nil
	}
	at, err := c.EndOfEpoch(ctx, topic, partition, epoch)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return 0, false, false, nil
	case err != nil:
		return 0, false, false, err
	case at.Epoch < 0 || at.End < 0 || at.Epoch > epoch:
		return 0, false, false, nil
	case at.Epoch < epoch: // the leader has no record of that epoch at all
		return min(at.End, next-1), true, true, nil
	}
	return min(at.End, next), at.End < next, true, nil
}

// Connections is how often a connection to a broker has been opened. Between
// two equal answers no broker was replaced by another behind the same address.
func (c *Client) Connections() int64 { return c.opened.Load() }
