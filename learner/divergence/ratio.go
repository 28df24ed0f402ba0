package divergence

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// kl returns an estimate of KL(p‖q) from a logarithm f of the density ratio p/q that solves
// (Nguyen, Wainwright and Jordan 2008; Dai et al. 2014, section 3)
//
//	min over f of  E_q exp f - E_p f + λ/2 ‖f‖².
//
// f is fitted on one half of the rows. On the other half, the estimate is the lower bound E_p f -
// ln E_q exp f of Donsker and Varadhan (1975). The result is the mean over both assignments of the
// halves, for the λ with the largest mean.
func kl(p, q table) float64 {
	best := 0.0
	for _, penalty := range penalties {
		bound := 0.0
		for half := range 2 {
			w := logRatio(p.part(half), q.part(half), penalty)
			bound += float64(0.5 * donskerVaradhan(w, p.part(1-half), q.part(1-half)))
		}
		best = max(best, bound)
	}
	return best
}

const (
	newtonSteps = 30
	maxLogRatio = 30 // larger scores are bounded by it before their exponential is computed
)

// logRatio returns the coefficients of f, by Newton's method with halved steps. The
// constant is not penalised.
func logRatio(p, q table, penalty float64) []float64 {
	n := p.width
	w, mean := make([]float64, n), p.mean()
	value := ratioObjective(w, mean, q, penalty)
	for range newtonSteps {
		r := make([]float64, q.rows())
		gradient := make([]float64, n)
		for i := range r {
			r[i] = vec.Exp(min(maxLogRatio, vec.Dot(w, q.row(i))))
			vec.Axpy(r[i]/float64(len(r)), q.row(i), gradient)
		}
		h := q.gram(func(i int) float64 { return r[i] })
		for j := range n {
			gradient[j] -= mean[j]
			if j > 0 {
				gradient[j] += float64(penalty * w[j])
				h[j*n+j] += penalty
			}
		}
		if !vec.Cholesky(h, n) {
			return w
		}
		vec.CholeskySolve(h, n, gradient)
		moved := false
		for step := 1.0; step > 1e-4; step /= 2 {
			next := make([]float64, n)
			copy(next, w)
			vec.Axpy(-step, gradient, next)
			if v := ratioObjective(next, mean, q, penalty); v < value-1e-10 {
				w, value, moved = next, v, true
				break
			}
		}
		if !moved {
			return w
		}
	}
	return w
}

func ratioObjective(w, mean []float64, q table, penalty float64) float64 {
	sum := 0.0
	for i := range q.rows() {
		sum += vec.Exp(min(maxLogRatio, vec.Dot(w, q.row(i))))
	}
	return sum/float64(q.rows()) - vec.Dot(w, mean) + float64(penalty/2*vec.Dot(w[1:], w[1:]))
}

// donskerVaradhan returns E_p f - ln E_q exp f.
func donskerVaradhan(w []float64, p, q table) float64 {
	sum := 0.0
	for i := range q.rows() {
		sum += vec.Exp(min(maxLogRatio, vec.Dot(w, q.row(i))))
	}
	return vec.Dot(w, p.mean()) - vec.Log(sum/float64(q.rows()))
}

// pearson returns an estimate of the Pearson divergence ½ E_m (p/m - 1)², m = αp + (1-α)q, from an
// estimate of the ratio r = p/m itself that solves
//
//	min over r of  ½ E_m r² - E_p r + λ/2 ‖r‖²
//
// in closed form. α = 0 is the direct form of Kanamori, Hido and Sugiyama (2009), and α > 0 the
// relative form of Yamada et al. (2013), in which r is at most 1/α. The rows are halved and λ is
// chosen as in kl; the estimate is E_p r - ½ E_m r² - ½.
func pearson(p, q table, alpha float64) float64 {
	best := 0.0
	for _, penalty := range penalties {
		bound := 0.0
		for half := range 2 {
			w := ratio(p.part(half), q.part(half), alpha, penalty)
			a, b := p.part(1-half), q.part(1-half)
			mean := float64(alpha*squares(w, a)) + float64((1-alpha)*squares(w, b))
			bound += float64(0.5 * (vec.Dot(w, a.mean()) - float64(0.5*mean) - 0.5))
		}
		best = max(best, bound)
	}
	return best
}

func squares(w []float64, t table) float64 {
	sum := 0.0
	for i := range t.rows() {
		f := vec.Dot(w, t.row(i))
		sum += float64(f * f)
	}
	return sum / float64(t.rows())
}

func ratio(p, q table, alpha, penalty float64) []float64 {
	n, w := p.width, p.mean()
	a, h := p.gram(func(int) float64 { return alpha }), q.gram(func(int) float64 { return 1 - alpha })
	for i, v := range a {
		h[i] += v
	}
	for j := 1; j < n; j++ {
		h[j*n+j] += penalty
	}
	h[0] += 1e-12
	if !vec.Cholesky(h, n) {
		return make([]float64, n)
	}
	vec.CholeskySolve(h, n, w)
	return w
}

// medianDistance returns the median distance between some of the rows, at least a millionth.
func medianDistance(x []float32, dim int) float64 {
	const most = 256
	n := len(x) / dim
	step := max(1, n/most)
	var squared []float64
	for i := 0; i < n; i += step {
		for j := 0; j < i; j += step {
			sum := 0.0
			for k := range dim {
				d := float64(x[i*dim+k] - x[j*dim+k])
				sum += float64(d * d)
			}
			squared = append(squared, sum)
		}
	}
	return max(1e-6, math.Sqrt(median(squared)))
}
