package watchdog

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The watchdog measures the time since the last mini-batch while the learner learns,
// and none at rest.
func TestWatchdogMeasuresLearningOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = time.Minute
		var p Pulse
		stopped := p.Stopped(t.Context(), limit)
		quiet := func(what string, d time.Duration) {
			t.Helper()
			select {
			case <-stopped:
				t.Fatalf("it stopped %s", what)
			case <-time.After(d):
			}
		}
		quiet("before the first mini-batch", time.Hour)
		for range 100 {
			p.Beat()
			quiet("between mini-batches", limit-time.Second)
		}
		p.Rest()
		quiet("at rest", time.Hour)
		p.Beat()
		last := time.Now()
		<-stopped
		if took := time.Since(last); took <= limit || took > limit+limit/2 {
			t.Errorf("it stopped %v after the last mini-batch, want soon after %v", took, limit)
		}
	})
}

// The watchdog does not read the wall clock, which may be set forward.
func TestWatchdogReadsAMonotonicClock(t *testing.T) {
	if !strings.Contains(began.String(), " m=") {
		t.Errorf("%v has no monotonic reading, so that time.Since takes that of the wall clock", began)
	}
	first := monotonic()
	if most := int64(time.Since(began)) + 1; first <= 0 || first > most {
		t.Errorf("%d ns, want at most the %d since the start of the process", first, most)
	}
	if second := monotonic(); second < first {
		t.Errorf("%d ns, after %d", second, first)
	}
}
