package quarantine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

var errBad = errors.New("columns: \"a\" is text \"b\", want a number")

// stream is an input topic of two partitions and a quarantine topic with copies of its
// records.
type stream struct {
	addr    string
	client  *ingest.Client
	in, bad string
}

// newStream returns a stream with n records in quarantine, each of them twice, as a
// learner writes them again after a crash.
func newStream(t *testing.T, addr string, n int) *stream {
	s := &stream{addr: addr, in: kafkatest.Name("in"), bad: kafkatest.Name("bad")}
	s.client = kafkatest.ClientOf(t, s.addr, nil)
	for name, partitions := range map[string]int{s.in: 2, s.bad: 1} {
		if err := s.client.Create(t.Context(), name, partitions, nil); err != nil {
			t.Fatal(err)
		}
	}
	var rs []ingest.Record
	for i := range n {
		r := &ingest.Record{Offset: int64(i), Time: time.Now().UnixMilli(), Key: fmt.Append(nil, "key", i), Value: fmt.Append(nil, i), Headers: []ingest.Header{{Key: "h", Value: []byte{byte(i)}}}}
		rs = append(rs, record.Quarantined(s.in, int32(i%2), r, errBad, record.ValuesFull, nil, 1<<20))
	}
	s.put(t, append(rs, rs...)...)
	return s
}

func (s *stream) put(t *testing.T, rs ...ingest.Record) {
	t.Helper()
	if err := s.client.Producer().Publish(t.Context(), s.bad, 0, rs); err != nil {
		t.Fatal(err)
	}
}

func (s *stream) replay(c *ingest.Client) Replay {
	return Replay{Client: c, Topic: s.bad, To: []string{s.in}, Now: time.Now, Report: func(error) {}}
}

// sent returns the values in the input topic, sorted, and fails if a record is not as it was.
func (s *stream) sent(t *testing.T) []string {
	t.Helper()
	var values []string
	for _, r := range kafkatest.Read(t, s.client, s.in) {
		v := string(r.Value)
		if string(r.Key) != "key"+v || len(r.Headers) != 2 || r.Headers[0].Key != "h" || !strings.HasPrefix(kafkatest.Header(r, sentHeader), s.bad+"/0/") {
			t.Errorf("sent %+v", r)
		}
		values = append(values, v)
	}
	slices.Sort(values)
	return values
}

func numbers(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(i))
	}
	slices.Sort(all)
	return all
}

func (s *stream) once(t *testing.T, n int) {
	t.Helper()
	if got := s.sent(t); !slices.Equal(got, numbers(n)) {
		t.Errorf("the input topic has %v, want each of %d once", got, n)
	}
}

func TestReplayWritesEachRecordOnce(t *testing.T) {
	const n = 12
	s := newStream(t, kafkatest.Addr(t), n)
	s.put(t, ingest.Record{Time: 1, Value: []byte("foreign")}, record.Quarantined("other", 0, &ingest.Record{Offset: 7, Value: []byte("x")}, errBad, record.ValuesFull, nil, 1<<20),
		record.Quarantined(s.in, 0, &ingest.Record{Offset: 99, Value: []byte(strings.Repeat("x", 9000))}, errBad, record.ValuesFull, nil, 1000))
	r := s.replay(s.client)
	r.DryRun = true
	left := map[string]int64{"no record of a learner or scorer": 1, "from topic other, which is not an input": 1, "value truncated": 1}
	check := func(sent, before, rest int64) {
		t.Helper()
		got, err := r.Run(t.Context())
		if err != nil || got.Sent[s.in] != sent || got.Before != before || got.Rest != rest || fmt.Sprint(got.Left) != fmt.Sprint(left) {
			t.Fatalf("%+v, %v; want %d sent, %d before, %d over the limit", got, err, sent, before, rest)
		}
	}
	check(n, n, 0)
	if got := s.sent(t); len(got) > 0 {
		t.Fatalf("a dry run has sent %v", got)
	}
	r.DryRun, r.Limit = false, 5
	check(5, 5, 2*n-10)
	if got := s.sent(t); len(got) != 5 {
		t.Fatalf("sent %v", got)
	}
	r.Limit = 0
	check(n-5, 5+n, 0)
	s.once(t, n)
	check(0, 2*n, 0)
	s.once(t, n)
}

// killer closes all connections of a client, at the k-th request it writes or response it
// reads.
type killer struct {
	die  func()
	left atomic.Int32
	dead atomic.Bool
	mu   sync.Mutex
	all  []net.Conn
}

func (k *killer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if k.dead.Load() {
		return nil, net.ErrClosed
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, conn)
	return &killed{conn, k}, nil
}

type killed struct {
	net.Conn
	k *killer
}

func (c *killed) step() {
	if c.k.left.Add(-1) == 0 {
		c.k.dead.Store(true)
		defer c.k.die()
		c.k.mu.Lock()
		defer c.k.mu.Unlock()
		for _, conn := range c.k.all {
			conn.Close()
		}
	}
}

func (c *killed) Write(b []byte) (int, error) {
	c.step()
	return c.Conn.Write(b)
}

func (c *killed) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.step()
	return n, err
}

// A replay is killed at every step of its input and output, and the next one sends the
// rest: every record is sent once.
func TestReplayIsExactlyOnceThroughKills(t *testing.T) {
	const n = 3
	stride := int32(1)
	if testing.Short() {
		stride = 4
	}
	addr := kafkatest.Addr(t)
	for step := int32(1); ; step += stride {
		s := newStream(t, addr, n)
		ctx, cancel := context.WithCancel(t.Context())
		k := &killer{die: cancel}
		k.left.Store(step)
		c := kafkatest.ClientOf(t, s.addr, func(c *ingest.Config) { c.DialContext = k.dial })
		context.AfterFunc(ctx, c.Close)
		first := s.replay(c)
		first.Limit = 2
		_, err := first.Run(ctx)
		cancel()
		if err != nil && !k.dead.Load() {
			t.Fatalf("step %d: %v", step, err)
		}
		if _, err := s.replay(s.client).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.once(t, n)
		if !k.dead.Load() || t.Failed() {
			t.Logf("%d steps", step)
			return
		}
	}
}

// A second replay begins while the first has read records and not sent them: the first is
// fenced, and the second, which goes on after the first has ended, sends all of them.
func TestLaterReplaySurvivesTheOneItFences(t *testing.T) {
	const n = 3
	s := newStream(t, kafkatest.Addr(t), n)
	begun, ended, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	later := s.replay(kafkatest.ClientOf(t, s.addr, nil))
	atBegin := sync.OnceFunc(func() { close(begun); <-ended })
	later.Select = func(*Entry) bool { atBegin(); return true }
	first := s.replay(s.client)
	start := sync.OnceFunc(func() {
		go func() {
			_, err := later.Run(t.Context())
			done <- err
		}()
		<-begun
	})
	first.Select = func(*Entry) bool { start(); return true }
	got, err := first.Run(t.Context())
	if !errors.Is(err, ErrFenced) || len(got.Sent) > 0 {
		t.Errorf("the first replay: %+v, %v; want %v", got, err, ErrFenced)
	}
	close(ended)
	if err := <-done; err != nil {
		t.Errorf("the later replay: %v", err)
	}
	s.once(t, n)
}
