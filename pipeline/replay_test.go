package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A replay reads ahead within its budget, whatever the number of partitions that the
// BATCHes alternate between, and reads the same records.
func TestReplayKeepsToItsBudget(t *testing.T) {
	const partitions, each, limit = 8, 16, 5 << 20
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // or it would wait for itself
	defer cancel()
	addr, in := kafkatest.Addr(t), kafkatest.Name("in")
	c := kafkatest.ClientOf(t, addr, nil)
	z := kafkatest.ClientOf(t, addr, func(c *ingest.Config) { c.Compression, c.MaxBatchBytes = ingest.Zstd, 16<<20 })
	values := make([]string, partitions*each)
	for i := range values {
		values[i] = fmt.Sprintf("%d%s", i, strings.Repeat(" ", 2<<20/each))
	}
	kafkatest.Fill(t, z, in, partitions, values)
	ins, err := openInputs(ctx, c, []string{in})
	if err != nil {
		t.Fatal(err)
	}
	b := ingest.NewBudget(limit)
	r := newReplayer(c, ins, nil, b, func(Event) {})
	took := 0
	for from := int64(0); from < each; from += 2 {
		for p, in := range ins {
			rs, err := r.cursor(in).take(ctx, from, from+2, r.report)
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
	r.close()
	r = newReplayer(c, ins, nil, ingest.NewBudget(1), func(Event) {})
	for _, in := range ins { // each batch is read alone
		if _, err := r.cursor(in).take(ctx, 0, 1, r.report); err != nil {
			t.Fatal(err)
		}
	}
}
