package optim

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func solve(t testing.TB, p *Problem, c Config) *Solution {
	t.Helper()
	s, err := Solve(context.Background(), p, c, Start{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// certifyPair certifies x by y.
func certifyPair(p *Problem, x, y []float64) Certificate {
	u := make([]float64, len(x))
	p.multiplyTransposed(u, y)
	return p.CertifyBy(x, p.dual(y, u))
}

func TestEverySettingReachesTheOptimum(t *testing.T) {
	eachSetting(t, func(t *testing.T, p *Problem, q, m int) {
		for _, l1 := range []float64{0, 1e-3} {
			p.L1 = l1
			s := solve(t, p, Config{Primal: q, Dual: m, Gap: 1e-12, Passes: 20000})
			if s.Gap() > 1e-12 || s.Gap() < -1e-14 || !s.Reached {
				t.Errorf("the gap with l1=%v is %v after %v passes", l1, s.Gap(), s.Passes)
			}
		}
	})
}

// TestTheoremOneHolds compares the contraction of the weighted squared distance
// to the optimum, over many steps, with the theorem's. Randomness gets a tenth.
func TestTheoremOneHolds(t *testing.T) {
	eachSetting(t, func(t *testing.T, p *Problem, q, m int) {
		n, cols := p.A.Dims()
		best := solve(t, p, Config{Passes: 600})
		scale, _ := Scale(p.A, q, m)
		steps := newStepSizes(n, cols, m, q, scale, p.L2, p.gamma(), 1)
		weighted := func(x, y []float64) float64 {
			pq, gamma := float64(cols)/float64(q), p.gamma()
			dx, dy := distance(x, best.X), distance(y, best.Y)
			return (pq/(2*steps.tau)+pq*p.L2)*dx*dx + (float64(n)/float64(2*m)/steps.sigma+gamma/float64(m))*dy*dy
		}
		x, y, _ := Start{}.vectors(p)
		before := weighted(x, y)
		d := newDSPDC(p, Config{Primal: q, Dual: m, Scale: scale, Theorem: 1}, x, y)
		var after float64
		iterations := 0
		for after = before; after > 1e-9*before && iterations < 1e6; iterations++ {
			d.step()
			if iterations%8 == 0 {
				after = weighted(x, y)
			}
		}
		measured := -math.Log(after/before) / float64(iterations)
		theory := -math.Log(steps.contraction)
		t.Logf("1-rate is %.3g, %.2f times the theorem's", measured, measured/theory)
		if measured < 0.9*theory {
			t.Errorf("1-rate is %v after %d steps, the theorem has %v", measured, iterations, theory)
		}
	})
}

// TestTheoremTwoHolds holds the gap against the theorem's bound of its expectation
// all the way down.
func TestTheoremTwoHolds(t *testing.T) {
	eachSetting(t, func(t *testing.T, p *Problem, q, m int) {
		n, cols := p.A.Dims()
		best := solve(t, p, Config{Passes: 600})
		scale, _ := Scale(p.A, q, m)
		gamma := p.gamma()
		steps := newStepSizes(n, cols, m, q, scale, p.L2, gamma, 2)
		fn, nm, pq := float64(n), float64(n)/float64(m), float64(cols)/float64(q)
		norm := spectral(p.A)
		x, y, _ := Start{}.vectors(p)
		dx, dy := distance(x, best.X), distance(y, best.Y)
		bound := (1/min(pq, nm) + max(norm/(fn*gamma), norm/(p.L2*fn*fn))/min(p.L2*pq, gamma/float64(m))) *
			((pq/2/steps.tau+pq*p.L2/2)*dx*dx + (nm/2/steps.sigma+gamma/float64(2*m))*dy*dy + max(pq, nm)*certifyPair(p, x, y).Gap())
		d := newDSPDC(p, Config{Primal: q, Dual: m, Scale: scale, Theorem: 2}, x, y)
		first := bound
		for i := 0; bound > 1e-9*first && i < 2e5; i++ {
			if i%50 == 0 {
				if gap := certifyPair(p, x, y).Gap(); gap > bound {
					t.Fatalf("the gap after %d steps is %v, the theorem has %v", i, gap, bound)
				}
			}
			d.step()
			bound *= steps.contraction
		}
	})
}

func TestStepsAreTheTheorems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, p := rapid.IntRange(1, 10000).Draw(t, "n"), rapid.IntRange(1, 10000).Draw(t, "p")
		m, q := rapid.IntRange(1, n).Draw(t, "m"), rapid.IntRange(1, p).Draw(t, "q")
		scale := rapid.Float64Range(1e-3, 1e3).Draw(t, "scale")
		l2, gamma := rapid.Float64Range(1e-8, 1).Draw(t, "l2"), rapid.Float64Range(0.5, 4).Draw(t, "gamma")
		s := newStepSizes(n, p, m, q, scale, l2, gamma, 1)
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-9*math.Abs(want) {
				t.Errorf("%s is %v, want %v", what, got, want)
			}
		}
		fn, fp, fm, fq := float64(n), float64(p), float64(m), float64(q)
		near("τσ", s.tau*s.sigma, fn*fm*fq/(4*fp*scale))
		near("the third of (21)", fp/(2*fq*l2*s.tau)+fp/fq, fn*fn/(2*fm*gamma*s.sigma)+fn/fm)
		den := math.Sqrt(scale/(l2*gamma*fn))*fn*fp/(fm*fq) + max(fn/fm, fp/fq)
		near("θ", s.theta, fp/fq-fp/fq/den)
		near("the contraction", s.contraction, s.theta*fq/fp)
		near("θ of theorem 2", newStepSizes(n, p, m, q, scale, l2, gamma, 2).theta, fp/fq-fp/fq/(2*den))
	})
}

