package ingest

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

func TestBackoffGrowsOnlyWhileNobodyAnswers(t *testing.T) {
	silence := fmt.Errorf("%w at a:1", ErrUnreachable)
	var b Backoff
	within := func(what string, err error, most time.Duration) {
		t.Helper()
		if d := b.next(err); d <= most/2 || d > most {
			t.Errorf("%s: %v, want in (%v, %v]", what, d, most/2, most)
		}
	}
	for i, most := range []time.Duration{100, 200, 400, 800, 1600, 2000, 2000} {
		within(fmt.Sprintf("silence %d", i+1), silence, most*time.Millisecond)
	}
	for range 100 {
		b.next(silence)
	}
	within("a long silence", silence, 2*time.Second)
	for _, err := range []error{io.ErrUnexpectedEOF, answer(kafka.NotLeaderForPartition), answer(kafka.GroupLoadInProgress), nil} {
		within(fmt.Sprintf("after silence, %v", err), err, 100*time.Millisecond)
		within("silence again", silence, 200*time.Millisecond)
		within("silence again", silence, 400*time.Millisecond)
	}
}
