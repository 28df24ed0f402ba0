package ingest

import "context"

// TopicID is the id of a topic: another one if the topic is deleted and created
// again; zero before Kafka 2.8. Its errors are those of Topic.
func (c *Client) TopicID(ctx context.Context, name string) (id [16]byte, err error) {
	t, err := c.metadata(ctx, name)
	if err != nil {
		return id, err
	}
	return t.TopicID, nil
}

// TopicConfig is what the cluster says of some properties of a topic. Those that
// it does not know are missing. It is ErrDenied where the client may not ask,
// which takes the permission DescribeConfigs.
func (c *Client) TopicConfig(ctx context.Context, name string, properties ...string) (map[string]string, error) {
	return c.topicConfig(ctx, name, properties...)
}
