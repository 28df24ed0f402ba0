package kafkatest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Replicated is an Apache Kafka of three brokers: a Real as node 1, which is the
// controller and keeps running, and the nodes 2 and 3, which a test may stop.
type Replicated struct {
	Addr string // of all three

	*Real
}

// NewReplicated starts the brokers, which the end of the test removes again. It
// skips the test where there is no Real.
func NewReplicated(t testing.TB) *Replicated {
	t.Helper()
	r := &Replicated{Real: NewReal(t)}
	r.coordinator() // while only node 1 can take it
	t.Cleanup(r.alone)
	addrs := []string{r.Real.Addr}
	for node := 2; node <= 3; node++ {
		t.Cleanup(func() { r.node("clean", node) })
		addrs = append(addrs, r.node("start", node))
	}
	r.Addr = strings.Join(addrs, ",")
	return r
}

func (r *Replicated) node(command string, node int) string {
	r.t.Helper()
	return r.run(command, fmt.Sprintf("KAFKA_NODE=%d", node))
}

// Start starts a node.
func (r *Replicated) Start(node int) { r.t.Helper(); r.node("start", node) }

// Stop shuts a node down.
func (r *Replicated) Stop(node int) { r.t.Helper(); r.node("stop", node) }

// Kill ends a node with SIGKILL.
func (r *Replicated) Kill(node int) { r.t.Helper(); r.node("kill", node) }

func (r *Replicated) client() *kgo.Client {
	r.t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(r.Real.Addr))
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// coordinator waits until groups have a coordinator.
func (r *Replicated) coordinator() {
	r.t.Helper()
	c := r.client()
	defer c.Close()
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = "g", []string{"g"}
	r.poll("there is a coordinator", func() bool {
		resp, err := req.RequestWith(r.t.Context(), c)
		return err == nil && resp.ErrorCode == 0 && len(resp.Coordinators) == 1 && resp.Coordinators[0].ErrorCode == 0
	})
}

// alone waits until node 1 is the only one, so that the next test's client is not sent to
// another one.
func (r *Replicated) alone() {
	r.t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(r.Real.Addr))
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	r.poll("node 1 is the only one", func() bool {
		resp, err := req.RequestWith(context.Background(), c) // the context of the test has ended
		return err == nil && len(resp.Brokers) == 1
	})
}

// Create creates a topic with one partition on the nodes given, of which the first
// leads.
func (r *Replicated) Create(topic string, config map[string]string, nodes ...int32) {
	r.t.Helper()
	c := r.client()
	defer c.Close()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, -1, -1
	rt.ReplicaAssignment = []kmsg.CreateTopicsRequestTopicReplicaAssignment{{Partition: 0, Replicas: nodes}}
	for k, v := range config {
		rt.Configs = append(rt.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: k, Value: &v})
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis, req.Topics = 10_000, []kmsg.CreateTopicsRequestTopic{rt}
	resp, err := req.RequestWith(r.t.Context(), c)
	if err == nil && resp.Topics[0].ErrorCode != 0 {
		err = fmt.Errorf("error %d", resp.Topics[0].ErrorCode)
	}
	if err != nil {
		r.t.Fatalf("%s: %v", topic, err)
	}
}

// Await waits until a node leads a topic and the nodes in sync are those given.
func (r *Replicated) Await(topic string, leader int32, inSync ...int32) {
	r.t.Helper()
	c := r.client()
	defer c.Close()
	req := kmsg.NewPtrMetadataRequest()
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = &topic
	req.Topics = []kmsg.MetadataRequestTopic{rt}
	r.poll(fmt.Sprintf("node %d leads %s, in sync with %v", leader, topic, inSync), func() bool {
		resp, err := req.RequestWith(r.t.Context(), c)
		if err != nil || len(resp.Topics[0].Partitions) != 1 {
			return false
		}
		p := resp.Topics[0].Partitions[0]
		in := map[int32]bool{}
		for _, n := range p.ISR {
			in[n] = true
		}
		for _, n := range inSync {
			delete(in, n)
		}
		return p.Leader == leader && len(p.ISR) == len(inSync) && len(in) == 0
	})
}

func (r *Replicated) poll(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("waited in vain: %s; see %s", what, filepath.Join(r.dir, "node*", "kafka.log"))
		}
	}
}