func TestSquareLossIsTheClosedForm(t *testing.T) {
	p := newProblem(2, 120, 30, loss.Square{}, 1e-2, 0)
	n, cols := p.A.Dims()
	a := mat.NewDense(n, cols, p.A.(*matrix.Dense).Rows())
	var gram mat.Dense
	gram.Mul(a.T(), a)
	for j := range cols {
		gram.Set(j, j, gram.At(j, j)+float64(n)*p.L2)
	}
	var right, want mat.VecDense
	right.MulVec(a.T(), mat.NewVecDense(n, p.Targets))
	if err := want.SolveVec(&gram, &right); err != nil {
		t.Fatal(err)
	}
	equations, err := NewNormalEquations(context.Background(), p.A, nil, p.L2)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := equations.Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	if d := distance(direct.X, want.RawVector().Data); d > 1e-10 || direct.Gap() > 1e-14 {
		t.Errorf("the normal equations are %v from the closed form, with a gap of %v", d, direct.Gap())
	}
	for _, c := range []Config{{}, {Shuffle: true}, {Shuffle: true, Dual: 7}, {Primal: 1}, {Primal: 1, Dual: n}, {Dual: n}, {Primal: 5, Dual: 7}, {Method: SDCA}, {Method: SDCA, Dual: 4}, {Method: SVRG}} {
		c.Passes = 600
		got := solve(t, p, c)
		if d := distance(got.X, want.RawVector().Data); d > 1e-8 {
			t.Errorf("%+v is %v from the closed form, with a gap of %v", c, d, got.Gap())
		}
	}
}

// TestTheDualPlacesTheOptimum is optimality, said another way: at the optimum x is
// the gradient of g* at -Aᵀy/n, zeros and all, and y is the slopes.
func TestTheDualPlacesTheOptimum(t *testing.T) {
	for _, l := range losses {
		p := newProblem(3, 100, 30, l, 1e-2, 5e-3)
		s := solve(t, p, Config{Gap: 1e-16, Passes: 3000})
		u := make([]float64, len(s.X))
		matrix.MultiplyTransposed(u, p.A, s.Y)
		zeros := 0
		for j, x := range s.X {
			if want := soft(-u[j]/100, p.L1) / p.L2; math.Abs(x-want) > 1e-6 {
				t.Errorf("%v: x[%d] is %v, the dual has %v", l, j, x, want)
			}
			if x == 0 {
				zeros++
			}
		}
		if zeros == 0 {
			t.Errorf("%v: λ₁ made no zero", l)
		}
		_, slopes := p.Certify(s.X)
		if d := distance(slopes, s.Y); d > 1e-6 {
			t.Errorf("%v: y is %v from the slopes", l, d)
		}
	}
}

