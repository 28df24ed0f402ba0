// Package input reads the partitions that a learner learns from, verifies that they
// are still those that it has learned from, and collects their records into spans.
package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Partition is an input partition and the position in it.
type Partition struct {
	Topic     string
	ID        [16]byte // topic ID, which distinguishes a topic from a later one of the same name
	Partition int32
	Next      int64    // first offset that no BATCH covers
	mark      lastRead // record before Next, if it was verified at the start
}

func (in *Partition) String() string { return fmt.Sprintf("%s/%d", in.Topic, in.Partition) }

// Partitions are the partitions that a learner reads, sorted by topic and partition. The
// records of a BATCH are in this order.
type Partitions []*Partition

// Find returns a partition of a topic, or nil.
func (ins Partitions) Find(topic string, partition int32) *Partition {
	i, ok := slices.BinarySearchFunc(ins, &Partition{Topic: topic, Partition: partition}, Compare)
	if !ok {
		return nil
	}
	return ins[i]
}

// Compare orders partitions by topic and number.
func Compare(a, b *Partition) int {
	return cmp.Or(strings.Compare(a.Topic, b.Topic), int(a.Partition)-int(b.Partition))
}

// Open returns the partitions of the input topics, after checking that the topics exist and are not
// compacted.
func Open(ctx context.Context, c *ingest.Client, topics []string) (Partitions, error) {
	var ins Partitions
	for _, name := range topics {
		t, err := c.Topic(ctx, name)
		if errors.Is(err, ingest.ErrUnknownTopic) {
			return nil, fmt.Errorf("%w: input topic %q does not exist: create it, or correct its name in the configuration", ErrTopic, name)
		}
		if err != nil {
			return nil, err
		}
		if t.Hidden != nil {
			return nil, fmt.Errorf("%w: cannot read whether input topic %q is compacted: %w", ErrTopic, name, t.Hidden)
		}
		if strings.Contains(t.CleanupPolicy, "compact") {
			return nil, fmt.Errorf("%w: input topic %q is compacted (cleanup.policy=%s), so it cannot be replayed exactly: use a topic with cleanup.policy=delete", ErrTopic, name, t.CleanupPolicy)
		}
		for p := range t.Partitions {
			ins = append(ins, &Partition{Topic: name, ID: t.ID, Partition: int32(p)})
		}
	}
	slices.SortFunc(ins, Compare)
	return ins, nil
}

// Ends returns the current end offset of each input.
func (ins Partitions) Ends(ctx context.Context, c *ingest.Client, report func(event.Event)) ([]int64, error) {
	ends := make([]int64, len(ins))
	var end []int64
	for i, in := range ins {
		if i == 0 || in.Topic != ins[i-1].Topic {
			var err error
			if _, end, err = Offsets(ctx, c, in.Topic, report); err != nil {
				return nil, err
			}
		}
		if int(in.Partition) >= len(end) { // Kafka removes no partitions of a topic
			return nil, Recreated(in.Topic)
		}
		ends[i] = end[in.Partition]
	}
	return ends, nil
}

// Former are the topics that were replaced in a history.
type Former map[formerTopic]bool

type formerTopic struct {
	name string
	id   snapshot.TopicID
}

// Has reports whether a topic was replaced. Its name may be that of the topic that replaced it.
func (f Former) Has(name string, id snapshot.TopicID) bool { return f[formerTopic{name, id}] }

// WithFormer adds the partitions of topics that were replaced in the history and still exist. It
// also returns all topics that were replaced.
func (ins Partitions) WithFormer(ctx context.Context, c *ingest.Client, entries []modellog.Entry) (Partitions, Former, error) {
	former := Former{}
	for _, e := range entries {
		a, ok := e.Record.(*modellog.Adopt)
		if !ok {
			continue
		}
		for _, in := range a.Inputs {
			former[formerTopic{in.Topic, in.TopicID}] = true
			if slices.ContainsFunc(ins, func(i *Partition) bool { return i.Topic == in.Topic }) {
				continue
			}
			id, n, err := c.Partitions(ctx, in.Topic)
			if errors.Is(err, ingest.ErrUnknownTopic) {
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			for p := range n {
				ins = append(ins, &Partition{Topic: in.Topic, ID: id, Partition: int32(p)})
			}
		}
	}
	slices.SortFunc(ins, Compare)
	return ins, former, nil
}
