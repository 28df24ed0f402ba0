package ingest

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

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
			if err := c.topicError(topic, p.ErrorCode); err != nil {
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
// refuses it.
func (c *Client) CommitGroup(ctx context.Context, group string, offsets map[string][]int64) error {
	return (&Member{client: c, group: group, generation: -1}).Commit(ctx, offsets)
}
