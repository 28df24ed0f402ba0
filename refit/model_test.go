package refit

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features"
)

// wave returns rows of two numbers, their features and a wavy target.
func wave(rows, blocks int) (*Single, []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float32, 2*rows), make([]float64, rows)
	for i := range rows {
		x[2*i], x[2*i+1] = float32(r.NormFloat64()), float32(r.NormFloat64())
		y[i] = math.Sin(2*float64(x[2*i])) + 0.5*float64(x[2*i+1]) + 0.1*r.NormFloat64()
	}
	b := features.NewBank(features.Map{Kernel: features.Gaussian{Scale: 1}, Dim: 2, Seed: 3})
	b.Grow(blocks)
	return Features(b, blocks, x, 0.5), y
}

func TestFeaturesAreTheMaps(t *testing.T) {
	m := features.Map{Kernel: features.Gaussian{Scale: 2}, Dim: 3, BlockSize: 4, Seed: 5}
	b := features.NewBank(m)
	b.Grow(3)
	x := make([]float32, 3*700)
	r := rand.New(rand.NewPCG(1, 0))
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	a := Features(b, 3, x, 0.5)
	n, p := a.Dims()
	if n != 700 || p != 2*3*4+1 {
		t.Fatalf("%d rows of %d features", n, p)
	}
	at := func(i, j int) float64 { return a.factor * float64(a.row(i)[j]) }
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
	if without := Features(b, 3, x, 0); without.p != 24 || distance(row(without, 5), row(a, 5)[:24]) != 0 {
		t.Error("features without a constant are others")
	}
}

// row is row i of a.
func row(a Matrix, i int) []float64 {
	_, p := a.Dims()
	v := make([]float64, p)
	a.Add(v, i, 1)
	return v
}

