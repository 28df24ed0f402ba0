package refit

import (
	"context"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// transposed sets u to Aᵀg, column by column. g is rows × scores.
func (e *examples) transposed(u, g []float64) {
	n, p := e.features.Dims()
	row := make([]float64, p)
	clear(u)
	for i := range n {
		clear(row)
		e.features.Add(row, i, 1)
		for k, v := range g[i*e.scores : (i+1)*e.scores] {
			if v != 0 {
				vec.Axpy(v, row, u[k*p:(k+1)*p])
			}
		}
	}
}

// fitGroups is fitScores with the penalty of the norm of the coefficients of each random feature,
// which links all scores. It takes accelerated proximal gradient steps (Beck and Teboulle 2009),
// whose momentum restarts when it points uphill (O'Donoghue and Candès 2015). A pass is one such
// step. The dual point is the best multiple of the gradient of the losses, as in
// optim.Problem.Certify.
func fitGroups(ctx context.Context, e *examples, l groupLoss, o Options, start []float64) (*Fit, error) {
	o = o.effective()
	begin := o.now()
	d := newGroupDescent(e, l, o.Lambda, start)
	f := &Fit{unit: d.objective(make([]float64, len(d.x)), make([]float64, len(d.z))), norm: e.norm(), Dual: math.Inf(-1)}
	if f.unit == 0 {
		f.unit = 1
	}
	f.descend(ctx, o, begin, o.Passes*groupPasses, func() (primal, dual float64) {
		d.evaluate()
		return d.objective(d.x, d.z), d.dual()
	}, d.step)
	f.Coefficients = e.byFeature(d.x)
	return f, ctx.Err()
}

// groupPasses is the number of such passes that count as one pass in Options: letter, which has 26
// classes, needs several hundred.
const groupPasses = 10

// certifyGroups is certifyScores for fitGroups.
func (f *Fit) certifyGroups(e *examples, l groupLoss, o Options, coefficients []float64) {
	d := newGroupDescent(e, l, o.Lambda, coefficients)
	f.Coefficients, f.Primal = coefficients, d.objective(d.x, d.z)
	f.certify(o.Lambda)
}

// groupDescent is the state of fitGroups. Its vectors have one column for each score, one after
// another.
type groupDescent struct {
	*examples
	loss      groupLoss
	l2        float64
	x, at     []float64 // the iterate, and where the gradient is taken
	z, zAt    []float64 // their scores
	next      []float64
	zNext     []float64
	g, u      []float64 // gradient of the losses at at, by row, and Aᵀg/n
	value     float64   // mean loss at at
	curvature float64
	momentum  float64
}

func newGroupDescent(e *examples, l groupLoss, l2 float64, start []float64) *groupDescent {
	n, p := e.features.Dims()
	columns := func() []float64 { return make([]float64, p*e.scores) }
	rows := func() []float64 { return make([]float64, n*e.scores) }
	d := &groupDescent{
		examples: e, loss: l, l2: l2, x: e.byScore(start), at: columns(), next: columns(), u: columns(),
		z: rows(), zAt: rows(), zNext: rows(), g: rows(), momentum: 1, curvature: l.smoothness() * leastCurvature,
	}
	products(d.features, d.z, d.x, d.scores)
	copy(d.at, d.x)
	copy(d.zAt, d.z)
	return d
}

// leastCurvature is where the search for the step size begins, as a share of the curvature for
// equal rows of the norm 1. The curvature is doubled as often as needed.
const leastCurvature = 1.0 / 16

// losses returns the mean loss of the scores z, and sets g to their gradient by row.
func (d *groupDescent) losses(g, z []float64) float64 {
	n, _ := d.features.Dims()
	copy(g, z)
	sum := 0.0
	for i := range n {
		w, row := d.weight(i), g[i*d.scores:(i+1)*d.scores]
		sum += float64(w * d.loss.gradient(row, d.targets[i*d.scores:(i+1)*d.scores]))
		for k := range row {
			row[k] *= w
		}
	}
	return sum / float64(n)
}

// objective returns P(x), given the scores z of x.
func (d *groupDescent) objective(x, z []float64) float64 {
	_, p := d.features.Dims()
	norms := 0.0
	for j := 0; j+1 < p; j += 2 {
		norms += math.Sqrt(groupSquare(x, j, p, d.scores))
	}
	return d.losses(d.zNext, z) + float64(d.l2/2*vec.Dot(x, x)) + float64(d.l1*norms)
}

// evaluate sets g, u and value for at.
func (d *groupDescent) evaluate() {
	n, _ := d.features.Dims()
	d.value = d.losses(d.g, d.zAt)
	d.transposed(d.u, d.g)
	for j := range d.u {
		d.u[j] /= float64(n)
	}
}

// dual returns the largest D found at g, g/2, g/4 and so on.
func (d *groupDescent) dual() float64 {
	n, p := d.features.Dims()
	best := math.Inf(-1)
	for t := 1.0; t > leastStep; t /= 2 {
		sum, square := 0.0, 0.0
		for i := range n {
			w := d.weight(i)
			if w == 0 {
				continue
			}
			row := d.g[i*d.scores : (i+1)*d.scores]
			sum += float64(w * d.loss.conjugate(row, d.targets[i*d.scores:(i+1)*d.scores], t/w))
		}
		for j := 0; j+1 < p; j += 2 {
			s := max(0, float64(t*math.Sqrt(groupSquare(d.u, j, p, d.scores)))-d.l1)
			square += float64(s * s)
		}
		for c := range d.scores { // the constant
			s := t * d.u[c*p+p-1]
			square += float64(s * s)
		}
		v := -square/(2*d.l2) - sum/float64(n)
		if v <= best {
			break // D is concave along g
		}
		best = v
	}
	return best
}

// step moves x from at by the proximal map, and then moves at by momentum.
func (d *groupDescent) step() {
	for {
		d.proximal()
		products(d.features, d.zNext, d.next, d.scores)
		linear, square := 0.0, 0.0
		for j, v := range d.next {
			by := v - d.at[j]
			linear += float64(d.u[j] * by)
			square += float64(by * by)
		}
		bound := d.value + linear + float64(d.curvature/2*square)
		if v := d.losses(d.g, d.zNext); v <= bound+float64(curvatureRounding*math.Abs(bound)) {
			break
		}
		d.curvature *= 2
	}
	uphill := 0.0
	for j, v := range d.next {
		uphill += float64((d.at[j] - v) * (v - d.x[j]))
	}
	if uphill > 0 {
		d.momentum = 1
	}
	after := (1 + math.Sqrt(1+float64(4*d.momentum*d.momentum))) / 2
	beta := (d.momentum - 1) / after
	d.momentum = after
	extrapolate(d.at, d.x, d.next, beta)
	extrapolate(d.zAt, d.z, d.zNext, beta)
	d.x, d.next, d.z, d.zNext = d.next, d.x, d.zNext, d.z
}

// curvatureRounding is the relative rounding error of a mean loss that the search for the step size
// tolerates.
const curvatureRounding = 1e-12

func extrapolate(dst, from, to []float64, beta float64) {
	for j, v := range to {
		dst[j] = v + float64(beta*(v-from[j]))
	}
}

// proximal sets next to the x that minimises ⟨u,x⟩ + curvature/2 ‖x-at‖² + λ/2 ‖x‖² +
// λ₁ Σ ‖x_j‖.
func (d *groupDescent) proximal() {
	_, p := d.features.Dims()
	for j, v := range d.at {
		d.next[j] = (float64(d.curvature*v) - d.u[j]) / (d.curvature + d.l2)
	}
	l1 := d.l1 / (d.curvature + d.l2)
	for j := 0; j+1 < p; j += 2 {
		square, keep := groupSquare(d.next, j, p, d.scores), 0.0
		if square > float64(l1*l1) {
			keep = 1 - l1/math.Sqrt(square)
		}
		for c := range d.scores {
			d.next[c*p+j] *= keep
			d.next[c*p+j+1] *= keep
		}
	}
}
