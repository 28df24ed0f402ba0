//go:build planted

package sim

import (
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// TestPlantedFaultsAreFound plants one fault after the other in the learner.
// For each, some schedule must fail.
func TestPlantedFaultsAreFound(t *testing.T) {
	const most = 2000
	for _, fault := range slices.Concat(pipeline.Faults, kafkalog.Faults) {
		pipeline.Planted, kafkalog.Planted = fault, fault
		seed := uint64(1)
		for ; seed <= most; seed++ {
			if w := simulate(t, seed); w.violation != "" {
				t.Logf("%s: found by schedule %d: %.200s", fault, seed, w.violation)
				break
			}
		}
		if seed > most {
			t.Errorf("%s: not found in %d schedules", fault, most)
		}
	}
	pipeline.Planted, kafkalog.Planted = "", ""
}
