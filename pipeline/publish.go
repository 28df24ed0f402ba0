package pipeline

import (
	"context"
	"sync"

	"github.com/accrete-ml/accrete/ingest"
)

// publisher writes releases in order, and knows how far it got.
type publisher struct {
	producer    *ingest.Producer
	predictions string // topic
	partitions  int    // of predictions
	quarantine  string // topic
	report      func(Event)

	queue chan *release

	mu       sync.Mutex
	released int64
	waiting  chan struct{} // closed when released grows
}

func newPublisher(p *ingest.Producer, predictions string, partitions int, quarantine string, released int64, report func(Event)) *publisher {
	return &publisher{
		producer: p, predictions: predictions, partitions: partitions, quarantine: quarantine, report: report,
		queue: make(chan *release, 2), released: released, waiting: make(chan struct{}),
	}
}

// run publishes what arrives in the queue until it is closed.
func (p *publisher) run(ctx context.Context) error {
	for out := range p.queue {
		if err := p.publish(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

// publish writes one release and returns once all of it is acked.
func (p *publisher) publish(ctx context.Context, out *release) error {
	if err := p.write(ctx, p.quarantine, 1, out.quarantined); err != nil {
		return err
	}
	if err := p.write(ctx, p.predictions, p.partitions, out.predictions); err != nil {
		return err
	}
	p.mu.Lock()
	p.released = out.seq
	close(p.waiting)
	p.waiting = make(chan struct{})
	p.mu.Unlock()
	p.report(Released{Seq: out.seq, Records: len(out.predictions)})
	return nil
}

func (p *publisher) write(ctx context.Context, topic string, partitions int, rs []outgoing) error {
	byPartition := make([][]ingest.Record, partitions)
	for _, r := range rs {
		i := int(r.partition) % partitions
		byPartition[i] = append(byPartition[i], r.record)
	}
	for i, rs := range byPartition {
		if len(rs) == 0 {
			continue
		}
		if err := p.producer.Publish(ctx, topic, i, rs); err != nil {
			return err
		}
	}
	return nil
}

// done is the seq up to which everything is acked.
func (p *publisher) done() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.released
}

// await returns once everything up to seq is acked.
func (p *publisher) await(ctx context.Context, seq int64) error {
	for {
		p.mu.Lock()
		released, waiting := p.released, p.waiting
		p.mu.Unlock()
		if released >= seq {
			return nil
		}
		select {
		case <-waiting:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
