package history

import (
	"fmt"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
)

// Records are in the order of their times, those of one span in their own order, and of several at the
// same time those of the first span first.
func TestTheOrderOfABatchFollowsFromItsSpans(t *testing.T) {
	span := func(partition int32, times ...int64) input.Span {
		sp := input.Span{In: &input.Partition{Partition: partition}}
		for i, at := range times {
			sp.Records = append(sp.Records, ingest.Record{Offset: int64(i), Time: at})
		}
		return sp
	}
	spans := []input.Span{span(0, 2, 1, 5), span(1), span(2, 2, 2, 5)}
	for byTime, want := range map[bool]string{false: "0/0 0/1 0/2 2/0 2/1 2/2 ", true: "0/0 0/1 2/0 2/1 0/2 2/2 "} {
		got := ""
		for in, r := range inOrder(spans, byTime) {
			got += fmt.Sprintf("%d/%d ", in.Partition, r.Offset)
		}
		if got != want {
			t.Errorf("by time %v: %s, want %s", byTime, got, want)
		}
	}
}
