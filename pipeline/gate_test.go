package pipeline

import (
	"testing"

	"github.com/accrete-ml/accrete/pipeline/model"
)

// A snapshot passes if its metric is worse than that of the served one by no more than WorseThan.
func TestGateToleratesWhatItIsToldTo(t *testing.T) {
	for _, c := range []struct {
		worseThan, loss float64
		passes          bool
	}{{0.1, 0.9, true}, {0.1, 1.09, true}, {0.1, 1.11, false}, {0, 1, true}, {0, 1.01, false}} {
		g := &gate{config: model.GateConfig{Metric: model.GateLoss, WorseThan: c.worseThan}, sums: [][2]float64{{c.loss + 1, 0}, {c.loss - 1, 2}}}
		if v := g.verdict(); v.Passed != c.passes || v.Rows != 2 {
			t.Errorf("a loss of %v where the served snapshot has 1, worse than %v: %+v", c.loss, c.worseThan, v)
		}
	}
}
