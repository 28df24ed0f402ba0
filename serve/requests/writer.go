package requests

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
)

// MaxBuffered is the maximum total size in bytes of the records that wait for
// acknowledgement.
const MaxBuffered = 64 << 20

// Errors of Write. After ErrDropped, the rows are not in the topic and never will be. After
// ErrLate, they may be in the topic already or later.
var (
	ErrDropped  = errors.New("the request was not written to the topic of requests")
	ErrLate     = errors.New("the topic of requests has not acknowledged the request in time")
	ErrTooLarge = errors.New("too large for the topic of requests")
)

// Config configures a Writer.
type Config struct {
	Client *ingest.Client
	Topic  string
	Wait   time.Duration // how long Write waits for the acknowledgement

	// Outcome, if not nil, is called after each request with its number of rows and nil,
	// ErrDropped or ErrLate. Writing, if not nil, is called with an error while the topic
	// cannot be written, and with nil once it can be written again. Writing is called by one
	// goroutine at a time and must not call the Writer.
	Outcome func(rows int, err error)
	Writing func(error)
}

// Writer writes requests to a topic. All requests that arrive while the brokers have yet to
// acknowledge the previous ones are written together.
type Writer struct {
	config  Config
	publish func(ctx context.Context, partition int, rs []ingest.Record) error // see open
	wake    chan struct{}

	mu         sync.Mutex
	pending    []*entry
	bytes      int   // size of the records in pending and of those being written
	partitions int   // 0: not known yet
	limit      int   // max.message.bytes of the topic
	trouble    error // why the topic cannot be written; nil if it can
	attempts   int   // number of attempts to write that have ended
	closed     bool
}

// entry is a request that waits.
type entry struct {
	records []ingest.Record
	bytes   int
	taken   bool          // it is being written
	done    chan struct{} // closed once it is acknowledged
}

// New returns a Writer. It writes only while Run is running.
func New(c Config) *Writer {
	return &Writer{config: c, wake: make(chan struct{}, 1)}
}

// Write queues a request, and returns nil once all of its rows are acknowledged.
func (w *Writer) Write(ctx context.Context, r *Request) error {
	e := &entry{records: r.records(), done: make(chan struct{})}
	err := w.add(e)
	if err == nil {
		late := time.NewTimer(w.config.Wait)
		defer late.Stop()
		select {
		case <-e.done:
		case <-late.C:
			err = w.abandon(e)
		case <-ctx.Done():
			err = w.abandon(e)
		}
	}
	if w.config.Outcome != nil && !errors.Is(err, ErrTooLarge) {
		w.config.Outcome(len(r.Rows), err)
	}
	return err
}

func (w *Writer) add(e *entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range e.records {
		n := e.records[i].Size()
		if w.limit > 0 && n > w.limit {
			return fmt.Errorf("row %d takes %d bytes: %w, which accepts %d (max.message.bytes)", i, n, ErrTooLarge, w.limit)
		}
		e.bytes += n
	}
	switch {
	case w.closed:
		return fmt.Errorf("%w: the program ends", ErrDropped)
	case w.bytes+e.bytes > MaxBuffered:
		return fmt.Errorf("%w: requests of %d bytes wait for it%s", ErrDropped, w.bytes, w.why())
	}
	w.bytes += e.bytes
	w.pending = append(w.pending, e)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return nil
}

// why returns the trouble as the end of an error message. The caller holds mu.
func (w *Writer) why() string {
	if w.trouble == nil {
		return ""
	}
	return ": " + w.trouble.Error()
}

// abandon stops waiting for e. If writing e has not begun yet, e is dropped.
func (w *Writer) abandon(e *entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-e.done:
		return nil
	default:
	}
	if e.taken {
		return fmt.Errorf("%w%s", ErrLate, w.why())
	}
	if i := slices.Index(w.pending, e); i >= 0 {
		w.pending = slices.Delete(w.pending, i, i+1)
		w.bytes -= e.bytes
	}
	return fmt.Errorf("%w%s", ErrDropped, w.why())
}

// Run writes requests until ctx is done. Requests that are still waiting then are not written.
func (w *Writer) Run(ctx context.Context) {
	defer w.close()
	for w.open(ctx) != nil {
		if !pause(ctx) {
			return
		}
	}
	w.serve(ctx)
}

// serve writes requests once the topic is open.
func (w *Writer) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		batch := w.take()
		if len(batch) == 0 {
			continue
		}
		for _, part := range w.parts(batch) {
			for {
				if w.write(ctx, part) == nil {
					break
				}
				if !pause(ctx) {
					return
				}
			}
		}
		w.finish(batch)
	}
}

// slowAfter is the time after which an attempt to write is reported as trouble. It is also the
// pause between attempts after an error that Publish does not retry by itself.
const slowAfter = time.Second

func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(slowAfter):
		return true
	}
}

// Create creates a topic of requests unless it exists.
func Create(ctx context.Context, client *ingest.Client, topic string) error {
	return client.CreateDurable(ctx, topic, 0, map[string]string{"cleanup.policy": "delete"})
}

// open creates the topic unless it exists, and learns its limits.
func (w *Writer) open(ctx context.Context) error {
	c := w.config
	err := Create(ctx, c.Client, c.Topic)
	var t ingest.Topic
	if err == nil {
		t, err = record.OutputTopic(ctx, c.Client, c.Topic)
	}
	if err != nil {
		w.report(err)
		return err
	}
	producer := c.Client.Producer()
	producer.Smaller = record.Smaller(c.Topic) // if the limit of the topic is lowered
	w.mu.Lock()
	defer w.mu.Unlock()
	w.partitions, w.limit = t.Partitions, t.MaxMessageBytes
	w.publish = func(ctx context.Context, partition int, rs []ingest.Record) error {
		return producer.Publish(ctx, c.Topic, partition, rs)
	}
	w.reportLocked(nil)
	return nil
}

// write makes one attempt to write p. Publish retries temporary errors within the attempt.
func (w *Writer) write(ctx context.Context, p part) error {
	w.mu.Lock()
	attempt := w.attempts
	w.mu.Unlock()
	slow := time.AfterFunc(slowAfter, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.attempts == attempt {
			w.reportLocked(errors.New("brokers do not acknowledge records"))
		}
	})
	defer slow.Stop()
	err := w.publish(ctx, p.index, p.records)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attempts++
	if ctx.Err() == nil {
		w.reportLocked(err)
	}
	return err
}

// report stores err, the reason for which the topic cannot be written, or nil if it can, and
// passes it on to Writing.
func (w *Writer) report(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reportLocked(err)
}

func (w *Writer) reportLocked(err error) {
	changed := (w.trouble == nil) != (err == nil)
	w.trouble = err
	if w.config.Writing != nil && (changed || err != nil) {
		w.config.Writing(err)
	}
}

func (w *Writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}
