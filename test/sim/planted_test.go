//go:build planted

package sim

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/planted"
)

// TestPlantedFaultsAreFound plants one fault after the other in the learner.
// For each, some schedule from -seed on must fail. With -adverse, they are the faults that
// need it. ACCRETE_PLANTED selects some of them.
func TestPlantedFaultsAreFound(t *testing.T) {
	const most = 3000 // the rarest is found about once in 150
	faults := planted.Faults
	if adversity() {
		faults = planted.Adverse
	}
	if planted.Selected != "" {
		faults = strings.Split(planted.Selected, ",")
	}
	for _, fault := range faults {
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
