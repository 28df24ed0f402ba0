package ranking

import "math"

// bins is the number of bins of equal width of the calibration error, as Guo et al. (2017,
// On Calibration of Modern Neural Networks, equation 3) have them.
const bins = 15

// leastProbability bounds the log loss of a row.
const leastProbability = 1e-15

// calibration accumulates how well probabilities agree with what happens.
type calibration struct {
	loss float64 // sum of the weighted log losses

	// By bins of the probability of the most probable class: the weights of the rows, of
	// those whose class it is, and the sums of the weighted probabilities.
	rows, right, sure [bins]float64
}

// add takes in a row whose classes have the probabilities p, which may lack its class.
func (c *calibration) add(p []float64, class int, weight float64) {
	top, sure, own := 0, 0.0, 0.0
	for j, v := range p {
		if v > sure {
			top, sure = j, v
		}
	}
	if class < len(p) {
		own = p[class]
	}
	c.loss -= float64(weight * math.Log(max(own, leastProbability)))
	b := min(bins-1, int(sure*bins))
	c.rows[b] += weight
	c.sure[b] += float64(weight * sure)
	if top == class {
		c.right[b] += weight
	}
}

// error returns the expected calibration error of rows with the weight total: the mean
// difference between the share of right predictions and their mean probability in a bin.
func (c *calibration) error(total float64) (e float64) {
	for b, n := range c.rows {
		if n > 0 {
			e += math.Abs(c.right[b]-c.sure[b]) / total
		}
	}
	return e
}
