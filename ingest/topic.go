package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Topic describes a topic of the cluster.
type Topic struct {
	Name          string
	ID            [16]byte // changes if the topic is deleted and created again; zero before Kafka 2.8
	Partitions    int
	CleanupPolicy string // "delete", "compact" or "compact,delete"; empty if unknown
	RetentionMs   int64  // retention.ms; -1: unlimited; 0 if unknown
	Hidden        error  // ErrDenied with the missing permission if the configuration cannot be read; otherwise nil

	// MaxMessageBytes is max.message.bytes, the largest batch that the topic
	// accepts; Kafka's default if unknown.
	MaxMessageBytes int
}

// SameTopic reports whether two ids may belong to the same topic. Brokers before 2.8
// have no ids, so a topic without one gets one when the brokers are upgraded.
func SameTopic(a, b [16]byte) bool { return a == b || a == [16]byte{} || b == [16]byte{} }

// Partitions returns the id of a topic and the number of its partitions. Unlike
// Topic, it does not request the topic's configuration.
func (c *Client) Partitions(ctx context.Context, name string) (id [16]byte, n int, err error) {
	t, err := c.metadata(ctx, name)
	if err != nil {
		return id, 0, err
	}
	return t.TopicID, len(t.Partitions), nil
}

// Topic looks up a topic. Its errors are ErrUnknownTopic, ErrDenied and
// ErrUnreachable; others are Temporary.
func (c *Client) Topic(ctx context.Context, name string) (Topic, error) {
	t, err := c.metadata(ctx, name)
	if err != nil {
		return Topic{}, err
	}
	config, err := c.topicConfig(ctx, name, "cleanup.policy", "retention.ms", "max.message.bytes")
	var hidden error
	if errors.Is(err, ErrDenied) {
		hidden = fmt.Errorf("%w: the configuration of topic %q: grant it with kafka-acls --add --allow-principal User:%s --operation DescribeConfigs --topic %s", ErrDenied, name, cmp.Or(c.username, "NAME"), name)
	} else if err != nil {
		return Topic{}, err
	}
	topic := Topic{Name: name, Hidden: hidden, ID: t.TopicID, Partitions: len(t.Partitions), CleanupPolicy: config["cleanup.policy"]}
	topic.RetentionMs, _ = strconv.ParseInt(config["retention.ms"], 10, 64)
	if topic.MaxMessageBytes, err = strconv.Atoi(config["max.message.bytes"]); err != nil {
		topic.MaxMessageBytes = DefaultMaxMessageBytes
	}
	return topic, nil
}

// DefaultMaxMessageBytes is the default of max.message.bytes: 1 MiB plus the 12
// bytes of a batch that its length field does not count.
const DefaultMaxMessageBytes = 1<<20 + 12

// metadata requests the metadata of one topic and caches the leaders of its
// partitions.
func (c *Client) metadata(ctx context.Context, topic string) (*kmsg.MetadataResponseTopic, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
	r, _, err := c.do(ctx, req, responseLimit, nil)
	if err != nil {
		return nil, err
	}
	resp := r.(*kmsg.MetadataResponse)
	if len(resp.Topics) != 1 {
		return nil, fmt.Errorf("%w: metadata for %d topics, requested 1", ErrCorrupt, len(resp.Topics))
	}
	t := &resp.Topics[0]
	if err := c.topicError(topic, t.ErrorCode, "DESCRIBE"); err != nil {
		c.forget(topic)
		return nil, err
	}
	leaders := make([]leader, len(t.Partitions))
	for i := range leaders {
		leaders[i] = leader{-1, -1}
	}
	for _, p := range t.Partitions {
		if p.Partition < 0 || int(p.Partition) >= len(leaders) {
			return nil, fmt.Errorf("%w: topic %s has %d partitions, but also partition %d", ErrCorrupt, topic, len(leaders), p.Partition)
		}
		if p.ErrorCode == 0 || p.ErrorCode == int16(kafka.ReplicaNotAvailable) {
			leaders[p.Partition] = leader{p.Leader, p.LeaderEpoch}
		}
	}
	c.mu.Lock()
	c.leaders[topic] = leaders
	c.mu.Unlock()
	return t, nil
}

