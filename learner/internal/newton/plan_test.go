package newton

import (
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// TestMoreEffortHasMore: a larger effort never has fewer visits, rows, members or
// averages, and every plan is one that steps can follow.
func TestMoreEffortHasMore(t *testing.T) {
	last := planOfEffort(1)
	for e := 2; e <= 1024; e++ {
		p := planOfEffort(e)
		if p.visits <= last.visits || p.length < last.length || len(p.members) < len(last.members) || p.averaged < last.averaged {
			t.Errorf("effort %d has less than %d: %+v, %+v", e, e-1, p, last)
		}
		if p.length < minWindow || p.length > windowRows || p.averaged > len(p.members) {
			t.Errorf("effort %d: %+v", e, p)
		}
		last = p
	}
}

func TestNoisyLabelsNeedLessEffort(t *testing.T) {
	for lambda, want := range map[float64]int{1e-6: rowVisitsPerExample, 1e-3: rowVisitsPerExample, 1e-2: noisyEffort, 1: noisyEffort} {
		p := engine.Problem{Fit: &warmup.Fit{Lambda: lambda}, Options: engine.Options{Effort: engine.AutoEffort}}
		if got := effort(&p); got != want {
			t.Errorf("penalty %v: effort %d, want %d", lambda, got, want)
		}
		p.Options.Sparing = true
		if got := effort(&p); got != rowVisitsPerExample {
			t.Errorf("penalty %v, sparing: effort %d, want %d", lambda, got, rowVisitsPerExample)
		}
		if p.Options.Effort = 7; effort(&p) != 7 {
			t.Errorf("penalty %v: effort %d, want the one given", lambda, effort(&p))
		}
	}
}
