package enrich

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/table"
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
