package refit

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// examples are the data that coefficients are fitted to.
type examples struct {
	features *matrix.Float32
	targets  []float64 // rows x scores: numbers, or -1 and 1
	scores   int       // number of scores, which are problems that share the features
	weights  []float64 // weights of the rows, as multiples of their mean; nil for 1 each
	// l1 is the penalty of the norm of the coefficients of each random feature. The last column is
	// not penalised.
	l1 float64
}

func newExamples(features *matrix.Float32, targets []float64, scores int, weights []float64) *examples {
	return &examples{features: features, targets: targets, scores: scores, weights: relativeWeights(weights)}
}

// relativeWeights returns weights as multiples of their mean, or nil if they are all
// equal.
func relativeWeights(weights []float64) []float64 {
	sum, equal := 0.0, true
	for _, w := range weights {
		sum += w
		equal = equal && w == weights[0]
	}
	if equal {
		return nil
	}
	mean := sum / float64(len(weights))
	all := make([]float64, len(weights))
	for i, w := range weights {
		all[i] = w / mean
	}
	return all
}

// problem returns the problem of one score.
func (e *examples) problem(l loss.Dual, lambda float64, score int) *optim.Problem {
	n, _ := e.features.Dims()
	p := &optim.Problem{A: e.features, Targets: make([]float64, n), Weights: e.weights, Loss: l, L2: lambda}
	for i := range n {
		y := e.targets[i*e.scores+score]
		if l.Classifies() {
			y = max(0, y) // the class
		}
		p.Targets[i] = y
	}
	if e.l1 > 0 {
		p.L1, p.Group, p.Exempt = e.l1, 2, 1
	}
	return p
}

// norm returns the largest norm of a row of features.
func (e *examples) norm() float64 {
	_, columns := e.features.Dims()
	square, _ := optim.Scale(e.features, columns, 1)
	return math.Sqrt(square)
}

// products sets z, rows × scores, to the products of the rows of a with x. x has one column for
// each score, one after another.
func products(a matrix.Matrix, z, x []float64, scores int) {
	n, p := a.Dims()
	row := make([]float64, p)
	for i := range n {
		clear(row)
		a.Add(row, i, 1)
		for k := range scores {
			z[i*scores+k] = vec.Dot(row, x[k*p:(k+1)*p])
		}
	}
}
