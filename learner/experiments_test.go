package learner

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/test/datasets"
)

// The tests in this file repeat experiments of Dai et al. 2014 and of Li and
// Póczos, without a warm-up and with the steps that are said here.

// experiment is descent on rows that are scaled already.
type experiment struct {
	engine.Engine
	batch engine.Minibatch
	dim   int
}

// newExperiment has a kernel's matrix with the largest eigenvalue top.
func newExperiment(c Config, l loss.Loss, k kernel.Kernel, dim int, r descent.Rule, s *descent.StepSize, top float64) *experiment {
	h := target.NewHead(l, target.TaskOf(l), 2, 1)
	if !l.Classifies() {
		h.Classes = 0
	}
	d := descent.New(engine.Problem{
		Options: c.options(), Head: h, Dim: dim, Prior: make([]float64, h.Scores()),
		Fit: &warmup.Fit{Kernel: k, TopEigenvalue: top, Lambda: c.Lambda},
	}, r, descent.Plain{}, s)
	return &experiment{Engine: d, dim: dim}
}

func (e *experiment) Learn(x []float32, y []Label) {
	b := &e.batch
	b.X, b.Labels, b.Weights = x, y, b.Weights[:0]
	for range y {
		b.Weights = append(b.Weights, 1)
	}
	b.Scores = e.Engine.Score(b.Scores[:0], x, len(y))
	e.Engine.Learn(b)
}

// average returns what the average predicts.
func (e *experiment) average(x []float32) []float64 {
	f := e.Engine.Score(nil, x, len(x)/e.dim)
	for i := 0; i < len(f)/2; i++ {
		f[i] = f[2*i+1]
	}
	return f[:len(f)/2]
}

// Dai et al., section 7.1: y = cos(½π‖x‖)·exp(-⅒π‖x‖) + ⅒ε on [-5, 5]². The
// squared error of the average falls like 1/t.
func TestSection71ErrorFallsLikeOneOverTime(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	truth := func(x []float32) float64 {
		r := math.Hypot(float64(x[0]), float64(x[1]))
		return math.Cos(math.Pi/2*r) * math.Exp(-math.Pi/10*r)
	}
	sample := func(n int) []float32 {
		x := make([]float32, 2*n)
		for i := range x {
			x[i] = 10*rng.Float32() - 5
		}
		return x
	}
	const rows = 256
	c, err := Config{BlockSize: rows, Minibatch: rows, MaxFeatures: 300 * rows, Lambda: 1e-6}.Effective()
	if err != nil {
		t.Fatal(err)
	}
	e := newExperiment(c, loss.Square{}, kernel.Gaussian{Scale: 0.513}, 2, descent.DSG{}, &descent.StepSize{First: 10, Lambda: 1e-9}, 1)
	test := sample(500)
	var times, errors []float64
	for step := 1; step <= 300; step++ {
		x := sample(rows)
		y := make([]Label, rows)
		for i := range y {
			y[i] = Label{Task: Regression, Value: truth(x[2*i:]) + 0.1*rng.NormFloat64()}
		}
		e.Learn(x, y)
		if step == 10 || step == 30 || step == 100 || step == 300 {
			sum := 0.0
			for i, f := range e.average(test) {
				d := f - truth(test[2*i:])
				sum += d * d / float64(len(test)/2)
			}
			times, errors = append(times, math.Log(float64(step))), append(errors, math.Log(sum))
		}
	}
	slope := (errors[3] - errors[0]) / (times[3] - times[0])
	last := math.Exp(errors[3])
	t.Logf("squared error %.2g, slope %.2f", last, slope)
	if last > 3e-4 || slope > -1 {
		t.Errorf("squared error %v after 300 steps, slope %v: want 3e-4 and -1", last, slope)
	}
}

// pass learns all rows once, in an order that the seed says.
func (e *experiment) pass(x []float32, y []Label, minibatch int, seed uint64) {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(y))
	for at := 0; at+minibatch <= len(order); at += minibatch {
		var bx []float32
		var by []Label
		for _, i := range order[at : at+minibatch] {
			bx, by = append(bx, x[i*e.dim:(i+1)*e.dim]...), append(by, y[i])
		}
		e.Learn(bx, by)
	}
}

// Both papers, Adult, with their settings: mini-batches of 64, blocks of 32, the
// median distance for a width.
func TestAdultWithThePapersSettings(t *testing.T) {
	if !*exhaustive {
		t.Skip("takes seconds: with -exhaustive")
	}
	t.Parallel()
	train, test := datasets.Load(t, "a9a.train"), datasets.Load(t, "a9a.test")
	x, y, dim := train.X, train.Y, train.Dim
	tx, ty := test.X, test.Y
	single := func(x []float64) []float32 {
		out := make([]float32, len(x))
		for i, v := range x {
			out[i] = float32(v)
		}
		return out
	}
	labels := make([]Label, len(y))
	for i, v := range y {
		labels[i] = class(v == 1)
	}
	c, err := Config{BlockSize: 32, Minibatch: 64, MaxFeatures: 1 << 15, Lambda: 1 / (100 * float64(len(y)))}.Effective()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		rule     descent.Rule
		loss     loss.Loss
		first    float64
		error    float64
		features int
	}{
		{descent.DSG{}, loss.Logistic{}, 6, 0.157, 16256}, // .1518
		{descent.CDSG{}, loss.Logistic{}, 6, 0.155, 4500}, // .1513 with 3,328
		{descent.DSG{}, loss.Hinge{}, 3, 0.160, 16256},    // .1551
	} {
		e := newExperiment(c, test.loss, kernel.Gaussian{Scale: 4}, dim, test.rule, &descent.StepSize{First: test.first, Lambda: c.Lambda}, 0.3) // so that no step is cut short
		e.pass(single(x), labels, 64, 1)
		wrong := 0.0
		for i, f := range e.average(single(tx)) {
			if (f > 0) != (ty[i] == 1) {
				wrong += 1 / float64(len(ty))
			}
		}
		t.Logf("%v, %v: error %.4f with %d features", test.rule, test.loss, wrong, e.Features())
		if wrong > test.error || e.Features() > test.features {
			t.Errorf("%v, %v: error %.4f with %d features, want %v with %d", test.rule, test.loss, wrong, e.Features(), test.error, test.features)
		}
	}
}

