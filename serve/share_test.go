package serve

import (
	"context"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A scorer that joins again, because the group had forgotten it, continues after what it has published
// itself, and not after the offset that it could commit last: unless the topic is another one, or ends
// before that.
func TestAScorerContinuesAfterItsOwnScores(t *testing.T) {
	client, topic := kafkatest.Client(t), kafkatest.Name("asked")
	kafkatest.Fill(t, client, topic, 1, []string{"1", "2", "3", "4", "5"})
	id, _, err := client.Partitions(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	// A broker has no coordinator of groups until somebody has asked for one.
	err = ingest.Retry(t.Context(), func(error) {}, func() error {
		_, err := client.Committed(t.Context(), kafkatest.Name("first"), topic, 1)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		own  part
		want int64
	}{
		{"nothing", part{topic: topic, id: id, partition: 1, next: 2}, 0},
		{"some of the records", part{topic: topic, id: id, next: 3}, 3},
		{"all of them", part{topic: topic, id: id, next: 5}, 5},
		{"more than there are", part{topic: topic, id: id, next: 6}, 0},
		{"those of another topic", part{topic: topic, id: [16]byte{1}, next: 3}, 0},
	} {
		s := NewScorer(Config{Client: client, Group: kafkatest.Name("group"), Topics: []string{topic}})
		s.hasAnswered(test.own)
		parts, err := s.parts(t.Context(), ingest.Share{topic: {0}}, bounds{})
		if err != nil || len(parts) != 1 || parts[0].next != test.want || parts[0].committed != 0 {
			t.Fatalf("%s: %+v, %v, want to continue at %d", test.name, parts, err, test.want)
		}
		m := client.Member(s.config.Group, s.config.Topics)
		if _, err := m.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
		parts[0].end = test.want // there is nothing left to do
		if err := s.score(t.Context(), m, parts[0]); err != nil {
			t.Fatal(err)
		}
		committed, err := client.Committed(t.Context(), s.config.Group, topic, 1)
		if want := test.want; err != nil || max(0, committed[0]) != want {
			t.Errorf("%s: %v is committed, %v, want %d: otherwise the group waits for it", test.name, committed, err, want)
		}
		if err := m.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// stale is a member whose first share is of a topic that had more partitions.
type stale struct {
	topic string
	joins int
}

func (m *stale) Join(context.Context) (ingest.Share, error) {
	if m.joins++; m.joins == 1 {
		return ingest.Share{m.topic: {0, 1}}, nil
	}
	return ingest.Share{m.topic: {0}}, nil
}

// A scorer that gets a partition which the topic does not have joins again, instead of waiting for it.
func TestAScorerJoinsAgainForPartitionsThatAreGone(t *testing.T) {
	client, m := kafkatest.Client(t), &stale{topic: kafkatest.Name("asked")}
	kafkatest.Fill(t, client, m.topic, 1, []string{"1"})
	s := NewScorer(Config{Client: client, Group: kafkatest.Name("group"), Topics: []string{m.topic}, Report: func(Event) {}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	share, parts, err := s.join(ctx, m, bounds{})
	if err != nil || m.joins != 2 || len(share[m.topic]) != 1 || len(parts) != 1 {
		t.Errorf("after %d joins it has %v, %v, %v", m.joins, share, parts, err)
	}
}
