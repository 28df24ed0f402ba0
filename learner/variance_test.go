package learner

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/accrete-ml/accrete/features"
)

// Dai et al., section 7.2, with the penalty as it must be: the normal equations
// with penalty σ² have the mean of a Gaussian process of noise σ², and its
// variance is their leverage times σ². The kernel is that of the features.
func TestRidgeIsTheMeanAndTheVarianceOfAGaussianProcess(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, dim, width, noise = 80, 3, 16, 0.1
	bank := features.NewBank(features.Map{Kernel: features.Gaussian{Scale: 1.5}, Dim: dim, Width: width, Seed: 1})
	bank.Grow(1)
	x := make([]float32, (rows+1)*dim)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	phi := make([]float32, (rows+1)*2*width)
	bank.Features(phi, 0, x)
	z, y, ones := make([][]float64, rows+1), make([]float64, rows), make([]float64, rows)
	for i := range z {
		z[i] = make([]float64, 2*width+1) // without an intercept
		for j, v := range phi[i*2*width : (i+1)*2*width] {
			z[i][j] = float64(v) / math.Sqrt(width)
		}
	}
	for i := range y {
		y[i], ones[i] = math.Sin(float64(2*x[i*dim]))+math.Sqrt(noise)*rng.NormFloat64(), 1
	}
	e := taught(z[:rows], y, ones)
	w, factor := make([]float64, e.n), make([]float64, e.n*e.n)
	if !e.factorise(factor, noise) {
		t.Fatal("not positive definite")
	}
	e.solve(w, factor)

	kernel := func(a, b []float64) float64 {
		return mat.Dot(mat.NewVecDense(len(a), a), mat.NewVecDense(len(b), b))
	}
	gram, at := mat.NewSymDense(rows, nil), mat.NewVecDense(rows, nil)
	for i := range rows {
		for j := range i + 1 {
			gram.SetSym(i, j, kernel(z[i], z[j]))
		}
		gram.SetSym(i, i, gram.At(i, i)+noise)
		at.SetVec(i, kernel(z[i], z[rows]))
	}
	var c mat.Cholesky
	c.Factorize(gram)
	var a, b mat.VecDense
	if err := c.SolveVecTo(&a, mat.NewVecDense(rows, y)); err != nil {
		t.Fatal(err)
	}
	if err := c.SolveVecTo(&b, at); err != nil {
		t.Fatal(err)
	}
	if got, want := kernel(w, z[rows]), mat.Dot(at, &a); math.Abs(got-want) > 1e-10 {
		t.Errorf("mean %v, want %v", got, want)
	}
	want := kernel(z[rows], z[rows]) - mat.Dot(at, &b)
	if got := noise * leverage(factor, z[rows]); math.Abs(got-want) > 1e-10 {
		t.Errorf("variance %v, want %v", got, want)
	}
}

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
	l := newLearner(t, Config{Algorithm: "ridge", Width: 16, MaxFeatures: 32})
	var c Conformal
	rows, inside, squared, variance := 0.0, 0.0, 0.0, 0.0
	uneven(12_000, func(b *Batch) {
		for b.Len() > 0 {
			p := l.Predict(b)
			v, ok := l.Variance(b.Slice(0, p.Len()))
			if ok != (l.fit != nil) {
				t.Fatalf("after %d rows Variance says %v", l.labelled, ok)
			}
			for i := range v {
				off := math.Abs(p.Row(i)[0] - b.Label(i).Value)
				if l.labelled >= 2000 {
					rows, squared, variance = rows+1, squared+off*off, variance+v[i]
					if off <= c.Radius*math.Sqrt(v[i]) {
						inside++
					}
				}
				c.Add(off / math.Sqrt(v[i]))
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
	l := newLearner(t, Config{Algorithm: "ridge", Width: 16, MaxFeatures: 32})
	var b Batch
	b.Reset(2)
	b.Append([]float64{0, 0}, Label{}, 1)
	b.Append([]float64{30, 30}, Label{}, 1)
	uneven(6000, func(b *Batch) { learn(l, b, 50) })
	v, ok := l.Variance(&b)
	if !ok || v[1] < 1.05*v[0] {
		t.Errorf("%v among the rows and far from them, %v", v, ok)
	}
	if _, ok := newLearner(t, Config{Algorithm: "newton"}).Variance(&b); ok {
		t.Error("newton has a variance")
	}
}
