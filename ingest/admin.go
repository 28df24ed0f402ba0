package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Create creates a topic with the brokers' default replication factor and waits
// until its partitions have leaders. An existing topic is left unchanged, whatever
// its partitions and configuration, and requires no permission to create topics.
// If partitions is 0, the brokers' default applies.
//
// BeforeMax and AfterMax, which only newer brokers know and a managed cluster may not let
// clients set, are omitted if the broker rejects them.
func (c *Client) Create(ctx context.Context, name string, partitions int, config map[string]string) error {
	return c.createWith(ctx, name, partitions, config, nil)
}

// CreateDurable is like Create, for a topic in which acknowledged records must
// survive the loss of a broker. With three replicas or more, it sets
// min.insync.replicas=2.
func (c *Client) CreateDurable(ctx context.Context, name string, partitions int, config map[string]string) error {
	return c.createWith(ctx, name, partitions, config, map[string]string{"min.insync.replicas": "2"})
}

// BeforeMax and AfterMax are the properties that limit how far the timestamp of
// a record may be from the broker's clock, in the past and in the future. Apache Kafka has them since 3.6, and since
// 4.0 the default of AfterMax is an hour.
const (
	BeforeMax = "message.timestamp.before.max.ms"
	AfterMax  = "message.timestamp.after.max.ms"

	AnyTime = "9223372036854775807" // the value of both with which a topic accepts every timestamp
)

// createWith adds replicated to config if the topic has three replicas or more.
func (c *Client) createWith(ctx context.Context, name string, partitions int, config, replicated map[string]string) error {
	if _, err := c.metadata(ctx, name); !errors.Is(err, ErrUnknownTopic) {
		return err
	}
	if partitions == 0 {
		partitions = -1
	}
	config = maps.Clone(config)
	if config == nil {
		config = map[string]string{}
	}
	replicas := -1
	const tries = 3 // without BeforeMax and AfterMax, and without a default for replicas
	var answered created
	var err error
	for range tries {
		if replicated != nil { // determines the replication factor that the topic would have
			answered, err = c.create(ctx, name, partitions, replicas, config, true)
			if err == nil && answered.replicas >= 3 {
				maps.Copy(config, replicated)
			}
		}
		if err == nil {
			answered, err = c.create(ctx, name, partitions, replicas, config, false)
		}
		_, anyTime := config[AfterMax] // and BeforeMax
		switch {
		case answered.code == kafka.InvalidReplicationFactor && replicas < 0:
			replicas, err = 1, nil // brokers before 2.4 have no default
			continue
		case (answered.code == kafka.InvalidConfiguration || answered.code == kafka.PolicyViolation) && anyTime:
			delete(config, BeforeMax)
			delete(config, AfterMax)
			err = nil
			continue
		}
		break
	}
	if err != nil {
		return err
	}
	// A new topic is not known to every broker immediately.
	for wait := new(Backoff); ; {
		t, err := c.metadata(ctx, name)
		if err == nil && !slices.ContainsFunc(t.Partitions, func(p kmsg.MetadataResponseTopicPartition) bool { return p.Leader < 0 }) {
			if replicated != nil && answered.replicas < 0 && len(t.Partitions[0].Replicas) >= 3 {
				if err := c.alter(ctx, name, replicated); !errors.Is(err, ErrDenied) { // without the permission, the property is left to the administrator
					return err
				}
			}
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

// alter sets properties of a topic.
func (c *Client) alter(ctx context.Context, name string, config map[string]string) error {
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, name
	for k, v := range config {
		e := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		e.Name, e.Op, e.Value = k, kmsg.IncrementalAlterConfigOpSet, &v
		res.Configs = append(res.Configs, e)
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{res}
	r, _, err := c.do(ctx, req, responseLimit, toController)
	if err != nil {
		return err
	}
	for _, res := range r.(*kmsg.IncrementalAlterConfigsResponse).Resources {
		if err := c.topicError(name, res.ErrorCode, "ALTER_CONFIGS"); err != nil {
			return fmt.Errorf("configure %w", err)
		}
	}
	return nil
}

// created is the broker's response. replicas is -1 if the broker did not report it.
type created struct {
	code     kafka.Error
	replicas int
}

// create makes one attempt to create a topic. With ask, the broker only validates
// the request.
func (c *Client) create(ctx context.Context, name string, partitions, replicas int, config map[string]string, ask bool) (created, error) {
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = name, int32(partitions), int16(replicas)
	for k, v := range config {
		rt.Configs = append(rt.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: k, Value: &v})
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = []kmsg.CreateTopicsRequestTopic{rt}
	req.TimeoutMillis, req.ValidateOnly = int32(c.timeout.Milliseconds()), ask
	r, _, err := c.do(ctx, req, responseLimit, toController)
	if err != nil {
		return created{}, err
	}
	resp := r.(*kmsg.CreateTopicsResponse)
	if len(resp.Topics) != 1 {
		return created{}, fmt.Errorf("%w: response for %d topics, requested 1", ErrCorrupt, len(resp.Topics))
	}
	t := &resp.Topics[0]
	out := created{kafka.Error(t.ErrorCode), int(t.ReplicationFactor)}
	if out.code == 0 || out.code == kafka.TopicAlreadyExists {
		return out, nil
	}
	err = c.topicError(name, t.ErrorCode, "CREATE")
	if t.ErrorMessage != nil {
		err = fmt.Errorf("%w: %s", err, *t.ErrorMessage)
	}
	return out, fmt.Errorf("create %w", err)
}

// toController returns the controller, which creates topics. With KRaft, any
// broker forwards the request.
func toController(cluster protocol.Cluster) (protocol.Broker, error) {
	if b, ok := cluster.Brokers[cluster.Controller]; ok {
		return b, nil
	}
	return protocol.Broker{ID: -1}, nil
}

// DeleteRecords deletes all records of a partition before an offset.
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
				return fmt.Errorf("topic %s partition %d has no offset %d to delete up to: %w", topic, partition, before, answer(kafka.OffsetOutOfRange))
			}
			if err := c.topicError(topic, p.ErrorCode, "DELETE"); err != nil {
				c.forget(topic)
				return fmt.Errorf("delete records of %w", err)
			}
		}
	}
	return nil
}

// coordinated retries f, for up to the request timeout, while the coordinator that
// f needs is not available or still loading. This happens at the first request of
// a cluster for a group or a producer.
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
