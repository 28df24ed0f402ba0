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
// where x_j has the coefficients of random feature j, of its cosine and its sine for all
// scores: the group lasso (Yuan and Lin 2006) beside the ridge. λ₁ is a share of the
// least that sets all of them to 0. The intercepts are not penalised by λ₁.

// groupLoss is the loss of a row with all of its scores: those of one loss each, or the
// multinomial loss if there is none.
type groupLoss struct{ each loss.Dual }

// gradient sets g to the gradient at the scores g of a row with these targets, numbers
// or signs, and returns the loss.
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

// target returns a number as it is, and the class of a sign.
func (l groupLoss) target(y float64) float64 {
	if l.each.Classifies() {
		return max(0, y)
	}
	return y
}

// conjugate returns the conjugate at t times a gradient g, for t of 0 to 1.
func (l groupLoss) conjugate(g, targets []float64, t float64) (sum float64) {
	var at [1]float64
	for k, v := range g {
		if l.each != nil {
			at[0] = v * t
			sum += l.each.Conjugate(at[:], l.target(targets[k]))
			continue
		}
		q := float64(v * t) // of the distribution minus the class
		if targets[k] > 0 {
			q++
		}
		if q > 0 {
			sum += float64(q * vec.Log(q))
		}
	}
	return sum
}

// smoothness bounds the second derivatives: ½ for the multinomial loss (Böhning 1992).
func (l groupLoss) smoothness() float64 {
	if l.each == nil {
		return 0.5
	}
	return l.each.Smoothness()
}

// multinomial sets z, the scores of a row, to the gradient, and returns the loss, where
// the targets are 1 for the class of the row and -1 otherwise.
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

// mostPenalty returns the least λ₁ for which no random feature has coefficients, as far
// as it follows from the gradient at 0 minus its mean, which is that at the best
// intercepts for the square, logistic and multinomial loss.
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

// weight returns that of row i, as a multiple of the mean.
func (e *examples) weight(i int) float64 {
	if e.weights == nil {
		return 1
	}
	return e.weights[i]
}

// groupSquare returns the squared norm of the coefficients j and j+1 of every score; x
// has p for each score, one score after another.
func groupSquare(x []float64, j, p, scores int) float64 {
	s := 0.0
	for c := range scores {
		a, b := x[c*p+j], x[c*p+j+1]
		s += float64(a*a) + float64(b*b)
	}
	return s
}

// kept returns the number of random features that have coefficients, features × scores.
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
