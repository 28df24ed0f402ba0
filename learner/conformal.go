package learner

import "cmp"

// Conformal learns the width of intervals that contain a given share of the labels, for
// any distribution, which may change. Radius, in standard deviations of the prediction,
// rises after a label outside and falls after one inside, so that on any stream the
// share of labels outside tends to 1 - Coverage (Gibbs and Candès 2021, as the quantile
// tracker of Angelopoulos, Candès and Tibshirani 2023). The zero value is ready, with
// intervals of width 0. It is for one goroutine.
type Conformal struct {
	Coverage float64 // share of the labels inside; 0 selects 0.9
	Radius   float64 // of the interval: predictions ± Radius standard deviations
}

// conformalRate is the largest change of Radius for one row. Chosen by trial, see
// docs/constants.md.
const conformalRate = 0.05

// Add learns the distance of a label from its prediction, in standard deviations.
func (c *Conformal) Add(score float64) {
	step := cmp.Or(c.Coverage, 0.9) // outside
	if score <= c.Radius {
		step--
	}
	c.Radius = max(0, c.Radius+float64(conformalRate*step))
}
