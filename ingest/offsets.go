package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Offsets returns, for each partition, the log start offset and the last stable
// offset, which is the end for a read-committed consumer.
func (c *Client) Offsets(ctx context.Context, topic string) (first, end []int64, err error) {
	t, err := c.metadata(ctx, topic)
	if err != nil {
		return nil, nil, err
	}
	all := make([]int, len(t.Partitions))
	for p := range all {
		all[p] = p
	}
	return c.bounds(ctx, topic, all...)
}

// End returns the last stable offset of a partition.
func (c *Client) End(ctx context.Context, topic string, partition int) (int64, error) {
	all, err := c.offsets(ctx, topic, -1, []int{partition})
	if err != nil {
		return 0, err
	}
	return all[0], nil
}

// OffsetsAt returns, for each partition, the offset of the first record with this time or
// a later one, and the last stable offset if there is none.
func (c *Client) OffsetsAt(ctx context.Context, topic string, at time.Time) ([]int64, error) {
	_, end, err := c.Offsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	all := make([]int, len(end))
	for p := range all {
		all[p] = p
	}
	found, err := c.offsets(ctx, topic, max(0, at.UnixMilli()), all)
	if err != nil {
		return nil, err
	}
	for p, o := range found {
		if o >= 0 && o < end[p] {
			end[p] = o
		}
	}
	return end, nil
}

// bounds requests the first and end offsets of partitions from their leaders.
func (c *Client) bounds(ctx context.Context, topic string, partitions ...int) (first, end []int64, err error) {
	if first, err = c.offsets(ctx, topic, -2, partitions); err != nil {
		return nil, nil, err
	}
	end, err = c.offsets(ctx, topic, -1, partitions)
	return first, end, err
}

// offsets requests offsets by timestamp: -2 is the first offset, -1 the end.
func (c *Client) offsets(ctx context.Context, topic string, when int64, partitions []int) ([]int64, error) {
	place := map[int32]int{}
	led := map[int32][]kmsg.ListOffsetsRequestTopicPartition{}
	for i, p := range partitions {
		at, err := c.leader(ctx, topic, p)
		if err != nil {
			return nil, err
		}
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp = int32(p), when
		led[at.id] = append(led[at.id], rp)
		place[rp.Partition] = i
	}
	out := make([]int64, len(partitions))
	for _, ps := range led {
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID, req.IsolationLevel = -1, readCommitted
		req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: ps}}
		r, _, err := c.doLeader(ctx, topic, int(ps[0].Partition), req, responseLimit)
		if err != nil {
			return nil, err
		}
		resp := r.(*kmsg.ListOffsetsResponse)
		if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != len(ps) {
			return nil, fmt.Errorf("%w: offsets of another topic", ErrCorrupt)
		}
		for _, p := range resp.Topics[0].Partitions {
			if err := c.topicError(topic, p.ErrorCode, "DESCRIBE"); err != nil {
				c.forget(topic)
				return nil, err
			}
			i, ok := place[p.Partition]
			if !ok {
				return nil, fmt.Errorf("%w: offset of partition %d, which was not requested", ErrCorrupt, p.Partition)
			}
			out[i] = p.Offset
		}
	}
	return out, nil
}

// Committed returns the committed offsets of a group for the first n partitions of
// a topic; -1 means none.
func (c *Client) Committed(ctx context.Context, group, topic string, n int) ([]int64, error) {
	at, err := c.coordinator(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", group, err)
	}
	rt := kmsg.NewOffsetFetchRequestTopic()
	rt.Topic = topic
	next := make([]int64, n)
	for p := range next {
		next[p] = -1
		rt.Partitions = append(rt.Partitions, int32(p))
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.Topics = group, []kmsg.OffsetFetchRequestTopic{rt}
	r, _, err := c.do(ctx, req, responseLimit, toBroker(at))
	if err != nil {
		return nil, err
	}
	resp := r.(*kmsg.OffsetFetchResponse)
	if resp.ErrorCode == int16(kafka.GroupIdNotFound) {
		return next, nil
	}
	if err := c.refused(kafka.Error(resp.ErrorCode)); err != nil {
		return nil, fmt.Errorf("group %s: %w", group, err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := c.topicError(topic, p.ErrorCode, "READ"); err != nil {
				return nil, fmt.Errorf("group %s: %w", group, err)
			}
			if t.Topic == topic && p.Partition >= 0 && int(p.Partition) < n {
				next[p.Partition] = p.Offset
			}
		}
	}
	return next, nil
}

// coordinator returns the id of the coordinator of a group.
func (c *Client) coordinator(ctx context.Context, group string) (int32, error) {
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey = group
	r, _, err := c.do(ctx, find, responseLimit, nil)
	if err != nil {
		return 0, err
	}
	at := r.(*kmsg.FindCoordinatorResponse)
	return at.NodeID, c.refused(kafka.Error(at.ErrorCode))
}

// CommitGroup commits offsets by topic, one for each partition, to a group that has
// no members. A negative offset leaves a partition unchanged. A group with members
// rejects the commit.
func (c *Client) CommitGroup(ctx context.Context, group string, offsets map[string][]int64) error {
	return (&Member{client: c, group: group, generation: -1}).Commit(ctx, offsets)
}
