package refit

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	randomfeatures "github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
	"gonum.org/v1/gonum/floats"
)

// wave returns rows of two numbers, their features and a wavy target.
func wave(rows, blocks int) (*matrix.Float32, []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float32, 2*rows), make([]float64, rows)
	for i := range rows {
		x[2*i], x[2*i+1] = float32(r.NormFloat64()), float32(r.NormFloat64())
		y[i] = math.Sin(2*float64(x[2*i])) + 0.5*float64(x[2*i+1]) + 0.1*r.NormFloat64()
	}
	b := randomfeatures.NewBank(randomfeatures.Map{Kernel: kernel.Gaussian{Scale: 1}, Dim: 2, Seed: 3})
	b.Grow(blocks)
	return features(b, blocks, x, 0.5), y
}

func TestFeaturesAreTheMaps(t *testing.T) {
	m := randomfeatures.Map{Kernel: kernel.Gaussian{Scale: 2}, Dim: 3, BlockSize: 4, Seed: 5}
	b := randomfeatures.NewBank(m)
	b.Grow(3)
	x := make([]float32, 3*700)
	r := rand.New(rand.NewPCG(1, 0))
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	a := features(b, 3, x, 0.5)
	n, p := a.Dims()
	if n != 700 || p != 2*3*4+1 {
		t.Fatalf("%d rows of %d features", n, p)
	}
	at := func(i, j int) float64 { return row(a, i)[j] }
	w := make([]float32, 4*3)
	for block := range 3 {
		m.Frequencies(w, block)
		for i := range n {
			for j := range 4 {
				phase := 0.0
				for k := range 3 {
					phase += float64(w[3*j+k]) * float64(x[3*i+k])
				}
				cos, sin := at(i, 2*(4*block+j)), at(i, 2*(4*block+j)+1)
				if f := math.Sqrt(12); math.Abs(cos*f-math.Cos(phase))+math.Abs(sin*f-math.Sin(phase)) > 1e-5 {
					t.Fatalf("row %d, block %d, frequency %d: %v, %v", i, block, j, cos, sin)
				}
			}
		}
	}
	if c := at(1, 24); math.Abs(c-0.5) > 1e-7 {
		t.Errorf("the constant is %v", c)
	}
	if without := features(b, 3, x, 0); len(row(without, 5)) != 24 || distance(row(without, 5), row(a, 5)[:24]) != 0 {
		t.Error("features without a constant are others")
	}
}

// row is row i of a.
func row(a matrix.Matrix, i int) []float64 {
	_, p := a.Dims()
	v := make([]float64, p)
	a.Add(v, i, 1)
	return v
}

// oneAgainstRest returns the targets, rows x classes, of one problem a class: 1 for
// the class of the row and -1 otherwise; or one column if there are two classes.
func oneAgainstRest(class []int, classes int) []float64 {
	scores := classes
	if classes == 2 {
		scores = 1
	}
	b := make([]float64, len(class)*scores)
	for i := range b {
		b[i] = -1
	}
	for i, c := range class {
		if classes > 2 {
			b[i*scores+c] = 1
		} else if c == 1 {
			b[i] = 1
		}
	}
	return b
}

func distance(x, y []float64) float64 { return floats.Distance(x, y, 2) }

