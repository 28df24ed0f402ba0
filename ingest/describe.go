package ingest

import "context"

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
