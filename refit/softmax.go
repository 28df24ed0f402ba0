package refit

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// softmax is the multinomial objective
//
//	P(X) = 1/n Σ w_i (ln Σ_k exp⟨A_i, x_k⟩ - ⟨A_i, x_c⟩) + λ₂/2 Σ_k ‖x_k‖²,
//
// c being the class of row i, and its dual: with a distribution q_i over the
// classes for each row, and α_i = w_i (q_i - e_c),
//
//	D(q) = -1/(2λ₂) Σ_k ‖Aᵀα_k/n‖² - 1/n Σ w_i Σ_k q_ik ln q_ik,
//
// which is never above P.
type softmax struct {
	a       Matrix
	class   []int
	classes int
	weights []float64 // nil for 1 each
	l2      float64
}

// newSoftmax reads the classes off targets that are 1 for the class of a row and
// -1 otherwise.
func newSoftmax(d Data, l2 float64) (*softmax, error) {
	n, _ := d.Features.Dims()
	s := &softmax{a: d.Features, class: make([]int, n), classes: d.Outputs, weights: d.Weights, l2: l2}
	for i := range n {
		s.class[i] = -1
		for k, b := range d.Targets[i*d.Outputs : (i+1)*d.Outputs] {
			if b == 1 && s.class[i] < 0 {
				s.class[i] = k
			} else if b != -1 {
				return nil, fmt.Errorf("the targets of row %d are not those of one class", i)
			}
		}
		if s.class[i] < 0 {
			return nil, fmt.Errorf("row %d is of no class", i)
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

// outputs sets z, rows x classes, to the products of the rows with x, whose
// columns stand one after another.
func (s *softmax) outputs(z, x []float64) {
	n, p := s.a.Dims()
	row := make([]float64, p)
	for i := range n {
		clear(row)
		s.a.Add(row, i, 1)
		for k := range s.classes {
			z[i*s.classes+k] = vec.Dot(row, x[k*p:(k+1)*p])
		}
	}
}

// primal is P, where z is the outputs of x. It sets z to their distributions.
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

// slopes sets u to Aᵀα/n, column by column, for distributions q.
func (s *softmax) slopes(u, q []float64) {
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

// dual is the greatest D along the line from the classes themselves, where it is 0,
// to q, of the whole of it, a half, and so on; u is what slopes says of q.
func (s *softmax) dual(u, q []float64) float64 {
	g := vec.Dot(u, u) / (2 * s.l2)
	best := 0.0
	for t := 1.0; t > 1e-12; t /= 2 {
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

// RefitSoftmax is Refit for the multinomial loss, all outputs of which are one
// problem; Options.Loss does not count, and L1 has to be 0. Targets are those of
// OneVersusRest. It steps by the bound of the second derivative that AᵀA/2n + λ₂I
// is (Böhning 1992), which is factored once, with Nesterov's momentum, restarted
// where that goes uphill (O'Donoghue and Candès 2015). A pass is one such step.
func RefitSoftmax(ctx context.Context, d Data, o Options) (*Fit, error) {
	if o.Relative == 0 {
		o.Relative = 1e-3
	}
	if o.Passes == 0 {
		o.Passes = 100
	}
	n, p := d.Features.Dims()
	d.Weights = shares(d.Weights)
	if d.Outputs < 2 || len(d.Targets) != n*d.Outputs || o.Start != nil && len(o.Start) != p*d.Outputs || !(o.Lambda > 0) || o.L1 != 0 {
		return nil, fmt.Errorf("%d targets of %d rows and %d outputs, %d coefficients to start with, lambda %v", len(d.Targets), n, d.Outputs, len(o.Start), o.Lambda)
	}
	s, err := newSoftmax(d, o.Lambda)
	if err != nil {
		return nil, err
	}
	equations, err := newNormal(ctx, d.Features, d.Weights, 2*o.Lambda)
	if err != nil {
		return nil, err
	}
	now := func() float64 {
		if o.Clock == nil {
			return 0
		}
		return o.Clock()
	}
	begin, k := now(), d.Outputs
	f := &Fit{unit: s.unit(), norm: s.norm(), Dual: math.Inf(-1)}
	x, next, at := s.columns(o.Start), make([]float64, p*k), make([]float64, p*k)
	copy(at, x)
	z, u, step := make([]float64, n*k), make([]float64, p*k), make([]float64, p)
	momentum := 1.0
	for ; ; f.Passes++ {
		s.outputs(z, at)
		f.Primal = s.primal(at, z)
		s.slopes(u, z)
		f.Dual = max(f.Dual, s.dual(u, z))
		if f.Passes == 0 {
			f.StartPrimal, f.StartGap = f.Primal, f.Gap()
		}
		if o.Progress != nil {
			o.Progress(0, Point{Passes: f.Passes, Seconds: now() - begin, Primal: f.Primal, Dual: f.Dual})
		}
		f.Reached = f.Gap() <= o.Relative*f.unit
		if f.Reached || f.Passes >= float64(o.Passes) || ctx.Err() != nil {
			break
		}
		if f.Passes > 0 && int(f.Passes)%stride == 0 && s.leap(at, u, z) {
			copy(x, at)
			momentum = 1
			continue
		}
		uphill := 0.0
		for c := range k {
			column := at[c*p : (c+1)*p]
			for j, v := range column {
				step[j] = u[c*p+j] + float64(o.Lambda*v)
			}
			gradient := append([]float64(nil), step...)
			vec.CholeskySolve(equations.factor, p, step)
			for j, v := range column {
				next[c*p+j] = v - float64(float64(2*float64(n))*step[j])
				uphill += float64(gradient[j] * (next[c*p+j] - x[c*p+j]))
			}
		}
		if uphill > 0 {
			momentum = 1
		}
		after := (1 + math.Sqrt(1+float64(4*momentum*momentum))) / 2
		beta := (momentum - 1) / after
		for j, v := range next {
			at[j] = v + float64(beta*(v-x[j]))
		}
		x, next, momentum = next, x, after
	}
	f.Coefficients = make([]float64, p*k)
	for j := range f.Coefficients {
		f.Coefficients[j] = at[j%k*p+j/k]
	}
	f.Suboptimality = f.StartPrimal - f.Dual
	f.certify(o.Lambda)
	f.Seconds = now() - begin
	return f, ctx.Err()
}

// stride is after how many passes a leap is tried.
const stride = 6

// leap goes from x towards -u/λ₂, the x that goes with the dual variables whose
// slopes u are, as far as that lowers P: steps by a bound of the second derivative
// are short where the rows say little, and there this one is long. It says whether
// it has moved x, and spoils z.
func (s *softmax) leap(x, u, z []float64) bool {
	to, on := make([]float64, len(x)), make([]float64, len(z))
	s.outputs(z, x)
	for j, v := range u {
		to[j] = -v / s.l2
	}
	s.outputs(on, to)
	try, mix := make([]float64, len(x)), make([]float64, len(z))
	at := func(t float64) float64 {
		for j, v := range x {
			try[j] = v + float64(t*(to[j]-v))
		}
		for j, v := range z {
			mix[j] = v + float64(t*(on[j]-v))
		}
		return s.primal(try, mix)
	}
	least, best := at(0), 0.0
	for t := 1.0; t > 1e-4; t /= 2 {
		if v := at(t); v < least {
			least, best = v, t
		} else if best > 0 {
			break // P is convex
		}
	}
	for j, v := range x {
		x[j] = v + float64(best*(to[j]-v))
	}
	return best > 0
}

// unit is P(0).
func (s *softmax) unit() float64 {
	sum := 0.0
	for i := range s.class {
		sum += s.weight(i)
	}
	return sum / float64(len(s.class)) * vec.Log(float64(s.classes))
}

// norm is the greatest of a row.
func (s *softmax) norm() float64 {
	_, p := s.a.Dims()
	greatest, _ := Scale(s.a, p, 1)
	return math.Sqrt(greatest)
}

// certify sets what follows from the gap: P is λ₂-strongly convex in all of X.
func (f *Fit) certify(l2 float64) {
	f.Relative = f.Gap() / f.unit
	f.Bound = f.norm * math.Sqrt(2*max(0, f.Gap())/l2)
}

// moveSoftmax is move for RefitSoftmax.
func (f *Fit) moveSoftmax(d Data, o Options, coefficients []float64) error {
	d.Weights = shares(d.Weights)
	s, err := newSoftmax(d, o.Lambda)
	if err != nil {
		return err
	}
	x, z := s.columns(coefficients), make([]float64, len(s.class)*s.classes)
	s.outputs(z, x)
	f.Coefficients, f.Primal = coefficients, s.primal(x, z)
	f.certify(o.Lambda)
	return nil
}

// softmaxGap is by how much the multinomial objective of coefficients, features x
// classes, is above the optimum at most, by their own certificate.
func softmaxGap(d Data, l2 float64, coefficients []float64) (float64, error) {
	d.Weights = shares(d.Weights)
	s, err := newSoftmax(d, l2)
	if err != nil {
		return 0, err
	}
	x := s.columns(coefficients)
	z, u := make([]float64, len(s.class)*s.classes), make([]float64, len(x))
	s.outputs(z, x)
	primal := s.primal(x, z)
	s.slopes(u, z)
	return primal - s.dual(u, z), nil
}

// columns is coefficients, features x classes, column by column.
func (s *softmax) columns(coefficients []float64) []float64 {
	_, p := s.a.Dims()
	x := make([]float64, p*s.classes)
	for j, v := range coefficients {
		x[j%s.classes*p+j/s.classes] = v
	}
	return x
}