func TestFitIsTheOptimum(t *testing.T) {
	a, y := wave(300, 1)
	n, columns := a.Dims()
	both := make([]float64, 2*n)
	class := make([]int, n)
	for i, v := range y {
		both[2*i], both[2*i+1] = v, v*v-1
		if v > 0 {
			class[i] = 1
		}
	}
	ctx := context.Background()
	for what, e := range map[string]*examples{"one target": newExamples(a, y, 1, nil), "two targets": newExamples(a, both, 2, nil)} {
		f, err := fitScores(ctx, e, loss.Square{}, Options{Lambda: 1e-4, Relative: 1e-8, Passes: 2000}, nil)
		if err != nil || !f.Reached || f.Relative > 1e-8 || !f.Direct {
			t.Fatalf("%s: %+v, %v", what, f, err)
		}
		for k := range e.scores {
			p := e.problem(loss.Square{}, 1e-4, k)
			best, err := optim.Solve(ctx, p, optim.Config{Gap: 1e-13, Passes: 20000}, optim.Start{})
			if err != nil {
				t.Fatal(err)
			}
			x := make([]float64, columns)
			for j := range x {
				x[j] = f.Coefficients[j*e.scores+k]
			}
			if gap := p.Primal(x) - best.Certificate.Dual; gap > f.Gap()+2e-13 {
				t.Errorf("%s: score %d is %v from the optimum, certified %v", what, k, gap, f.Gap())
			}
			worst := 0.0
			for i := range n {
				worst = max(worst, math.Abs(a.Dot(i, x)-a.Dot(i, best.X)))
			}
			if worst > f.Bound+1e-5 {
				t.Errorf("%s: score %d differs by %v, certified %v", what, k, worst, f.Bound)
			}
		}
	}
	f, err := fitScores(ctx, newExamples(a, oneAgainstRest(class, 2), 1, nil), loss.Logistic{}, Options{Lambda: 1e-4}, nil)
	if err != nil || !f.Reached || f.Relative > 1e-3 || f.Direct {
		t.Fatalf("logistic: %+v, %v", f, err)
	}
	wrong := 0
	for i, c := range class {
		if (a.Dot(i, f.Coefficients) > 0) != (c == 1) {
			wrong++
		}
	}
	if wrong > n/10 {
		t.Errorf("%d of %d rows are wrong", wrong, n)
	}
}

// repeat returns a with each row as many times as times says. Its elements are those
// of a, to the bit.
func repeat(a *matrix.Float32, times []int) *matrix.Float32 {
	_, columns := a.Dims()
	factor := 1 / math.Sqrt(float64((columns-1)/2))
	var rows []float32
	for i, n := range times {
		for range n {
			for _, v := range row(a, i) {
				rows = append(rows, float32(v/factor))
			}
		}
	}
	return matrix.NewFloat32(len(rows)/columns, columns, rows, factor)
}

// TestAWeightIsARepetition compares rows with weights with rows that are repeated,
// for every loss of one score.
func TestAWeightIsARepetition(t *testing.T) {
	a, y := wave(200, 1)
	r := rand.New(rand.NewPCG(9, 9))
	weights, times := make([]float64, 200), make([]int, 200)
	var again []float64
	for i := range weights {
		times[i] = r.IntN(4)
		weights[i] = 2.5 * float64(times[i])
		for range times[i] {
			again = append(again, y[i])
		}
	}
	b := repeat(a, times)
	signs := func(y []float64) []float64 {
		s := make([]float64, len(y))
		for i, v := range y {
			s[i] = math.Copysign(1, v)
		}
		return s
	}
	for _, l := range loss.All {
		l, ok := l.(loss.Dual)
		if !ok || l.Scores(2) != 1 {
			continue
		}
		d, e := newExamples(a, y, 1, weights), newExamples(b, again, 1, nil)
		if l.Classifies() {
			d.targets, e.targets = signs(y), signs(again)
		}
		o := Options{Lambda: 1e-3, Relative: 1e-10, Passes: 20000}
		got, err := fitScores(context.Background(), d, l, o, nil)
		if err != nil || !got.Reached {
			t.Fatalf("%v: %+v, %v", l, got, err)
		}
		want, err := fitScores(context.Background(), e, l, o, nil)
		if err != nil || !want.Reached {
			t.Fatalf("%v: %+v, %v", l, want, err)
		}
		if off := distance(got.Coefficients, want.Coefficients); off > 2*(got.Bound+want.Bound)+1e-9 {
			t.Errorf("%v: coefficients %v apart, certified %v and %v", l, off, got.Bound, want.Bound)
		}
		if math.Abs(got.Primal-want.Primal) > 1e-9 || math.Abs(got.StartPrimal-want.StartPrimal) > 1e-12 || got.Gap() < -1e-12 {
			t.Errorf("%v: objective %v, gap %v; repeated %v", l, got.Primal, got.Gap(), want.Primal)
		}
	}
	weights[3] = -1
	if _, err := fitScores(context.Background(), newExamples(a, y, 1, weights), loss.Square{}, Options{Lambda: 1}, nil); err == nil {
		t.Error("a weight below 0 is taken")
	}
}

