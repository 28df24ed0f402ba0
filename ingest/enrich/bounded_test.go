package enrich

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// Reading pauses while as much as the queue may hold waits to be taken, and continues once it was taken.
func TestTheQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := table.Config{Topic: "customers", Key: "id", Fields: []string{"tier"}, Rows: 1000}
		r := &Reader{config: Config{MaxBytes: 1 << 20}, changed: make(chan struct{})}
		p := &part{topic: &topic{of: &c}}
		r.topics = []*topic{{of: &c, parts: []*part{p}}}
		const n = 100_000 // rows, of more bytes than the queue may have
		got := ingest.Fetched{Next: n, End: n, HighWatermark: n}
		for i := range int64(n) {
			got.Records = append(got.Records, ingest.Record{Offset: i, Key: fmt.Append(nil, i), Value: []byte(`{"tier":1}`)})
		}
		done := make(chan error, 1)
		go func() { done <- r.push(t.Context(), p, got) }()
		rows, takes := 0, 0
		for ; rows < n; takes++ {
			synctest.Wait()
			if waits := r.Pending(); waits == 0 || waits > aheadBytes+2*pieceBytes {
				t.Fatalf("%d bytes wait after %d rows, want at most %d", waits, rows, aheadBytes)
			}
			for _, change := range r.Take(aheadBytes) {
				rows += len(change.Rows)
			}
		}
		if err := <-done; err != nil || takes < 3 {
			t.Errorf("taken in %d turns, %v", takes, err)
		}
	})
}

// The topic of a table may have more bytes than may be in memory at a time.
func TestATopicLargerThanTheBudgetIsRead(t *testing.T) {
	c := kafkatest.Client(t)
	all := customers(t, c, 0)
	const n = fetchBytes/(64<<10) + 50
	var rs []ingest.Record
	for i := range n {
		rs = append(rs, ingest.Record{Key: fmt.Append(nil, i), Value: fmt.Appendf(nil, `{"tier":1,"pad":%q}`, strings.Repeat("x", 64<<10))})
	}
	if err := c.Producer().Publish(t.Context(), all[0].Topic, 0, rs); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tables, err := Load(ctx, Config{Client: c, MaxBytes: 1 << 20, Retrying: func(error) {}, Rejected: func(r Rejected) { t.Errorf("%+v", r) }}, all)
	if err != nil {
		t.Fatal(err)
	}
	if rows := tables.Status()[0].Rows; rows != n {
		t.Errorf("%d rows, want %d", rows, n)
	}
}
