package ingest

import (
	"context"
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TopicID returns the id of a topic, which changes if the topic is deleted and
// created again. It is zero before Kafka 2.8. Its errors are those of Topic.
func (c *Client) TopicID(ctx context.Context, name string) (id [16]byte, err error) {
	t, err := c.metadata(ctx, name)
	if err != nil {
		return id, err
	}
	return t.TopicID, nil
}

// TopicConfig returns the values of properties of a topic. Properties that the
// cluster does not know are missing. The error is ErrDenied if the client lacks
// the permission DescribeConfigs.
func (c *Client) TopicConfig(ctx context.Context, name string, properties ...string) (map[string]string, error) {
	return c.topicConfig(ctx, name, properties...)
}

// Allowed lists what a client may do with a topic.
type Allowed struct {
	Known                        bool // whether the cluster reports permissions; before Kafka 2.3 it does not
	Read, Write, DescribeConfigs bool
}

// Allowed requests the client's permissions on a topic. Its errors are those of Topic.
func (c *Client) Allowed(ctx context.Context, topic string) (Allowed, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation, req.IncludeTopicAuthorizedOperations = false, true
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
	r, _, err := c.do(ctx, req, responseLimit, nil)
	if err != nil {
		return Allowed{}, err
	}
	for _, t := range r.(*kmsg.MetadataResponse).Topics {
		if err := c.topicError(topic, t.ErrorCode, "DESCRIBE"); err != nil {
			return Allowed{}, err
		}
		if t.AuthorizedOperations != math.MinInt32 && t.AuthorizedOperations != 0 {
			has := func(o kmsg.ACLOperation) bool { return t.AuthorizedOperations&(1<<o) != 0 }
			return Allowed{true, has(kmsg.ACLOperationRead), has(kmsg.ACLOperationWrite), has(kmsg.ACLOperationDescribeConfigs)}, nil
		}
	}
	return Allowed{}, nil
}