func TestStartIsMeasured(t *testing.T) {
	a, y := wave(300, 1)
	ctx, e, o := context.Background(), newExamples(a, y, 1, nil), Options{Lambda: 1e-3}
	full, err := fitScores(ctx, e, loss.Square{}, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	start := append([]float64(nil), full.Coefficients...)
	for j := range start {
		start[j] *= 1.1
	}
	f, err := fitScores(ctx, e, loss.Square{}, o, start)
	if err != nil {
		t.Fatal(err)
	}
	truth := f.StartPrimal - full.Dual
	if f.Suboptimality < truth-1e-9 || f.StartGap < f.StartPrimal-f.Primal || f.Suboptimality > f.StartGap+1e-9 {
		t.Errorf("the start is %v from the optimum; the fit says %v, its own certificate %v", truth, f.Suboptimality, f.StartGap)
	}
	if f, err = fitScores(ctx, e, loss.Square{}, o, full.Coefficients); err != nil || f.Passes != 0 || distance(f.Coefficients, full.Coefficients) != 0 {
		t.Errorf("a solution was fitted again: %+v, %v", f, err)
	}
}

func TestZeroTargetsHaveTheZeroModel(t *testing.T) {
	a, y := wave(300, 4)
	clear(y)
	e, o := newExamples(a, y, 1, nil), Options{Lambda: 1e-4}
	f, err := fitScores(context.Background(), e, loss.Square{}, o, nil)
	if err != nil || !f.Reached || f.Passes != 0 || f.Relative != 0 || f.Bound != 0 || floats.Norm(f.Coefficients, 2) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	y[7] = math.NaN()
	if _, err = fitScores(context.Background(), e, loss.Square{}, o, nil); err == nil {
		t.Error("no error for a target that is not a number")
	}
	y[7] = 1
	n, columns := a.Dims()
	elements := make([]float32, n*columns)
	elements[5] = float32(math.NaN())
	if _, err = fitScores(context.Background(), newExamples(matrix.NewFloat32(n, columns, elements, 1), y, 1, nil), loss.Square{}, o, nil); err == nil {
		t.Error("no error for a feature that is not a number")
	}
}

func TestModelsGoThereAndBack(t *testing.T) {
	const frequencies, scores, constant = 64, 2, 0.5
	r := rand.New(rand.NewPCG(9, 0))
	coef, intercept := make([]float64, 2*frequencies*scores), []float64{3, -4}
	for j := range coef {
		coef[j] = r.NormFloat64()
	}
	x := make([]float32, 2*10)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	b := randomfeatures.NewBank(randomfeatures.Map{Kernel: kernel.Gaussian{Scale: 1}, Dim: 2, Seed: 3})
	b.Grow(2)
	single := make([]float32, len(coef))
	for j, c := range coef {
		single[j] = float32(c)
	}
	want := make([]float64, 10*scores)
	b.Sum(want, x, single, scores)
	a, w := features(b, 2, x, constant), fromModel(coef, intercept, frequencies, constant)
	for i := range 10 {
		for k := range scores {
			f := 0.0
			for j, z := range row(a, i) {
				f += z * w[j*scores+k]
			}
			if math.Abs(f-want[i*scores+k]-intercept[k]) > 1e-4 {
				t.Errorf("row %d, score %d is %v, the model has %v", i, k, f, want[i*scores+k]+intercept[k])
			}
		}
	}
	back, intercepts := toModel(w, scores, frequencies, constant)
	if distance(back, coef)+distance(intercepts, intercept) > 1e-12 {
		t.Error("the way back does not lead back")
	}
}

// TestSoftmaxIsCertified compares what fitSoftmax says with an optimum to eight
// digits, of whose gradient it is also known that it is 0, and a weight with a
// repetition.
func TestSoftmaxIsCertified(t *testing.T) {
	a, y := wave(240, 1)
	n, cols := a.Dims()
	const classes = 3
	class, weights, times := make([]int, n), make([]float64, n), make([]int, n)
	var again []int
	for i, v := range y {
		class[i] = min(classes-1, max(0, int(1.5+v)))
		weights[i] = float64(1 + i%3)
		times[i] = 1 + i%3
		for range times[i] {
			again = append(again, class[i])
		}
	}
	d := newExamples(a, oneAgainstRest(class, classes), classes, weights)
	o := Options{Lambda: 1e-3, Relative: 1e-8, Passes: 5000}
	best, err := fitSoftmax(context.Background(), d, o, nil)
	if err != nil || !best.Reached || best.Gap() < -1e-12 {
		t.Fatalf("%+v, %v", best, err)
	}
	s, err := newSoftmax(d, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	value := func(coefficients []float64) float64 {
		x, z := d.byScore(coefficients), make([]float64, n*classes)
		s.scores(z, x)
		return s.primal(x, z)
	}
	for _, j := range []int{0, 1, cols, 2*cols + 7} { // central differences
		const h = 1e-4
		up, down := append([]float64(nil), best.Coefficients...), append([]float64(nil), best.Coefficients...)
		up[j] += h
		down[j] -= h
		if slope := (value(up) - value(down)) / (2 * h); math.Abs(slope) > 1e-5 {
			t.Errorf("the slope in coefficient %d is %v at the optimum", j, slope)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	o.Relative = 1e-3
	for range 10 {
		start := make([]float64, cols*classes)
		for j := range start {
			start[j] = r.NormFloat64()
		}
		f, err := fitSoftmax(context.Background(), d, o, start)
		if err != nil || !f.Reached {
			t.Fatalf("%+v, %v", f, err)
		}
		above, begun := f.Primal-best.Primal, f.StartPrimal-best.Primal
		if above > f.Gap()+1e-9 || begun > f.Suboptimality+1e-9 || f.Suboptimality > f.StartGap+1e-12 || math.Abs(value(start)-f.StartPrimal) > 1e-12 {
			t.Errorf("%v above the optimum, certified %v; before %v, certified %v and by itself %v", above, f.Gap(), begun, f.Suboptimality, f.StartGap)
		}
		loose, err := softmaxGap(d, 1e-3, start)
		if err != nil || math.Abs(loose-f.StartGap) > 1e-9 {
			t.Errorf("a gap of %v by itself, want %v, %v", loose, f.StartGap, err)
		}
		worst := 0.0
		for i := range n {
			for k := range classes {
				off := 0.0
				for j, v := range row(a, i) {
					off += v * (f.Coefficients[j*classes+k] - best.Coefficients[j*classes+k])
				}
				worst = max(worst, math.Abs(off))
			}
		}
		if worst > f.Bound+best.Bound {
			t.Errorf("a score is off by %v, certified %v", worst, f.Bound)
		}
	}
	twice, err := fitSoftmax(context.Background(), newExamples(repeat(a, times), oneAgainstRest(again, classes), classes, nil),
		Options{Lambda: 1e-3, Relative: 1e-8, Passes: 5000}, nil)
	if err != nil || math.Abs(twice.Primal-best.Primal) > 1e-7 {
		t.Errorf("repeated rows have the objective %v, weights %v, %v", twice.Primal, best.Primal, err)
	}
	d.targets[0], d.targets[1], d.targets[2] = 1, 1, -1
	if _, err := fitSoftmax(context.Background(), d, Options{Lambda: 1}, nil); err == nil {
		t.Error("a row of two classes is taken")
	}
}

// BenchmarkRefit is a refit of 8000 rows and 1024 features from nothing.
func BenchmarkRefit(b *testing.B) {
	a, y := wave(8000, 16)
	class := make([]int, len(y))
	for i, v := range y {
		if v > 0 {
			class[i] = 1
		}
	}
	for _, l := range []loss.Dual{loss.Square{}, loss.Logistic{}} {
		e := newExamples(a, y, 1, nil)
		if l.Classifies() {
			e.targets = oneAgainstRest(class, 2)
		}
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				f, err := fitScores(context.Background(), e, l, Options{Lambda: 1e-5}, nil)
				if err != nil || !f.Reached {
					b.Fatal(err)
				}
				b.ReportMetric(f.Passes, "passes")
			}
		})
	}
}