// Li and Póczos: fewer features for the same error or less, on a regression of two
// of four inputs that matter more than the others.
func TestReturningToBlocksSavesFeatures(t *testing.T) {
	t.Parallel()
	const dim, n, tests = 4, 9000, 1000
	rng := rand.New(rand.NewPCG(5, 6))
	x, y, want := make([]float32, (n+tests)*dim), make([]Label, n), make([]float64, tests)
	for i := range n + tests {
		row := x[i*dim : (i+1)*dim]
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
		v := 1.3 * (math.Sin(2*float64(row[0]))*float64(row[1]) + math.Sin(float64(row[2]+row[3]))/2)
		if i < n {
			y[i] = Label{Task: Regression, Value: v + 0.1*rng.NormFloat64()}
		} else {
			want[i-n] = v
		}
	}
	c, err := Config{BlockSize: 32, Minibatch: 64, MaxFeatures: 1 << 15, Lambda: 1e-6}.Effective()
	if err != nil {
		t.Fatal(err)
	}
	var errors, used [2]float64
	for i, rule := range []descent.Rule{descent.DSG{}, descent.CDSG{Cap: 4}} {
		e := newExperiment(c, loss.Square{}, kernel.Gaussian{Scale: 1.3}, dim, rule, &descent.StepSize{First: 0.5, Lambda: c.Lambda}, 0.4)
		e.pass(x[:n*dim], y, 64, 1)
		for j, f := range e.average(x[n*dim:]) {
			errors[i] += (f - want[j]) * (f - want[j]) / tests
		}
		used[i] = float64(e.Features())
		t.Logf("%v: squared error %.4f with %v features", rule, errors[i], used[i])
	}
	if errors[1] > errors[0] || used[1] > used[0]/3 {
		t.Errorf("squared error %.4f with %v features, of a new block each time %.4f with %v", errors[1], used[1], errors[0], used[0])
	}
}

// The same on kin40k, the mean of three orders. The bounds leave a twentieth to
// what was measured.
func TestReturningToBlocksSavesFeaturesOfKin40k(t *testing.T) {
	t.Parallel()
	train, tests := datasets.Load(t, "kin40k.train"), datasets.Load(t, "kin40k.test")
	x, y, dim := train.X, train.Y, train.Dim
	tx, ty := tests.X, tests.Y
	s := warmup.NewScaler(x, dim)
	single := func(x []float64) []float32 {
		out := make([]float32, len(x))
		for i := 0; i < len(x); i += dim {
			s.Apply(out[i:i+dim], x[i:i+dim])
		}
		return out
	}
	column := warmup.NewColumn(y, 1)
	labels := make([]Label, len(y))
	for i, v := range y {
		labels[i] = Label{Task: Regression, Value: (v - column.Mean) / column.Deviation}
	}
	rows := single(x)
	sample := make([]float64, 1000*dim)
	for i := range sample {
		sample[i] = float64(rows[i])
	}
	var distances []float64
	for i := range 1000 {
		for j := range i {
			sum := 0.0
			for k := range dim {
				d := sample[i*dim+k] - sample[j*dim+k]
				sum += d * d
			}
			distances = append(distances, math.Sqrt(sum))
		}
	}
	width := warmup.Nth(distances, len(distances)/2) / 2
	c, err := Config{BlockSize: 32, Minibatch: 64, MaxFeatures: 1 << 15, Lambda: 1e-6}.Effective()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		rule     descent.Rule
		error    float64
		features int
	}{
		{descent.DSG{}, 0.67, 8000},        // .642
		{descent.CDSG{Cap: 4}, 0.60, 2000}, // .571 with 1,920
	} {
		sum, most, variance := 0.0, 0, warmup.NewColumn(ty, 1).Deviation
		for order := range 3 {
			e := newExperiment(c, loss.Square{}, kernel.Gaussian{Scale: width}, dim, test.rule, &descent.StepSize{First: 0.5, Lambda: c.Lambda}, 0.4)
			e.pass(rows, labels, 64, uint64(order+1))
			for i, f := range e.average(single(tx)) {
				d := (f*column.Deviation + column.Mean - ty[i]) / variance
				sum += d * d / float64(3*len(ty))
			}
			most = max(most, e.Features())
		}
		t.Logf("%v: nMSE %.4f with %d features", test.rule, sum, most)
		if sum > test.error || most > test.features {
			t.Errorf("%v: nMSE %.4f with %d features, want %v with %d", test.rule, sum, most, test.error, test.features)
		}
	}
}
