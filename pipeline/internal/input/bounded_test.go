package input

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A Source reads any number of records within a small budget, and none at or after its ends.
func TestASourceReadsMoreThanItsBudget(t *testing.T) {
	const n, end, budget = 60, 51, 64 << 10 // the end is inside a batch
	c, topic := kafkatest.ClientOf(t, kafkatest.Addr(t), func(c *ingest.Config) { c.MaxFetchBytes = 16 << 10 }), kafkatest.Name("in")
	values := make([]string, n)
	for i := range values {
		values[i] = strings.Repeat("x", 8<<10)
	}
	for i := 0; i < n; i += 2 { // batches of two
		kafkatest.Fill(t, c, topic, 1, values[i:i+2])
	}
	ins, err := Open(t.Context(), c, []string{topic})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := NewSource(c, ins, []int64{end}, false, ingest.NewBudget(budget), func(event.Event) {})
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	took, next := 0, int64(0)
	for {
		spans, _, err := s.Take(ctx, 5, 0)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("after %d records: %v", took, err)
		}
		for _, sp := range spans {
			if sp.From != next || len(sp.Records) > 5 {
				t.Errorf("%d records from %d on, want at most 5 from %d on", len(sp.Records), sp.From, next)
			}
			took, next = took+len(sp.Records), sp.To
		}
	}
	if took != end || next != end {
		t.Errorf("%d records up to offset %d, want %d", took, next, end)
	}
	<-done
}

// A topic that is created again with fewer partitions, after its partitions were listed, is noticed.
func TestATopicWithFewerPartitionsIsAnotherOne(t *testing.T) {
	c, topic := kafkatest.Client(t), kafkatest.Name("in")
	kafkatest.Fill(t, c, topic, 1, []string{"x"})
	ins, err := Open(t.Context(), c, []string{topic})
	if err != nil {
		t.Fatal(err)
	}
	more := *ins[0]
	more.Partition = 1
	ins = append(ins, &more)
	report := func(event.Event) {}
	if _, err := ins.Ends(t.Context(), c, report); !errors.Is(err, ErrRecreated) {
		t.Errorf("its ends: %v", err)
	}
	if err := ins.Seek(t.Context(), c, nil, report); !errors.Is(err, ErrRecreated) {
		t.Errorf("the start: %v", err)
	}
}
