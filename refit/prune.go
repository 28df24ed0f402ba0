package refit

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
)

// A refit that prunes minimises
//
//	1/n Σ w_i φ_i + λ/2 ‖x‖² + λ₁ Σ_j ‖x_j‖,
//
// where x_j has the coefficients of random feature j: those of its cosine and its sine, for all
// scores. This is the group lasso (Yuan and Lin 2006) in addition to the ridge. λ₁ is a share of
// the smallest penalty that sets all x_j to 0. λ₁ does not penalise the intercepts.

// groupLoss is the loss of a row over all of its scores: the sum of the loss each of every score,
// or the multinomial loss if each is nil.
type groupLoss struct{ each loss.Dual }

// gradient replaces the scores g of a row by the gradient of the loss at them, and returns the
// loss. targets are numbers or signs.
func (l groupLoss) gradient(g, targets []float64) (value float64) {
	if l.each == nil {
		return multinomial(g, targets)
	}
	for k := range g {
		y := l.target(targets[k])
		value += l.each.Value(g[k:k+1], y)
		l.each.Grad(g[k:k+1], g[k:k+1], y)
	}
	return value
}

// target converts a target to what the loss takes: the class for a sign, and a number as it is.
func (l groupLoss) target(y float64) float64 {
	if l.each.Classifies() {
		return max(0, y)
	}
	return y
}

// conjugate returns the conjugate of the loss at t times its gradient g, for t from 0 to 1.
func (l groupLoss) conjugate(g, targets []float64, t float64) (sum float64) {
	var at [1]float64
	for k, v := range g {
		if l.each != nil {
			at[0] = v * t
			sum += l.each.Conjugate(at[:], l.target(targets[k]))
			continue
		}
		q := float64(v * t) // distribution minus the class
		if targets[k] > 0 {
			q++
		}
		if q > 0 {
			sum += float64(q * vec.Log(q))
		}
	}
	return sum
}

// smoothness bounds the second derivatives of the loss: ½ for the multinomial loss (Böhning 1992).
func (l groupLoss) smoothness() float64 {
	if l.each == nil {
		return 0.5
	}
	return l.each.Smoothness()
}

// multinomial replaces the scores z of a row by the gradient of the multinomial loss, and returns
// the loss. targets are 1 for the class of the row and -1 for all others.
func multinomial(z, targets []float64) float64 {
	top, own := z[0], 0.0
	for _, v := range z {
		top = max(top, v)
	}
	all := 0.0
	for k, v := range z {
		if targets[k] > 0 {
			own = v - top
		}
		z[k] = vec.Exp(v - top)
		all += z[k]
	}
	for k := range z {
		z[k] /= all
		if targets[k] > 0 {
			z[k]--
		}
	}
	return vec.Log(all) - own
}

// mostPenalty returns the smallest λ₁ for which no random feature has coefficients. It computes it
// from the gradient at 0 minus the mean of that gradient. For the square, logistic and multinomial
// loss, this is the gradient at the best intercepts.
func (e *examples) mostPenalty(l groupLoss) float64 {
	n, p := e.features.Dims()
	k := e.scores
	g, mean := make([]float64, n*k), make([]float64, k)
	for i := range n {
		row := g[i*k : (i+1)*k]
		l.gradient(row, e.targets[i*k:(i+1)*k])
		for j, v := range row {
			mean[j] += float64(e.weight(i) * v)
		}
	}
	u := make([]float64, p*k)
	for i := range n {
		row := g[i*k : (i+1)*k]
		for j := range row {
			row[j] = float64(e.weight(i) * (row[j] - mean[j]/float64(n)))
		}
	}
	e.transposed(u, g)
	most := 0.0
	for j := 0; j+1 < p; j += 2 {
		most = max(most, groupSquare(u, j, p, k))
	}
	return math.Sqrt(most) / float64(n)
}

// weight returns the weight of row i, as a multiple of the mean weight.
func (e *examples) weight(i int) float64 {
	if e.weights == nil {
		return 1
	}
	return e.weights[i]
}

// groupSquare returns the squared norm of the coefficients j and j+1 of all scores. x has p
// coefficients for each score, one score after another.
func groupSquare(x []float64, j, p, scores int) float64 {
	s := 0.0
	for c := range scores {
		a, b := x[c*p+j], x[c*p+j+1]
		s += float64(a*a) + float64(b*b)
	}
	return s
}

// kept returns the number of random features that have coefficients other than 0. coefficients are
// features × scores.
func kept(coefficients []float32, scores int) int {
	n := 0
	for per := 2 * scores; len(coefficients) > 0; coefficients = coefficients[per:] {
		for _, c := range coefficients[:per] {
			if c != 0 {
				n++
				break
			}
		}
	}
	return n
}
