package refit

import (
	"fmt"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// softmax is the multinomial objective
//
//	P(X) = 1/n Σ w_i (ln Σ_k exp⟨A_i, x_k⟩ - ⟨A_i, x_c⟩) + λ/2 Σ_k ‖x_k‖²,
//
// where c is the class of row i, and its dual: with a distribution q_i over the
// classes for each row, and α_i = w_i (q_i - e_c),
//
//	D(q) = -1/(2λ) Σ_k ‖Aᵀα_k/n‖² - 1/n Σ w_i Σ_k q_ik ln q_ik,
//
// which is never above P.
type softmax struct {
	a       matrix.Matrix
	class   []int
	classes int
	weights []float64 // nil for 1 each
	l2      float64
}

// newSoftmax reads the classes from targets, which are 1 for the class of a row and -1 for all
// others.
func newSoftmax(e *examples, l2 float64) (*softmax, error) {
	n, _ := e.features.Dims()
	s := &softmax{a: e.features, class: make([]int, n), classes: e.scores, weights: e.weights, l2: l2}
	for i := range n {
		s.class[i] = -1
		for k, b := range e.targets[i*e.scores : (i+1)*e.scores] {
			if b == 1 && s.class[i] < 0 {
				s.class[i] = k
			} else if b != -1 {
				return nil, fmt.Errorf("row %d has targets that do not name one class", i)
			}
		}
		if s.class[i] < 0 {
			return nil, fmt.Errorf("row %d has no class", i)
		}
	}
	return s, nil
}

func (s *softmax) weight(i int) float64 {
	if s.weights == nil {
		return 1
	}
	return s.weights[i]
}

// scores sets z, rows × classes, to the products of the rows with x. x has one column for each
// class, one after another.
func (s *softmax) scores(z, x []float64) { products(s.a, z, x, s.classes) }

// primal returns P(x), given the scores z of x. It replaces z by the distributions over the
// classes.
func (s *softmax) primal(x, z []float64) float64 {
	sum, k := 0.0, s.classes
	for i, c := range s.class {
		q := z[i*k : (i+1)*k]
		top := q[0]
		for _, v := range q {
			top = max(top, v)
		}
		own, all := q[c]-top, 0.0
		for j, v := range q {
			q[j] = vec.Exp(v - top)
			all += q[j]
		}
		for j := range q {
			q[j] /= all
		}
		sum += float64(s.weight(i) * (vec.Log(all) - own))
	}
	return sum/float64(len(s.class)) + float64(s.l2/2*vec.Dot(x, x))
}

// gradient sets u to Aᵀα/n, column by column, for the distributions q.
func (s *softmax) gradient(u, q []float64) {
	_, p := s.a.Dims()
	row := make([]float64, p)
	clear(u)
	for i, c := range s.class {
		clear(row)
		s.a.Add(row, i, 1)
		share := s.weight(i) / float64(len(s.class))
		for k, v := range q[i*s.classes : (i+1)*s.classes] {
			if k == c {
				v--
			}
			if v != 0 {
				vec.Axpy(float64(share*v), row, u[k*p:(k+1)*p])
			}
		}
	}
}

// leastStep is the smallest multiple at which repeated halving of a distance ends.
const leastStep = 1e-12

// dual returns the largest D found on the line from the classes themselves, where D is 0, to q. It
// tries q, the point halfway, and so on. u is the gradient of q.
func (s *softmax) dual(u, q []float64) float64 {
	g := vec.Dot(u, u) / (2 * s.l2)
	best := 0.0
	for t := 1.0; t > leastStep; t /= 2 {
		sum := 0.0
		for i, c := range s.class {
			entropy := 0.0
			for k, v := range q[i*s.classes : (i+1)*s.classes] {
				v = float64(v * t)
				if k == c {
					v += 1 - t
				}
				if v > 0 {
					entropy += float64(v * vec.Log(v))
				}
			}
			sum += float64(s.weight(i) * entropy)
		}
		d := -float64(g*float64(t*t)) - sum/float64(len(s.class))
		if t < 1 && d <= best {
			break // D is concave
		}
		best = max(best, d)
	}
	return best
}

// gapUnit returns P(0).
func (s *softmax) gapUnit() float64 {
	sum := 0.0
	for i := range s.class {
		sum += s.weight(i)
	}
	return sum / float64(len(s.class)) * vec.Log(float64(s.classes))
}

// certifySoftmax is certifyScores for fitSoftmax.
func (f *Fit) certifySoftmax(e *examples, o Options, coefficients []float64) error {
	s, err := newSoftmax(e, o.Lambda)
	if err != nil {
		return err
	}
	x, z := e.byScore(coefficients), make([]float64, len(s.class)*s.classes)
	s.scores(z, x)
	f.Coefficients, f.Primal = coefficients, s.primal(x, z)
	f.certify(o.Lambda)
	return nil
}

// softmaxGap bounds by how much the multinomial objective of coefficients, features × classes, is
// above the optimum, by a certificate computed from these coefficients.
func softmaxGap(e *examples, lambda float64, coefficients []float64) (float64, error) {
	s, err := newSoftmax(e, lambda)
	if err != nil {
		return 0, err
	}
	x := e.byScore(coefficients)
	z, u := make([]float64, len(s.class)*s.classes), make([]float64, len(x))
	s.scores(z, x)
	primal := s.primal(x, z)
	s.gradient(u, z)
	return primal - s.dual(u, z), nil
}
