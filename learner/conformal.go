package learner

import "cmp"

// Conformal learns how wide intervals must be to hold a share of the labels,
// whatever their distribution and though it changes: Radius, in standard
// deviations of the prediction, goes up where a label was outside and down where
// it was inside, so that on any stream the share of those outside tends to
// 1 - Coverage (Gibbs and Candès 2021, as the quantile tracker of Angelopoulos,
// Candès and Tibshirani 2023). Its zero value is ready, with intervals of no
// width. It is for one goroutine.
type Conformal struct {
	Coverage float64 // share of the labels that is to be inside: 0.9
	Radius   float64 // of the interval: predictions ± Radius standard deviations
}

// conformalRate is how far Radius goes at most for one row.
const conformalRate = 0.05

// Add learns how many standard deviations a label was from its prediction.
func (c *Conformal) Add(score float64) {
	step := cmp.Or(c.Coverage, 0.9) // outside
	if score <= c.Radius {
		step--
	}
	c.Radius = max(0, c.Radius+float64(conformalRate*step))
}
