package learner

import (
	"fmt"
	"slices"
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

// TestMixtureOfEarlierVersionsGoesOn: the state of arithmetic 4, whose scorers were not
// calibrated, is restored, and then predicts as it did; the calibration begins without rows.
func TestMixtureOfEarlierVersionsGoesOn(t *testing.T) {
	s := mixtures[1]
	rows := s.keyedRows(700)
	l := newLearner(t, s.config)
	learn(l, rows.Slice(0, 600), 600)
	now := l.State()
	before := State{Resuming: slices.Clone(now.Resuming)}
	for _, a := range now.Serving {
		if a.Name != "mixture.factor" {
			before.Serving = append(before.Serving, a)
		}
	}
	at := func(name string) int {
		return slices.IndexFunc(now.Resuming, func(a Array) bool { return a.Name == name })
	}
	const factor, tally = 2, 6                                    // numbers of the calibration, and of each tally
	tallied := now.Resuming[at("mixture.theta")].Shape[1] - 1 + 2 // members, the mixture and its scorers
	changed := &before.Resuming[at("mixture.rows")]
	all := slices.Clone(changed.Data.([]float64))
	end := len(all) - tally*tallied
	changed.Data, changed.Shape[1] = slices.Delete(all, end-factor, end), len(all)-factor
	r := restored(t, s.config, before)
	one, other := l.Predict(rows.Slice(600, 601)).Row(0), r.Predict(rows.Slice(600, 601)).Row(0)
	if !slices.Equal(one, other) {
		t.Errorf("the restored learner predicts %v, want %v", other, one)
	}
	learn(r, rows.Slice(600, 700), 50)
	restored(t, s.config, r.State())
}
