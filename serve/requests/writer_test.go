package requests

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// fake is a Writer of a topic that accepts what arrives on release.
type fake struct {
	*Writer
	release chan error
	stored  []string // ids
	states  []error  // of Writing
}

func newFake(t *testing.T) *fake {
	f := &fake{release: make(chan error)}
	f.Writer = New(Config{
		Topic: "requests", Wait: time.Second,
		Writing: func(err error) { f.states = append(f.states, err) },
	})
	f.partitions, f.limit = 3, 1000
	f.publish = func(ctx context.Context, partition int, rs []ingest.Record) error {
		select {
		case err := <-f.release:
			if err == nil {
				for _, r := range rs {
					f.stored = append(f.stored, string(r.Key))
				}
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.serve(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return f
}

func request(id string, size int) *Request {
	return &Request{ID: id, Rows: []Row{{Value: []byte(strings.Repeat("x", size))}}}
}

func (f *fake) start(r *Request) chan error {
	out := make(chan error, 1)
	go func() { out <- f.Write(context.Background(), r) }()
	synctest.Wait()
	return out
}

// A request is acknowledged, or refused in time: one that is being written may be in the
// topic, and one that waits is not, and will not be.
func TestRequestsAreAcknowledgedOrRefusedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		first := f.start(request("a", 10))
		select {
		case err := <-first:
			t.Fatalf("answered before the acknowledgement: %v", err)
		default:
		}
		second := f.start(request("b", 10))
		f.release <- nil
		if err := <-first; err != nil {
			t.Error(err)
		}
		f.release <- nil
		if err := <-second; err != nil {
			t.Error(err)
		}

		written, waits := f.start(request("c", 10)), f.start(request("d", 10))
		time.Sleep(f.config.Wait)
		if err := <-written; !errors.Is(err, ErrLate) {
			t.Errorf("a request that is being written: %v, want %v", err, ErrLate)
		}
		if err := <-waits; !errors.Is(err, ErrDropped) {
			t.Errorf("a request that waits: %v, want %v", err, ErrDropped)
		}
		f.release <- errors.New("not authorized")
		synctest.Wait()
		if err := <-f.startAndWait(request("e", 10)); !errors.Is(err, ErrDropped) || !strings.Contains(err.Error(), "not authorized") {
			t.Errorf("while the topic cannot be written: %v", err)
		}
		f.release <- nil // c, again
		last := f.start(request("f", 10))
		f.release <- nil
		if err := <-last; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got, want := fmt.Sprint(f.stored), "[a b c f]"; got != want {
			t.Errorf("stored %s, want %s", got, want)
		}
		if f.bytes != 0 || len(f.pending) != 0 {
			t.Errorf("%d bytes and %d requests remain", f.bytes, len(f.pending))
		}
		if n := len(f.states); n == 0 || f.states[n-1] != nil {
			t.Errorf("reported %v, want that the topic can be written at last", f.states)
		}
	})
}

func (f *fake) startAndWait(r *Request) chan error {
	out := f.start(r)
	time.Sleep(f.config.Wait)
	return out
}

// What waits is bounded, and a record that the topic would not accept is not one that waits.
func TestWhatWaitsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		if err := f.Write(t.Context(), request("a", 1000)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a record above the limit: %v", err)
		}
		f.limit = MaxBuffered
		first := f.start(request("b", MaxBuffered-1000))
		began := time.Now()
		if err := f.Write(t.Context(), request("c", 2000)); !errors.Is(err, ErrDropped) || time.Since(began) > 0 {
			t.Errorf("above the bound: %v, after %v", err, time.Since(began))
		}
		f.release <- nil
		if err := <-first; err != nil {
			t.Error(err)
		}
		after := f.start(request("d", 2000))
		f.release <- nil
		if err := <-after; err != nil {
			t.Errorf("once there is room again: %v", err)
		}
	})
}

// The values are those of UtilsTest in Apache Kafka.
func TestPartitionsAreThoseOfKafkasClients(t *testing.T) {
	for key, want := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string": -1486304829, "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107,
	} {
		if got := int32(murmur2([]byte(key))); got != want {
			t.Errorf("murmur2(%q) = %d, want %d", key, got, want)
		}
	}
}

// Each row is a record of its own, with the row as its value, and an id that is unique.
func TestRowsAreRecordsOfTheTopic(t *testing.T) {
	client := kafkatest.Client(t)
	topic := kafkatest.Name("requests")
	w := New(Config{Client: client, Topic: topic, Wait: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	at := time.UnixMilli(1700000000123)
	trace := []ingest.Header{{Key: "traceparent", Value: []byte("00-1-2-00")}}
	q := &Request{ID: "q", List: true, Time: at, Source: "/accrete/m/http", Traces: trace,
		Rows: []Row{{Value: []byte(`{"a":1}`), Prediction: []byte(`{"prediction":1}`)}, {Key: []byte("mine"), Value: []byte(`{"a":2}`)}}}
	if err := w.Write(ctx, q); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-done
	got := kafkatest.Read(t, client, topic)
	if len(got) != 2 {
		t.Fatalf("%d records, want 2", len(got))
	}
	for i, r := range got {
		h := map[string]string{}
		for _, x := range r.Headers {
			h[x.Key] = string(x.Value)
		}
		id, key := q.RowID(i), []string{"q-0", "mine"}[i]
		if string(r.Key) != key || string(r.Value) != fmt.Sprintf(`{"a":%d}`, i+1) || r.Time != at.UnixMilli() {
			t.Errorf("record %d: key %s, value %s, time %d", i, r.Key, r.Value, r.Time)
		}
		if h["ce_id"] != id || h["ce_source"] != "/accrete/m/http" || h["ce_time"] != "2023-11-14T22:13:20.123Z" || h["traceparent"] != "00-1-2-00" || h[PredictionHeader] != string(q.Rows[i].Prediction) {
			t.Errorf("record %d: headers %v", i, h)
		}
	}
}
