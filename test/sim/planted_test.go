//go:build planted

package sim

import (
	"flag"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/planted"
)

var half = flag.Int("part", 0, "plant every other fault only: 1, from the first one on, or 2, from the second; 0: all")

// TestPlantedFaultsAreFound plants one fault after the other in the learner.
// For each, some schedule from -seed on must fail. With -adverse, they are the faults that
// need it. ACCRETE_PLANTED selects some of them, and -part a half.
func TestPlantedFaultsAreFound(t *testing.T) {
	const most = 3000 // the rarest is found about once in 150
	faults := planted.Faults
	if adversity() {
		faults = planted.Adverse
	}
	if planted.Selected != "" {
		faults = strings.Split(planted.Selected, ",")
	}
	for i, fault := range faults {
		if *half > 0 && i%2 != *half-1 {
			continue
		}
		planted.Selected = fault
		n, first := uint64(1), max(1, *seed)
		for ; n <= most; n++ {
			if w := simulate(t, first+n-1); w.violation != "" {
				t.Logf("%s: found by schedule %d: %.200s", fault, n, w.violation)
				break
			}
		}
		if n > most {
			t.Errorf("%s: not found in %d schedules", fault, most)
		}
	}
	planted.Selected = ""
}