// TestCertificateIsNeverBelowTheTruth is about any x, near and far, in any
// problem.
func TestCertificateIsNeverBelowTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(losses).Draw(t, "loss")
		n, cols := rapid.IntRange(2, 12).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "p")
		p := newProblem(rapid.Uint64().Draw(t, "seed"), n, cols, l, rapid.Float64Range(1e-3, 1).Draw(t, "l2"), rapid.SampledFrom([]float64{0, 0.01}).Draw(t, "l1"))
		best, err := Solve(context.Background(), p, Config{Gap: 1e-15, Passes: 20000}, Start{})
		if err != nil {
			t.Fatal(err)
		}
		spread := rapid.SampledFrom([]float64{0, 1e-8, 1e-3, 1, 100}).Draw(t, "spread")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "around"), 0))
		x := make([]float64, cols)
		for j := range x {
			x[j] = best.X[j] + spread*r.NormFloat64()
		}
		c, y := p.Certify(x)
		rounding := 1e-12 * (1 + c.Primal)
		if below := best.Certificate.Dual; c.Primal-below > c.Gap()+rounding+best.Gap() {
			t.Errorf("the certificate says %v, the suboptimality is at least %v", c.Gap(), c.Primal-best.Certificate.Primal)
		}
		if d := distance(x, best.X); d > c.Distance+1e-6+best.Distance {
			t.Errorf("the certificate says ‖x-x*‖ <= %v, and it is %v", c.Distance, d)
		}
		if pair := certifyPair(p, x, y); math.Abs(pair.Gap()-c.Gap()) > rounding {
			t.Errorf("Certify has a gap of %v, the same y of %v", c.Gap(), pair.Gap())
		}
		if stale := certifyPair(p, x, best.Y); stale.Gap() < c.Primal-best.Certificate.Primal-rounding {
			t.Errorf("the gap to the best y is %v, the suboptimality %v", stale.Gap(), c.Primal-best.Certificate.Primal)
		}
	})
}

func TestFactoredIsDense(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	const n, p, d = 70, 40, 6
	u, v := matrix.NewDense(n, d, random(r, n, d)), matrix.NewDense(p, d, random(r, p, d))
	f := matrix.NewFactored(u, v)
	full := make([]float64, n*p)
	for i := range n {
		f.Add(full[i*p:(i+1)*p], i, 1)
		for j := range p {
			want := 0.0
			for k := range d {
				want += u.Row(i)[k] * v.Row(j)[k]
			}
			if math.Abs(full[i*p+j]-want) > 1e-14 {
				t.Fatalf("UV has %v at %d, %d, want %v", full[i*p+j], i, j, want)
			}
		}
	}
	a := matrix.NewDense(n, p, full)
	for _, l := range losses {
		b := targetsOf(r, l, a)
		for _, s := range []setting{{p, 1}, {1, 1}, {8, 5}, {p, n}, {1, n}} {
			scale, _ := Scale(a, s.q, s.m)
			c := Config{Primal: s.q, Dual: s.m, Seed: 7, Scale: scale, Theorem: 2}
			var got [2][]float64
			for k, a := range []matrix.Matrix{a, f} {
				prob := &Problem{A: a, Targets: b, Loss: l, L2: 1e-2, L1: 1e-3}
				x, y, _ := Start{}.vectors(prob)
				m := newDSPDC(prob, c, x, y)
				for range 200 {
					m.step()
				}
				got[k] = append(x, y...)
			}
			if d := distance(got[0], got[1]); !(d < 1e-10) {
				t.Errorf("%v q=%d m=%d: 200 steps of Algorithm 2 are %v from Algorithm 1", l, s.q, s.m, d)
			}
		}
	}
}

// TestAllMatricesAgree runs the same steps on one matrix, held in both ways and
// with both kinds of bookkeeping.
func TestAllMatricesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	const n, p = 50, 30
	full := make([]float64, n*p)
	start, index, value := []int{0}, []int32{}, []float64{}
	for i := range n {
		for j := range p {
			if r.IntN(4) == 0 {
				full[i*p+j] = float64(float32(r.NormFloat64()))
				index, value = append(index, int32(j)), append(value, full[i*p+j])
			}
		}
		start = append(start, len(index))
	}
	a, b := matrix.NewDense(n, p, full), newSparse(p, start, index, value)
	half := make([]float32, n*p)
	for k, v := range full {
		half[k] = float32(2 * v)
	}
	single := matrix.NewFloat32(n, p, half, 0.5)
	targets := targetsOf(r, loss.Logistic{}, a)
	for _, s := range []setting{{p, 1}, {1, 1}, {7, 9}, {p, n}, {1, n}} {
		for _, theorem := range []int{1, 2} {
			c := Config{Primal: s.q, Dual: s.m, Theorem: theorem, Passes: 20}
			x := solve(t, &Problem{A: a, Targets: targets, Loss: loss.Logistic{}, L2: 1e-2}, c)
			y := solve(t, &Problem{A: b, Targets: targets, Loss: loss.Logistic{}, L2: 1e-2}, c)
			z := solve(t, &Problem{A: single, Targets: targets, Loss: loss.Logistic{}, L2: 1e-2}, c)
			if d := distance(x.X, y.X) + distance(x.X, z.X); !(d < 1e-9) {
				t.Errorf("%+v: sparse, dense and float32 are %v apart", c, d)
			}
			prob := &Problem{A: a, Targets: targets, Loss: loss.Logistic{}, L2: 1e-2}
			c.Scale = x.Scale
			xs, ys := [2][]float64{}, [2][]float64{}
			for k, build := range []func(dspdc) method{newByRows, newByColumns} {
				xs[k], ys[k], _ = Start{}.vectors(prob)
				m := build(newShared(prob, c, xs[k], ys[k]))
				for range 100 {
					m.step()
				}
			}
			if d := distance(xs[0], xs[1]) + distance(ys[0], ys[1]); !(d < 1e-10) {
				t.Errorf("%+v: by rows and by columns are %v apart", c, d)
			}
		}
	}
}

