package learner

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// uneven is a regression whose noise differs tenfold, in batches of some rows.
func uneven(n int, learn func(b *Batch)) {
	rng := rand.New(rand.NewPCG(3, 4))
	var b Batch
	b.Reset(2)
	for range n {
		x := []float64{rng.NormFloat64(), rng.NormFloat64()}
		b.Append(x, Label{Task: Regression, Value: 100 + 5*math.Sin(2*x[0]) + math.Exp(x[1])*rng.NormFloat64()}, 1)
		if b.Len() == 50 {
			learn(&b)
			b.Reset(2)
		}
	}
}

// TestIntervalsHoldTheShareThatTheyShould: those of 90 % hold 89 to 91 % of the
// labels, and the variance that they are made from is the mean squared error.
func TestIntervalsHoldTheShareThatTheyShould(t *testing.T) {
	t.Parallel()
	l := newLearner(t, Config{Algorithm: "ridge", BlockSize: 16, MaxFeatures: 32, Variance: true})
	var c Conformal
	rows, inside, squared, variance := 0.0, 0.0, 0.0, 0.0
	uneven(12_000, func(b *Batch) {
		for b.Len() > 0 {
			p := l.Predict(b)
			for i := range p.Len() {
				if has := p.Uncertainty(i).HasVariance(); has != (l.labelled > 0) {
					t.Fatalf("after %d rows HasVariance says %v", l.labelled, has)
				} else if !has {
					continue
				}
				v, off := p.Uncertainty(i).Variance(0), math.Abs(p.Row(i)[0]-b.Label(i).Value)
				if l.labelled >= 2000 {
					rows, squared, variance = rows+1, squared+off*off, variance+v
					if off <= c.Radius*math.Sqrt(v) {
						inside++
					}
				}
				c.Add(off / math.Sqrt(v))
			}
			b = b.Slice(p.Len(), b.Len())
			l.Learn(p)
		}
	})
	if share := inside / rows; share < 0.89 || share > 0.91 {
		t.Errorf("%.3f of the labels are in intervals of 90 %%", share)
	}
	if ratio := variance / squared; ratio < 0.95 || ratio > 1.05 {
		t.Errorf("the variance is %.3f of the squared error", ratio)
	}
	t.Logf("%.3f inside, variance/squared error %.3f, radius %.2f", inside/rows, variance/squared, c.Radius)
}

func TestVarianceGrowsAwayFromTheRows(t *testing.T) {
	l := newLearner(t, Config{Algorithm: "ridge", BlockSize: 16, MaxFeatures: 32, Variance: true})
	var b Batch
	b.Reset(2)
	b.Append([]float64{0, 0}, Label{}, 1)
	b.Append([]float64{30, 30}, Label{}, 1)
	uneven(6000, func(b *Batch) { learn(l, b, 50) })
	p := l.Predict(&b)
	if near, far := p.Uncertainty(0).Variance(0), p.Uncertainty(1).Variance(0); far < 1.05*near {
		t.Errorf("%v among the rows, %v far from them", near, far)
	}
}

// The leverage of a row is that of the exact kernel, as a Gaussian process has it
// (Rasmussen and Williams 2006, equation 2.26): with (K + νI)⁻¹ of the rows learned, it is
// (k(x, x) - kᵀ(K + νI)⁻¹k) / ν, where k has a constant for the
// intercept.
func TestLeverageIsThatOfTheKernel(t *testing.T) {
	for name, c := range map[string]Config{
		"ridge":  {Algorithm: "ridge", Kernel: "gaussian:1"},
		"newton": {Algorithm: "newton", Kernel: "gaussian:1", MaxFeatures: 64},
	} {
		c.Variance = true
		l, err := New(c) // with a whole warm-up
		if err != nil {
			t.Fatal(err)
		}
		var learned, test Batch
		learned.Reset(2)
		test.Reset(2)
		uneven(500+100, func(b *Batch) {
			of := &learned
			if l.labelled == 500 {
				of = &test
			} else {
				learn(l, b, b.Len())
			}
			for i := range b.Len() {
				of.Append(b.X(i), Label{}, 1)
			}
		})
		leverages := l.Predict(&test).Leverages
		exact := exactLeverages(t, l, &learned, &test)
		if r := relativeRMS(leverages, exact); r > 0.1 {
			t.Errorf("%s: the leverages differ by %.3f of their size from those of the kernel", name, r)
		} else {
			t.Logf("%s: %.3f", name, r)
		}
	}
}

// exactLeverages returns them for the rows of test, of a learner that has learned the first
// rows of b.
func exactLeverages(t *testing.T, l *Learner, b, test *Batch) []float64 {
	t.Helper()
	rows := func(b *Batch, n int) (out [][]float64) {
		x := scaledRows(nil, &l.fit.Scaler, b, n)
		for i := range n {
			row := make([]float64, b.Dim())
			for j := range row {
				row[j] = float64(x[i*b.Dim()+j])
			}
			out = append(out, row)
		}
		return out
	}
	const constant = 1e6 // variance of the intercept, relative to the noise
	penalty := l.fit.Lambda * 1000
	k := func(x, y []float64) float64 { return l.fit.Kernel.Eval(x, y)/penalty + constant }
	n := int(l.labelled) - len(l.pending.Labels)
	of := rows(b, n)
	a := mat.NewSymDense(n, nil)
	for i, x := range of {
		for j, y := range of[:i+1] {
			a.SetSym(i, j, k(x, y))
		}
		a.SetSym(i, i, a.At(i, i)+1)
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		t.Fatal("the kernel matrix is not definite")
	}
	var out []float64
	for _, x := range rows(test, test.Len()) {
		cross, solved := mat.NewVecDense(n, nil), new(mat.VecDense)
		for i, y := range of {
			cross.SetVec(i, k(x, y))
		}
		if err := c.SolveVecTo(solved, cross); err != nil {
			t.Fatal(err)
		}
		out = append(out, k(x, x)-mat.Dot(cross, solved))
	}
	return out
}

func relativeRMS(got, want []float64) float64 {
	sum, of := 0.0, 0.0
	for i, v := range want {
		sum += (got[i] - v) * (got[i] - v)
		of += v * v
	}
	return math.Sqrt(sum / of)
}
