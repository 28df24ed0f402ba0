package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Create makes a topic with the brokers' default number of replicas and waits
// until its partitions have leaders. A topic that is there already is left as
// it is, whatever its partitions and configuration, and needs no permission to
// create. partitions of 0 means the brokers' default.
func (c *Client) Create(ctx context.Context, name string, partitions int, config map[string]string) error {
	if _, err := c.metadata(ctx, name); !errors.Is(err, ErrUnknownTopic) {
		return err
	}
	if partitions == 0 {
		partitions = -1
	}
	code, err := c.create(ctx, name, partitions, -1, config)
	if code == kafka.InvalidReplicationFactor {
		_, err = c.create(ctx, name, partitions, 1, config) // brokers before 2.4 have no default
	}
	if err != nil {
		return err
	}
	// A topic that was made just now is not known to every broker at once.
	for wait := new(Backoff); ; {
		t, err := c.metadata(ctx, name)
		if err == nil && !slices.ContainsFunc(t.Partitions, func(p kmsg.MetadataResponseTopicPartition) bool { return p.Leader < 0 }) {
			return nil
		}
		if err != nil && !Temporary(err) {
			return err
		}
		if stop := wait.Pause(ctx, err); stop != nil {
			if err == nil {
				err = stop
			}
			return err
		}
	}
}

// create makes one attempt. The code is what the broker answered.
func (c *Client) create(ctx context.Context, name string, partitions, replicas int, config map[string]string) (kafka.Error, error) {
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = name, int32(partitions), int16(replicas)
	for k, v := range config {
		rt.Configs = append(rt.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: k, Value: &v})
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = []kmsg.CreateTopicsRequestTopic{rt}
	req.TimeoutMillis = int32(c.timeout.Milliseconds())
	r, _, err := c.do(ctx, req, responseLimit, toController)
	if err != nil {
		return 0, err
	}
	resp := r.(*kmsg.CreateTopicsResponse)
	if len(resp.Topics) != 1 {
		return 0, fmt.Errorf("%w: an answer about %d topics to one", ErrCorrupt, len(resp.Topics))
	}
	t := &resp.Topics[0]
	code := kafka.Error(t.ErrorCode)
	if code == 0 || code == kafka.TopicAlreadyExists {
		return code, nil
	}
	err = c.topicError(name, t.ErrorCode)
	if t.ErrorMessage != nil {
		err = fmt.Errorf("%w: %s", err, *t.ErrorMessage)
	}
	return code, fmt.Errorf("create %w", err)
}

// toController is the broker that creates topics; with KRaft any broker passes
// the request on.
func toController(cluster protocol.Cluster) (protocol.Broker, error) {
	if b, ok := cluster.Brokers[cluster.Controller]; ok {
		return b, nil
	}
	return protocol.Broker{ID: -1}, nil
}

// DeleteRecords deletes the records of a partition before an offset.
func (c *Client) DeleteRecords(ctx context.Context, topic string, partition int, before int64) error {
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = int32(c.timeout.Milliseconds())
	req.Topics = []kmsg.DeleteRecordsRequestTopic{{
		Topic:      topic,
		Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: int32(partition), Offset: before}},
	}}
	r, _, err := c.doLeader(ctx, topic, partition, req, responseLimit)
	if err != nil {
		return err
	}
	for _, t := range r.(*kmsg.DeleteRecordsResponse).Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode == int16(kafka.OffsetOutOfRange) {
				return fmt.Errorf("topic %s partition %d has no record %d to delete up to: %w", topic, partition, before, answer(kafka.OffsetOutOfRange))
			}
			if err := c.topicError(topic, p.ErrorCode); err != nil {
				c.forget(topic)
				return fmt.Errorf("delete records of %w", err)
			}
		}
	}
	return nil
}

// coordinated tries f for as long as a request may take while the broker that
// f needs is being found or wakes up, as it does the first time that a cluster
// is asked for a group or a producer.
func (c *Client) coordinated(ctx context.Context, f func(context.Context) error) error {
	wait, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for pause := new(Backoff); ; {
		err := f(ctx)
		var code kafka.Error
		if !errors.As(err, &code) || code != kafka.GroupLoadInProgress && code != kafka.GroupCoordinatorNotAvailable && code != kafka.NotCoordinatorForGroup {
			return err
		}
		if pause.Pause(wait, err) != nil {
			return err
		}
	}
}
