package broker

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/snapshot"
)

// checkNames makes a CreateTopics request fail for the names that Apache Kafka refuses. kfake takes any name.
func (b *Broker) checkNames(r kmsg.Request) (kmsg.Response, error, bool) {
	for _, t := range r.(*kmsg.CreateTopicsRequest).Topics {
		if !snapshot.ValidTopic(t.Topic) || t.Topic == "." || t.Topic == ".." {
			b.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Topic: t.Topic, Err: kerr.InvalidTopicException})
		}
	}
	return nil, nil, false
}
