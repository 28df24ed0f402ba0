package ranking

import "math"

// bins is the number of bins of equal width in the calibration error, as in Guo et al. (2017, On
// Calibration of Modern Neural Networks, equation 3).
const bins = 15

// leastProbability bounds the log loss of a row.
const leastProbability = 1e-15

// calibration accumulates how well probabilities agree with the classes that occur.
type calibration struct {
	loss float64 // sum of the weighted log losses

	// By bin of the largest probability of a row: the weights of all rows, the weights of the rows
	// for which it is the probability of their class, and the sums of the weighted probabilities.
	rows, right, sure [bins]float64
}

// add adds a row of the given class. p has the probabilities of the classes, in which that of a new
// class may be missing.
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

// error returns the expected calibration error of rows with the total weight: the weighted mean
// over the bins of the difference between the share of correct predictions and their mean
// probability.
func (c *calibration) error(total float64) (e float64) {
	for b, n := range c.rows {
		if n > 0 {
			e += math.Abs(c.right[b]-c.sure[b]) / total
		}
	}
	return e
}
