package pipeline

import (
	"context"
	"sync"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/internal/memory"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// publisher writes publications in order and tracks which of them are acknowledged.
type publisher struct {
	producer    *ingest.Producer
	commit      *committer // nil: at least once
	predictions string     // topic
	partitions  int        // of predictions
	quarantine  string     // topic
	report      func(event.Event)

	queue chan *history.Publication

	mu        sync.Mutex
	published int64
	waiting   chan struct{} // closed when published grows
}

// writer writes records to a partition, with or without a transaction.
type writer func(ctx context.Context, topic string, partition int, rs []ingest.Record) error

func newPublisher(c model.Config, j *journal.Journal, partitions int, released int64) *publisher {
	p := &publisher{
		producer: c.Client.Producer(), predictions: model.PredictionsTopic(c.Model), partitions: partitions,
		quarantine: model.QuarantineTopic(c.Model), report: c.Report,
		queue: make(chan *history.Publication, memory.Waiting), published: released, waiting: make(chan struct{}),
	}
	if !planted.Fault("unbounded") {
		p.producer.Smaller = record.Smaller(p.quarantine)
	}
	p.producer.Retrying = func(err error) { c.Report(event.Unpublished{Err: err}) }
	if c.Transactional {
		p.commit = newCommitter(c, j)
		p.commit.tx.Smaller(p.producer.Smaller)
	}
	return p
}

// run publishes the queued publications until the queue is closed. It combines those that have
// queued up while the broker was busy.
func (p *publisher) run(ctx context.Context) error {
	for out := range p.queue {
		for more := len(p.queue); more > 0; more-- {
			out = out.And(<-p.queue)
		}
		if err := p.publish(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

// publish writes one publication and returns once all of it is acknowledged.
func (p *publisher) publish(ctx context.Context, out *history.Publication) error {
	var err error
	if p.commit != nil {
		err = p.commit.publish(ctx, out, func(w writer) error { return p.writeAll(ctx, out, w) })
	} else {
		err = p.writeAll(ctx, out, p.producer.Publish)
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.published = out.Seq
	close(p.waiting)
	p.waiting = make(chan struct{})
	p.mu.Unlock()
	p.report(event.Published{Seq: out.Seq, Records: len(out.Predictions)})
	return nil
}

// writeAll writes the predictions first. They show up to which seq the history was published, even
// if the log loses its tail; quarantined records do not.
func (p *publisher) writeAll(ctx context.Context, out *history.Publication, w writer) error {
	if err := write(ctx, w, p.predictions, p.partitions, out.Predictions); err != nil {
		return err
	}
	return write(ctx, w, p.quarantine, 1, out.Quarantined)
}

func write(ctx context.Context, w writer, topic string, partitions int, rs []history.Outgoing) error {
	byPartition := make([][]ingest.Record, partitions)
	for _, r := range rs {
		i := int(r.Partition) % partitions
		byPartition[i] = append(byPartition[i], r.Record)
	}
	for i, rs := range byPartition {
		if len(rs) == 0 {
			continue
		}
		if err := w(ctx, topic, i, rs); err != nil {
			return err
		}
	}
	return nil
}

// done returns the seq up to which everything is acknowledged.
func (p *publisher) done() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.published
}

// await returns once everything up to seq is acknowledged.
func (p *publisher) await(ctx context.Context, seq int64) error {
	for {
		p.mu.Lock()
		released, waiting := p.published, p.waiting
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
