package input

import (
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
)

func TestBatchEndsAtItsBytes(t *testing.T) {
	const n, each = 40, 1 << 19 // 20 MB
	rs := make([]ingest.Record, n)
	for i := range rs {
		rs[i] = ingest.Record{Offset: int64(i), Value: make([]byte, each)}
	}
	in := &Partition{Topic: "in"}
	s := NewSource(nil, Partitions{in}, nil, false, ingest.NewBudget(1<<30), func(event.Event) {})
	s.feeds[0].fetch = ingest.Fetched{Records: rs, Next: n}
	s.open = 0
	for at := int64(0); at < n; {
		spans, _, err := s.Take(t.Context(), 1000, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(spans[0].Records); spans[0].From != at || got > (8<<20)/each+1 {
			t.Fatalf("%d records from %d on", got, spans[0].From)
		}
		at = spans[0].To
	}
}