func TestRefitIsTheOptimum(t *testing.T) {
	a, y := wave(300, 1)
	n, cols := a.Dims()
	both := make([]float64, 2*n)
	class := make([]int, n)
	for i, v := range y {
		both[2*i], both[2*i+1] = v, v*v-1
		if v > 0 {
			class[i] = 1
		}
	}
	ctx := context.Background()
	for what, d := range map[string]Data{
		"one output":  {Features: a, Targets: y},
		"two outputs": {Features: a, Targets: both, Outputs: 2},
	} {
		for _, l1 := range []float64{0, 1e-4} {
			o := Options{Loss: Square{}, Lambda: 1e-4, L1: l1, Relative: 1e-8, Passes: 2000}
			f, err := Refit(ctx, d, o)
			if err != nil || !f.Reached || f.Relative > 1e-8 || f.Direct != (l1 == 0) {
				t.Fatalf("%s, l1=%v: %+v, %v", what, l1, f, err)
			}
			for k := range max(1, d.Outputs) {
				p := &Problem{A: a, Targets: make([]float64, n), Loss: Square{}, L2: 1e-4, L1: l1}
				for i := range n {
					p.Targets[i] = d.Targets[i*max(1, d.Outputs)+k]
				}
				best := solve(t, p, Config{Gap: 1e-13, Passes: 20000})
				x := make([]float64, cols)
				for j := range x {
					x[j] = f.Coefficients[j*max(1, d.Outputs)+k]
				}
				if gap := p.Primal(x) - best.Certificate.Dual; gap > f.Gap()+2e-13 {
					t.Errorf("%s, l1=%v: output %d is %v from the optimum, certified %v", what, l1, k, gap, f.Gap())
				}
				worst := 0.0
				for i := range n {
					worst = max(worst, math.Abs(a.Dot(i, x)-a.Dot(i, best.X)))
				}
				if worst > f.Bound+1e-5 {
					t.Errorf("%s, l1=%v: output %d differs by %v, certified %v", what, l1, k, worst, f.Bound)
				}
			}
		}
	}
	f, err := Refit(ctx, Data{Features: a, Targets: OneVersusRest(class, 2)}, Options{Loss: Logistic{}, Lambda: 1e-4})
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

// TestAWeightIsARepetition compares rows with weights with rows that stand there
// as often, for every loss and way to solve.
func TestAWeightIsARepetition(t *testing.T) {
	a, y := wave(200, 1)
	_, cols := a.Dims()
	r := rand.New(rand.NewPCG(9, 9))
	weights := make([]float64, 200)
	var repeated []float32
	var again []float64
	for i := range weights {
		times := r.IntN(4)
		weights[i] = 2.5 * float64(times)
		for range times {
			repeated, again = append(repeated, a.row(i)...), append(again, y[i])
		}
	}
	b := NewSingle(len(again), cols, repeated, a.factor)
	signs := func(y []float64) []float64 {
		s := make([]float64, len(y))
		for i, v := range y {
			s[i] = math.Copysign(1, v)
		}
		return s
	}
	for _, l := range Losses {
		for _, l1 := range []float64{0, 1e-4} {
			d, e := Data{Features: a, Targets: y, Weights: weights}, Data{Features: b, Targets: again}
			if l != (Square{}) {
				d.Targets, e.Targets = signs(y), signs(again)
			}
			o := Options{Loss: l, Lambda: 1e-3, L1: l1, Relative: 1e-10, Passes: 20000}
			got, err := Refit(context.Background(), d, o)
			if err != nil || !got.Reached {
				t.Fatalf("%v: %+v, %v", l, got, err)
			}
			want, err := Refit(context.Background(), e, o)
			if err != nil || !want.Reached {
				t.Fatalf("%v: %+v, %v", l, want, err)
			}
			if off := distance(got.Coefficients, want.Coefficients); off > 2*(got.Bound+want.Bound)+1e-9 {
				t.Errorf("%v, l1=%v: coefficients %v apart, certified %v and %v", l, l1, off, got.Bound, want.Bound)
			}
			if math.Abs(got.Primal-want.Primal) > 1e-9 || math.Abs(got.StartPrimal-want.StartPrimal) > 1e-12 || got.Gap() < -1e-12 {
				t.Errorf("%v, l1=%v: objective %v, gap %v; repeated %v", l, l1, got.Primal, got.Gap(), want.Primal)
			}
			p := &Problem{A: a, Targets: d.Targets, Weights: shares(weights), Loss: l, L2: 1e-3, L1: l1}
			for range 20 { // far from the optimum
				x := make([]float64, cols)
				for j := range x {
					x[j] = r.NormFloat64() / 5
				}
				if c, _ := p.Certify(x); c.Primal-want.Primal > c.Gap()+1e-9 {
					t.Errorf("%v, l1=%v: %v above the optimum, certified %v", l, l1, c.Primal-want.Primal, c.Gap())
				}
			}
			for _, m := range []Method{SDCA, SVRG} {
				s, err := Solve(context.Background(), p, Config{Method: m, Gap: 1e-6, Passes: 20000}, Start{})
				if err != nil || !s.Reached || s.Certificate.Primal-want.Dual > s.Gap()+1e-9 {
					t.Errorf("%v, l1=%v, %s: %v", l, l1, m, err)
				}
			}
		}
	}
	if _, err := Refit(context.Background(), Data{Features: a, Targets: y, Weights: make([]float64, 3)}, Options{Loss: Square{}, Lambda: 1}); err == nil {
		t.Error("weights of other rows are taken")
	}
	weights[3] = -1
	if _, err := Refit(context.Background(), Data{Features: a, Targets: y, Weights: weights}, Options{Loss: Square{}, Lambda: 1}); err == nil {
		t.Error("a weight below 0 is taken")
	}
}

func TestStartOfRefitIsMeasured(t *testing.T) {
	a, y := wave(300, 1)
	ctx := context.Background()
	o := Options{Loss: Square{}, Lambda: 1e-3}
	full, err := Refit(ctx, Data{Features: a, Targets: y}, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Start = append([]float64(nil), full.Coefficients...)
	for j := range o.Start {
		o.Start[j] *= 1.1
	}
	f, err := Refit(ctx, Data{Features: a, Targets: y}, o)
	if err != nil {
		t.Fatal(err)
	}
	truth := f.StartPrimal - full.Dual
	if f.Suboptimality < truth-1e-9 || f.StartGap < f.StartPrimal-f.Primal || f.Suboptimality > f.StartGap+1e-9 {
		t.Errorf("the start is %v from the optimum; the refit says %v, its own certificate %v", truth, f.Suboptimality, f.StartGap)
	}
	o.Start = full.Coefficients
	if f, err = Refit(ctx, Data{Features: a, Targets: y}, o); err != nil || f.Passes != 0 || distance(f.Coefficients, full.Coefficients) != 0 {
		t.Errorf("a solution was refitted: %+v, %v", f, err)
	}
}

func TestTargetsOfNothing(t *testing.T) {
	a, y := wave(300, 4)
	clear(y)
	f, err := Refit(context.Background(), Data{Features: a, Targets: y}, Options{Loss: Square{}, Lambda: 1e-4})
	if err != nil || !f.Reached || f.Passes != 0 || f.Relative != 0 || f.Bound != 0 || length(f.Coefficients) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	y[7] = math.NaN()
	if _, err = Refit(context.Background(), Data{Features: a, Targets: y}, Options{Loss: Square{}, Lambda: 1e-4}); err == nil {
		t.Error("no error for a target that is not a number")
	}
	y[7] = 1
	a.row(3)[5] = float32(math.NaN())
	if _, err = Refit(context.Background(), Data{Features: a, Targets: y}, Options{Loss: Square{}, Lambda: 1e-4}); err == nil {
		t.Error("no error for a feature that is not a number")
	}
}

func TestModelsGoThereAndBack(t *testing.T) {
	const frequencies, outputs, constant = 64, 2, 0.5
	r := rand.New(rand.NewPCG(9, 0))
	coef, intercept := make([]float64, 2*frequencies*outputs), []float64{3, -4}
	for j := range coef {
		coef[j] = r.NormFloat64()
	}
	x := make([]float32, 2*10)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	b := features.NewBank(features.Map{Kernel: features.Gaussian{Scale: 1}, Dim: 2, Seed: 3})
	b.Grow(2)
	single := make([]float32, len(coef))
	for j, c := range coef {
		single[j] = float32(c)
	}
	want := make([]float64, 10*outputs)
	b.Sum(want, x, single, outputs)
	a, w := Features(b, 2, x, constant), FromModel(coef, intercept, frequencies, constant)
	for i := range 10 {
		for k := range outputs {
			f := 0.0
			for j, z := range row(a, i) {
				f += z * w[j*outputs+k]
			}
			if math.Abs(f-want[i*outputs+k]-intercept[k]) > 1e-4 {
				t.Errorf("row %d, output %d is %v, the model has %v", i, k, f, want[i*outputs+k]+intercept[k])
			}
		}
	}
	back, intercepts := ToModel(w, outputs, frequencies, constant)
	if distance(back, coef)+distance(intercepts, intercept) > 1e-12 {
		t.Error("the way back does not lead back")
	}
}

func TestOneVersusRest(t *testing.T) {
	got := OneVersusRest([]int{2, 0}, 3)
	for i, want := range []float64{-1, -1, 1, 1, -1, -1} {
		if got[i] != want {
			t.Errorf("%v", got)
		}
	}
	if got = OneVersusRest([]int{1, 0}, 2); len(got) != 2 || got[0] != 1 || got[1] != -1 {
		t.Errorf("%v", got)
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
	for _, l := range []Loss{Square{}, Logistic{}} {
		d := Data{Features: a, Targets: y}
		if l != (Square{}) {
			d.Targets = OneVersusRest(class, 2)
		}
		b.Run(l.String(), func(b *testing.B) {
			for b.Loop() {
				f, err := Refit(context.Background(), d, Options{Loss: l, Lambda: 1e-5})
				if err != nil || !f.Reached {
					b.Fatal(err)
				}
				b.ReportMetric(f.Passes, "passes")
			}
		})
	}
}

// TestSoftmaxIsCertified compares what RefitSoftmax says with an optimum to eight
// digits, of whose gradient it is also known that it is 0, and a weight with a
// repetition.
func TestSoftmaxIsCertified(t *testing.T) {
	a, y := wave(240, 1)
	n, cols := a.Dims()
	const classes = 3
	class, weights := make([]int, n), make([]float64, n)
	var repeated []float32
	var again []int
	for i, v := range y {
		class[i] = min(classes-1, max(0, int(1.5+v)))
		weights[i] = float64(1 + i%3)
		for range 1 + i%3 {
			repeated, again = append(repeated, a.row(i)...), append(again, class[i])
		}
	}
	d := Data{Features: a, Targets: OneVersusRest(class, classes), Outputs: classes, Weights: weights}
	o := Options{Lambda: 1e-3, Relative: 1e-8, Passes: 5000}
	best, err := RefitSoftmax(context.Background(), d, o)
	if err != nil || !best.Reached || best.Gap() < -1e-12 {
		t.Fatalf("%+v, %v", best, err)
	}
	s, err := newSoftmax(Data{Features: a, Targets: d.Targets, Outputs: classes, Weights: shares(weights)}, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	value := func(coefficients []float64) float64 {
		x, z := s.columns(coefficients), make([]float64, n*classes)
		s.outputs(z, x)
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
		o.Start = make([]float64, cols*classes)
		for j := range o.Start {
			o.Start[j] = r.NormFloat64()
		}
		f, err := RefitSoftmax(context.Background(), d, o)
		if err != nil || !f.Reached {
			t.Fatalf("%+v, %v", f, err)
		}
		above, begun := f.Primal-best.Primal, f.StartPrimal-best.Primal
		if above > f.Gap()+1e-9 || begun > f.Suboptimality+1e-9 || f.Suboptimality > f.StartGap+1e-12 || math.Abs(value(o.Start)-f.StartPrimal) > 1e-12 {
			t.Errorf("%v above the optimum, certified %v; before %v, certified %v and by itself %v", above, f.Gap(), begun, f.Suboptimality, f.StartGap)
		}
		loose, err := softmaxGap(d, 1e-3, o.Start)
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
			t.Errorf("an output is off by %v, certified %v", worst, f.Bound)
		}
	}
	twice, err := RefitSoftmax(context.Background(), Data{Features: NewSingle(len(again), cols, repeated, a.factor), Targets: OneVersusRest(again, classes), Outputs: classes},
		Options{Lambda: 1e-3, Relative: 1e-8, Passes: 5000})
	if err != nil || math.Abs(twice.Primal-best.Primal) > 1e-7 {
		t.Errorf("repeated rows have the objective %v, weights %v, %v", twice.Primal, best.Primal, err)
	}
	d.Targets[0], d.Targets[1], d.Targets[2] = 1, 1, -1
	if _, err := RefitSoftmax(context.Background(), d, Options{Lambda: 1}); err == nil {
		t.Error("a row of two classes is taken")
	}
}