// TestScaleIsTheSpectralNorm compares the cases that are exact, and the bound of
// those that are not, with singular values.
func TestScaleIsTheSpectralNorm(t *testing.T) {
	p := newProblem(10, 30, 12, loss.Square{}, 1, 0)
	a := p.A.(*matrix.Dense)
	greatest := func(rows, columns []int) float64 {
		b := part(a, rows, columns)
		var d mat.SVD
		if !d.Factorize(mat.NewDense(len(rows), len(columns), b.Rows()), mat.SVDNone) {
			t.Fatal("no singular values")
		}
		v := d.Values(nil)[0]
		return v * v
	}
	all, columns := make([]int, 30), make([]int, 12)
	for i := range all {
		all[i] = i
	}
	copy(columns, all)
	row, column := 0.0, 0.0
	for i := range all {
		row = max(row, greatest([]int{i}, columns))
	}
	for j := range columns {
		column = max(column, greatest(all, []int{j}))
	}
	for _, c := range []struct {
		q, m int
		want float64
	}{{12, 1, row}, {1, 30, column}, {12, 30, greatest(all, columns)}} {
		if got, exact := Scale(a, c.q, c.m); !exact || got < c.want*(1-1e-12) || got > c.want*(1+2e-6) {
			t.Errorf("q=%d m=%d: %v, want %v, exact %v", c.q, c.m, got, c.want, exact)
		}
	}
	if got, exact := Scale(a, 4, 10); exact || got > 10*row || got < greatest(all[:10], columns[:4]) {
		t.Errorf("an estimate of %v, exact %v", got, exact)
	}
}

// TestAWeightIsARepetition compares rows with weights with rows that are repeated,
// for every loss and method, and holds certificates far from the optimum against it.
func TestAWeightIsARepetition(t *testing.T) {
	const n, columns = 40, 8
	r := rand.New(rand.NewPCG(9, 9))
	for _, l := range losses {
		for _, l1 := range []float64{0, 1e-3} {
			p := newProblem(14, n, columns, l, 1e-2, l1)
			q := &Problem{Loss: l, L2: p.L2, L1: l1}
			var rows []float64
			p.Weights = make([]float64, n)
			for i := range p.Weights {
				times := r.IntN(4)
				p.Weights[i] = float64(times)
				for range times {
					rows, q.Targets = append(rows, p.A.(*matrix.Dense).Row(i)...), append(q.Targets, p.Targets[i])
				}
			}
			for i := range p.Weights { // so that both means are of the same terms
				p.Weights[i] *= n / float64(len(q.Targets))
			}
			q.A = matrix.NewDense(len(q.Targets), columns, rows)
			want := solve(t, q, Config{Gap: 1e-13, Passes: 20000})
			for _, m := range []Method{DSPDC, SPDC, SDCA, SVRG} {
				got := solve(t, p, Config{Method: m, Gap: 1e-10, Passes: 20000})
				if d := distance(got.X, want.X); !got.Reached || d > got.Distance+want.Distance || math.Abs(got.Certificate.Primal-want.Certificate.Primal) > 1e-9 {
					t.Errorf("%v, l1=%v, %s: %v apart, gap %v", l, l1, m, d, got.Gap())
				}
			}
			for range 20 {
				x := make([]float64, columns)
				for j := range x {
					x[j] = r.NormFloat64()
				}
				if c, _ := p.Certify(x); c.Primal-want.Certificate.Primal > c.Gap()+1e-9 {
					t.Errorf("%v, l1=%v: %v above the optimum, certified %v", l, l1, c.Primal-want.Certificate.Primal, c.Gap())
				}
			}
		}
	}
	p := newProblem(14, n, columns, loss.Square{}, 1e-2, 0)
	for what, weights := range map[string][]float64{"of other rows": make([]float64, 3), "below 0": slices.Repeat([]float64{-1}, n), "not a number": slices.Repeat([]float64{math.NaN()}, n)} {
		p.Weights = weights
		if _, err := Solve(context.Background(), p, Config{}, Start{}); err == nil {
			t.Errorf("weights %s: no error", what)
		}
	}
}

