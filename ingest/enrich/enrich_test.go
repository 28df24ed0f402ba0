package enrich

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

func TestMain(m *testing.M) {
	kafkatest.Prepare(1)
	m.Run()
}

// customers is a topic with rows 0 to n-1, and the options of its table.
func customers(t *testing.T, c *ingest.Client, n int) []table.Config {
	t.Helper()
	topic := kafkatest.Name("customers")
	kafkatest.Fill(t, c, topic, 1, nil)
	var rs []ingest.Record
	for i := range n {
		rs = append(rs, ingest.Record{Key: fmt.Append(nil, i), Value: fmt.Appendf(nil, `{"tier":%d}`, i)})
	}
	if n > 0 {
		if err := c.Producer().Publish(t.Context(), topic, 0, rs); err != nil {
			t.Fatal(err)
		}
	}
	return []table.Config{{Topic: topic, Key: "id", Fields: []string{"tier"}, Rows: 1000}}
}

// caughtUp reads up to the end that the topics had, and returns the numbers of the rows, in
// their order.
func caughtUp(t *testing.T, r *Rows) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ready, read := context.WithCancel(ctx)
	ended := make(chan bool)
	running, end := context.WithCancel(ctx)
	go func() { r.Run(running, read); close(ended) }()
	<-ready.Done()
	if ctx.Err() != nil {
		t.Fatal("it waits for records that will not come")
	}
	end()
	<-ended
	var keys []string
	for i := range 20 {
		if key := fmt.Sprint(i); r.tables.All[0].Row([]byte(key)) != "" {
			keys = append(keys, key)
		}
	}
	return strings.Join(keys, " ")
}

func newRows(t *testing.T, c *ingest.Client, all []table.Config) *Rows {
	return NewRows(Config{Client: c, MaxBytes: 1 << 20, Retrying: func(error) {}, Rejected: func(r Rejected) { t.Errorf("rejected: %+v", r) }, Missing: func(Missing) {}}, all)
}

// A reader whose backlog is deleted, or truncated, while it reads it has caught up with what is
// left.
func TestABacklogThatIsGoneIsNotWaitedFor(t *testing.T) {
	c := kafkatest.Client(t)
	for _, test := range []struct {
		what   string
		change func(topic string, p *part)
		want   string
	}{
		{what: "nothing happens", change: func(string, *part) {}, want: "0 1 2 3 4 5"},
		{what: "some records are deleted", want: "4 5", change: func(topic string, _ *part) {
			if err := c.DeleteRecords(t.Context(), topic, 0, 4); err != nil {
				t.Error(err)
			}
		}},
		{what: "all records are deleted", change: func(topic string, _ *part) {
			if err := c.DeleteRecords(t.Context(), topic, 0, 6); err != nil {
				t.Error(err)
			}
		}},
		// The partition had more, of which some was read.
		{what: "truncated after what was read", want: "4 5", change: func(_ string, p *part) { p.next, p.taken, p.end, p.last = 4, 4, 12, 12 }},
		{what: "truncated to what was read", change: func(_ string, p *part) { p.next, p.taken, p.end, p.last = 6, 6, 12, 12 }},
		{what: "truncated before what was read", want: "any", change: func(_ string, p *part) { p.next, p.taken, p.end, p.last = 8, 8, 12, 12 }},
	} {
		t.Run(test.what, func(t *testing.T) {
			all := customers(t, c, 6)
			r := newRows(t, c, all)
			if err := r.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			test.change(all[0].Topic, r.reader.topics[0].parts[0])
			if got := caughtUp(t, r); got != test.want && test.want != "any" { // those that are there are read again, later
				t.Errorf("it has rows %q, want %q", got, test.want)
			}
		})
	}
}

