package input

import (
	"context"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
)

// growth is a topic to which partitions were added.
type growth struct {
	Topic string
	ID    [16]byte
	Count int // number of partitions, including the added ones
}

// PartitionsEvery is the interval at which topics are checked for added partitions. It is a
// variable so that tests can shorten it.
var PartitionsEvery = 5 * time.Second

// discover looks for partitions that are added to the input topics, until ctx is done, and calls
// follow to read them from their first record.
func (s *Source) discover(ctx context.Context, follow func([]feed)) {
	t := time.NewTicker(s.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for i := range s.names {
			known := &s.names[i]
			feeds, err := s.added(ctx, known)
			switch {
			case err != nil && ingest.Temporary(err): // reported by the readers of the topic
				continue
			case err != nil:
				s.arrive(ctx, arrival{err: err})
				return
			case len(feeds) == 0:
				continue
			}
			known.Count += len(feeds)
			grown := *known
			if !s.arrive(ctx, arrival{added: &grown, feeds: feeds}) {
				return
			}
			follow(feeds)
		}
	}
}

// added returns feeds for the partitions of a topic that are not known yet.
func (s *Source) added(ctx context.Context, known *growth) (feeds []feed, err error) {
	id, n, err := s.client.Partitions(ctx, known.Topic)
	if err != nil || n <= known.Count || planted.Fault("grow") {
		return nil, err
	}
	if !ingest.SameTopic(id, known.ID) {
		return nil, Recreated(known.Topic)
	}
	first, _, err := s.client.Offsets(ctx, known.Topic)
	if err != nil {
		return nil, err
	}
	inputs := len(first) - known.Count
	for _, topic := range s.names {
		inputs += topic.Count
	}
	for p := known.Count; p < len(first); p++ {
		feeds = append(feeds, newFeed(&Partition{Topic: known.Topic, ID: known.ID, Partition: int32(p), Next: first[p]}, s.share(inputs)))
	}
	return feeds, nil
}

// Partitions returns all inputs, including added partitions.
func (s *Source) Partitions() Partitions {
	ins := make(Partitions, len(s.feeds))
	for i := range s.feeds {
		ins[i] = s.feeds[i].in
	}
	slices.SortFunc(ins, Compare)
	return ins
}

// Grew returns the topics to which partitions were added since the last call.
func (s *Source) Grew() []growth {
	grown := s.grown
	s.grown = nil
	return grown
}