func TestWarmStartsAndSeedsAreKept(t *testing.T) {
	p := newProblem(6, 80, 20, loss.SmoothedHinge{}, 1e-2, 0)
	ctx := context.Background()
	cold := solve(t, p, Config{Gap: 1e-9, Seed: 3})
	again := solve(t, p, Config{Gap: 1e-9, Seed: 3})
	if distance(cold.X, again.X) != 0 || cold.Iterations != again.Iterations {
		t.Error("the same seed gave other bits")
	}
	if other := solve(t, p, Config{Gap: 1e-9, Seed: 4}); distance(cold.X, other.X) == 0 {
		t.Error("another seed gave the same bits")
	}
	warm, err := Solve(ctx, p, Config{Gap: 1e-9}, Start{X: cold.X, Y: cold.Y})
	if err != nil || warm.Passes != 0 {
		t.Errorf("a solution as the start took %v passes, error %v", warm.Passes, err)
	}
	warm, err = Solve(ctx, p, Config{Gap: 1e-9}, Start{X: cold.X})
	if err != nil || warm.Passes > 0.7*cold.Passes {
		t.Errorf("the x of a solution as the start took %v passes, none at all %v, error %v", warm.Passes, cold.Passes, err)
	}
}

func TestEstimatesOfTheScaleGrow(t *testing.T) {
	p := newProblem(9, 80, 20, loss.Square{}, 1e-4, 0)
	exact, _ := Scale(p.A, 20, 1)
	solver := func(c Config) (*Solution, error) { return Solve(context.Background(), p, c, Start{}) }
	c := Config{Scale: exact / 100, Relative: 1e-6}
	if s, err := solver(c); err != ErrDiverged || s == nil {
		t.Fatalf("with a hundredth of the scale: %v", err)
	}
	s, err := retryWithScale(c, true, solver)
	if err != nil || !s.Reached || s.Scale < exact/20 || s.Scale > 2*exact {
		t.Errorf("a scale of %v, where %v is exact, error %v", s.Scale, exact, err)
	}
}

func TestCancelledSolverReturnsWhatItHas(t *testing.T) {
	p := newProblem(7, 80, 20, loss.Square{}, 1e-4, 0)
	ctx, cancel := context.WithCancel(context.Background())
	s, err := Solve(ctx, p, Config{Gap: 1e-14, Progress: func(at Point) {
		if at.Passes >= 3 {
			cancel()
		}
	}}, Start{})
	if err != context.Canceled || s == nil || s.Passes > 4.5 || len(s.Trace) > 5 {
		t.Errorf("error %v after %v passes", err, s.Passes)
	}
}

func TestBadProblemsAreErrors(t *testing.T) {
	good := newProblem(8, 10, 4, loss.Logistic{}, 1e-2, 0)
	for what, change := range map[string]func(p *Problem, c *Config, s *Start){
		"targets":       func(p *Problem, _ *Config, _ *Start) { p.Targets = p.Targets[1:] },
		"a class -1":    func(p *Problem, _ *Config, _ *Start) { p.Targets = slices.Repeat([]float64{-1}, 10) },
		"no loss":       func(p *Problem, _ *Config, _ *Start) { p.Loss = nil },
		"no l2":         func(p *Problem, _ *Config, _ *Start) { p.L2 = 0 },
		"l1":            func(p *Problem, _ *Config, _ *Start) { p.L1 = math.NaN() },
		"q":             func(_ *Problem, c *Config, _ *Start) { c.Primal = 5 },
		"m":             func(_ *Problem, c *Config, _ *Start) { c.Dual = 11 },
		"method":        func(_ *Problem, c *Config, _ *Start) { c.Method = "sgd" },
		"a short start": func(_ *Problem, _ *Config, s *Start) { s.X = []float64{1} },
		"an infeasible start": func(_ *Problem, _ *Config, s *Start) {
			s.Y = []float64{5, 0, 0, 0, 0, 0, 0, 0, 0, 0}
		},
	} {
		p, c, s := *good, Config{}, Start{}
		change(&p, &c, &s)
		if _, err := Solve(context.Background(), &p, c, s); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