// Changes continue where those before end, also where compaction or retention has deleted what
// comes next while nobody read it: an auditor can tell that none of them is left out.
func TestDeletedRecordsLeaveNoHoleInTheChanges(t *testing.T) {
	c := kafkatest.Client(t)
	for _, to := range []int64{4, 6} { // of 6
		all := customers(t, c, 6)
		id, _, err := c.Partitions(t.Context(), all[0].Topic)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.DeleteRecords(t.Context(), all[0].Topic, 0, to); err != nil {
			t.Fatal(err)
		}
		tables := table.New(all)
		tables.Apply([]table.Changes{{Table: all[0].Name(), TopicID: id, To: 1}})
		r, err := Open(t.Context(), newRows(t, c, all).config, tables)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var reading sync.WaitGroup
		reading.Go(func() {
			if err := r.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		next := int64(1)
		for !r.CaughtUp() {
			if err := r.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, change := range r.Take(1 << 20) {
				if change.From != next {
					t.Errorf("records [%d, %d) come after those up to %d", change.From, change.To, next)
				}
				next = change.To
			}
		}
		stop()
		reading.Wait()
		if next != 6 {
			t.Errorf("it has read up to %d, want 6", next)
		}
	}
}

// A partition that was truncated while nobody read it is read again before it counts as read.
func TestATruncatedTopicIsReadAgainFirst(t *testing.T) {
	c := kafkatest.Client(t)
	all := customers(t, c, 3)
	id, _, err := c.Partitions(t.Context(), all[0].Topic)
	if err != nil {
		t.Fatal(err)
	}
	r := newRows(t, c, all)
	r.tables.Apply([]table.Changes{{Table: all[0].Name(), TopicID: id, To: 20, Rows: []table.Row{{Key: "2", Values: "[9]"}, {Key: "7", Values: "[7]"}}}})
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := caughtUp(t, r), "0 1 2 7"; got != want {
		t.Errorf("it has rows %q, want %q", got, want)
	}
	if got := r.tables.All[0].Row([]byte("2")); got != "[2]" {
		t.Errorf("row 2 is %s, want [2], as it is in the topic now", got)
	}
	if _, next := r.tables.All[0].Next(0); next != 3 {
		t.Errorf("it continues at offset %d, want 3", next)
	}
}

// Of a partition that was truncated to nothing, the rows to come are read from the first one,
// also by a reader that starts after them.
func TestATopicThatIsEmptyAgainIsReadFromItsBeginning(t *testing.T) {
	c := kafkatest.Client(t)
	all := customers(t, c, 0)
	id, _, err := c.Partitions(t.Context(), all[0].Topic)
	if err != nil {
		t.Fatal(err)
	}
	r := newRows(t, c, all)
	r.tables.Apply([]table.Changes{{Table: all[0].Name(), TopicID: id, To: 20, Rows: []table.Row{{Key: "7", Values: "[7]"}}}})
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := caughtUp(t, r), "7"; got != want {
		t.Errorf("it has rows %q, want %q", got, want)
	}
	if _, next := r.tables.All[0].Next(0); next != 0 {
		t.Errorf("it continues at offset %d, want 0", next)
	}
}

// The rows of a topic that was deleted and created again are dropped, also while the new one is
// empty.
func TestRowsOfADeletedTopicAreDropped(t *testing.T) {
	c := kafkatest.Client(t)
	for n, want := range []string{"", "0", "0 1"} {
		all := customers(t, c, n)
		r := newRows(t, c, all)
		r.tables.Apply([]table.Changes{{Table: all[0].Name(), TopicID: [16]byte{9}, To: 20, Rows: []table.Row{{Key: "7", Values: "[1]"}}}})
		if err := r.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		applied := make(chan bool, 10)
		r.Applied = func([]table.Status, []int64) { applied <- true }
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		ready, read := context.WithCancel(ctx)
		ended := make(chan bool)
		go func() { r.Run(ctx, read); close(ended) }()
		select {
		case <-applied:
		case <-ctx.Done():
			t.Fatal("nothing is applied")
		}
		<-ready.Done()
		stop()
		<-ended
		if got := r.tables.All[0]; got.Row([]byte("7")) != "" || (got.Row([]byte("0")) != "") != strings.Contains(want, "0") || (got.Row([]byte("1")) != "") != strings.Contains(want, "1") {
			t.Errorf("%d rows in the new topic: %+v, want %q", n, r.tables.Status()[0], want)
		}
	}
}

// A topic that is deleted is reported as missing until it is created again.
func TestAMissingTopicIsReportedUntilItIsBack(t *testing.T) {
	addr := kafkatest.Addr(t)
	c := kafkatest.ClientOf(t, addr, nil)
	all := customers(t, c, 1)
	r := newRows(t, c, all)
	missing := make(chan Missing, 100)
	r.config.Missing, r.config.every = func(m Missing) { missing <- m }, 20*time.Millisecond
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	if err := r.Open(ctx); err != nil {
		t.Fatal(err)
	}
	ready, read := context.WithCancel(ctx)
	ended := make(chan bool)
	go func() { r.Run(ctx, read); close(ended) }()
	defer func() { stop(); <-ended }()
	<-ready.Done()
	next := func(want bool) {
		t.Helper()
		select {
		case m := <-missing:
			if m != (Missing{all[0].Topic, want}) {
				t.Fatalf("%+v, want %v", m, want)
			}
		case <-ctx.Done():
			t.Fatalf("nothing is reported, want %v", want)
		}
	}
	kafkatest.Delete(t, addr, all[0].Topic)
	next(true)
	kafkatest.Fill(t, c, all[0].Topic, 1, nil)
	next(false)
}

// A topic that was missing is reported to be back also if the reader has ended meanwhile, because
// of another topic.
func TestATopicThatIsOpenedAgainIsBack(t *testing.T) {
	addr := kafkatest.Addr(t)
	c := kafkatest.ClientOf(t, addr, nil)
	a, b := customers(t, c, 1)[0], customers(t, c, 1)[0]
	b.As = "others"
	r := newRows(t, c, []table.Config{a, b})
	missing, failed := make(chan Missing, 100), make(chan error, 100)
	r.config.Missing, r.config.every = func(m Missing) { missing <- m }, 20*time.Millisecond
	r.config.Retrying = func(err error) { failed <- err }
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	if err := r.Open(ctx); err != nil {
		t.Fatal(err)
	}
	ready, read := context.WithCancel(ctx)
	ended := make(chan bool)
	go func() { r.Run(ctx, read); close(ended) }()
	defer func() { stop(); <-ended }()
	<-ready.Done()
	await := func(want Missing) {
		t.Helper()
		for {
			select {
			case m := <-missing:
				if m == want {
					return
				}
			case <-ctx.Done():
				t.Fatalf("%+v is not reported", want)
			}
		}
	}
	kafkatest.Delete(t, addr, a.Topic)
	await(Missing{a.Topic, true})
	kafkatest.Delete(t, addr, b.Topic)
	kafkatest.Fill(t, c, b.Topic, 1, nil)
	for !errors.Is(<-failed, ErrRenewed) {
	}
	kafkatest.Fill(t, c, a.Topic, 1, nil)
	await(Missing{a.Topic, false})
}
