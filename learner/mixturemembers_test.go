package learner

import (
	"fmt"
	"testing"

	"github.com/accrete-ml/accrete/learner/metric"
)

// TestMixtureGoesOnExactly: with trees, with a metric, and while members with little weight
// take fewer steps, restoring changes no bit, and the model predicts what the learner says that
// a scorer does.
func TestMixtureGoesOnExactly(t *testing.T) {
	m := metricOf(t, metric.File{Columns: columnsOf(2), Center: metric.Numbers{0, 0}, Scale: metric.Numbers{1, 1}, Shared: metric.Numbers{2, 0, 0, 1}})
	small := Config{Mixture: true, BlockSize: 8, MaxFeatures: 16}
	trees, learned := small, small
	trees.Forest, learned.Metric = 3, m
	for _, s := range []struct {
		stream
		rows int
	}{
		{stream{"forest", trees, 2, numeric}, 1400},
		{stream{"metric", learned, 2, sided}, 300},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rows := s.keyedRows(s.rows)
			whole := newLearner(t, s.config)
			learn(whole, rows, s.rows)
			one := newLearner(t, s.config)
			at := 0
			for _, to := range []int{s.rows - 107, s.rows - 50, s.rows - 1} {
				learn(one, rows.Slice(at, to), 7)
				one, at = restored(t, s.config, one.State()), to
				s.comparesWithAScorer(t, one, rows.Slice(at, at+1))
			}
			learn(one, rows.Slice(at, s.rows), 1)
			sameState(t, fmt.Sprintf("restored at rows up to %d", at), one.State(), whole.State())
		})
	}
}