func (c *Client) forget(topic string) {
	c.mu.Lock()
	delete(c.leaders, topic)
	c.mu.Unlock()
}

// leader returns the leader of a partition, from the cache if possible.
func (c *Client) leader(ctx context.Context, topic string, partition int) (leader, error) {
	c.mu.Lock()
	leaders := c.leaders[topic]
	c.mu.Unlock()
	if leaders == nil {
		if _, err := c.metadata(ctx, topic); err != nil {
			return leader{}, err
		}
		c.mu.Lock()
		leaders = c.leaders[topic]
		c.mu.Unlock()
	}
	if partition < 0 || partition >= len(leaders) {
		c.forget(topic)
		return leader{}, fmt.Errorf("%w: topic %s has %d partitions, but not partition %d", ErrUnknownTopic, topic, len(leaders), partition)
	}
	if leaders[partition].id < 0 {
		c.forget(topic)
		return leader{}, fmt.Errorf("topic %s partition %d: %w", topic, partition, answer(kafka.LeaderNotAvailable))
	}
	return leaders[partition], nil
}

// doLeader sends req to the leader of a partition. After an error, the next call
// looks up the leader again, because it may have moved.
func (c *Client) doLeader(ctx context.Context, topic string, partition int, req kmsg.Request, limit int) (kmsg.Response, bool, error) {
	for attempt := 1; ; attempt++ {
		at, err := c.leader(ctx, topic, partition)
		if err != nil {
			return nil, false, err
		}
		resp, sent, err := c.do(ctx, req, limit, toBroker(at.id))
		if err == nil {
			return resp, true, nil
		}
		c.forget(topic)
		// The transport discovers a new broker within MetadataTTL.
		if sent || !errors.Is(err, errStale) || attempt > 20 {
			return nil, sent, err
		}
		t := time.NewTimer(100 * time.Millisecond)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, false, ctx.Err()
		case <-t.C:
		}
	}
}

func toBroker(id int32) func(protocol.Cluster) (protocol.Broker, error) {
	return func(cluster protocol.Cluster) (protocol.Broker, error) {
		b, ok := cluster.Brokers[id]
		if !ok {
			return b, fmt.Errorf("%w: broker %d is not in it yet", errStale, id)
		}
		return b, nil
	}
}

// topicConfig returns the values of properties of a topic. Properties that the
// broker does not know are missing.
func (c *Client) topicConfig(ctx context.Context, topic string, names ...string) (map[string]string, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources = []kmsg.DescribeConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeTopic,
		ResourceName: topic,
		ConfigNames:  names,
	}}
	r, _, err := c.do(ctx, req, responseLimit, nil)
	if err != nil {
		return nil, err
	}
	config := map[string]string{}
	for _, res := range r.(*kmsg.DescribeConfigsResponse).Resources {
		if err := c.topicError(topic, res.ErrorCode, "DESCRIBE_CONFIGS"); err != nil {
			return nil, err
		}
		for _, e := range res.Configs {
			if e.Value != nil {
				config[e.Name] = *e.Value
			}
		}
	}
	return config, nil
}

// Topics returns the names of the cluster's topics that this client may see, without
// Kafka's own, in alphabetical order.
func (c *Client) Topics(ctx context.Context) ([]string, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	req.Topics = nil // all of them
	r, _, err := c.do(ctx, req, responseLimit, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range r.(*kmsg.MetadataResponse).Topics {
		if t.ErrorCode == 0 && t.Topic != nil && !t.IsInternal {
			names = append(names, *t.Topic)
		}
	}
	slices.Sort(names)
	return names, nil
}
