package input

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// Cursors read ahead within their budget, whatever the number of partitions that the
// BATCHes alternate between, and read the same records.
func TestCursorsKeepToTheirBudget(t *testing.T) {
	const partitions, each, limit = 8, 16, 5 << 20
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // or it would wait for itself
	defer cancel()
	addr, in := kafkatest.Addr(t), kafkatest.Name("in")
	c := kafkatest.ClientOf(t, addr, nil)
	z := kafkatest.ClientOf(t, addr, func(c *ingest.Config) { c.Compression, c.MaxBatchBytes = ingest.Zstd, 16<<20 })
	values := make([]string, partitions*each)
	for i := range values {
		values[i] = fmt.Sprintf("%d%s", i, strings.Repeat(" ", 2<<20/each))
	}
	kafkatest.Fill(t, z, in, partitions, values)
	ins, err := Open(ctx, c, []string{in})
	if err != nil {
		t.Fatal(err)
	}
	b := ingest.NewBudget(limit)
	r := NewCursors(c, b)
	took := 0
	for from := int64(0); from < each; from += 2 {
		for p, in := range ins {
			rs, err := r.Take(ctx, in, from, from+2, func(event.Event) {})
			if err != nil || len(rs) != 2 {
				t.Fatalf("%d records of partition %d from %d on, %v", len(rs), p, from, err)
			}
			for i := range rs {
				if want := values[(int(from)+i)*partitions+p]; string(rs[i].Value) != want {
					t.Fatalf("record %d of partition %d is %.20q, want %.20q", from, p, rs[i].Value, want)
				}
				took++
			}
		}
	}
	if most := b.Most(); took != len(values) || most > limit || most < 4<<20 {
		t.Errorf("%d records of %d, %d bytes at one time, want at most %d", took, len(values), most, limit)
	}
	r.Close()
	r = NewCursors(c, ingest.NewBudget(1))
	for _, in := range ins { // each batch is read alone
		if _, err := r.Take(ctx, in, 0, 1, func(event.Event) {}); err != nil {
			t.Fatal(err)
		}
	}
}
