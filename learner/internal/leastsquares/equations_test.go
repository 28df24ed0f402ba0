package leastsquares

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
	"gonum.org/v1/gonum/mat"
)

// taught returns the normal equations of rows z with targets t and weights.
func taught(z [][]float64, t, weights []float64) Equations {
	n := len(z[0])
	e := New(n, 1)
	for i, row := range z {
		gram, moment := make([]float64, n*n), make([]float64, n)
		for a := range n {
			for b := range a + 1 {
				gram[a*n+b] = weights[i] * row[a] * row[b]
			}
			moment[a] = weights[i] * t[i] * row[a]
		}
		e.Add(gram, moment, weights[i])
	}
	return e
}

func solution(t *testing.T, e *Equations, penalty float64) []float64 {
	t.Helper()
	w, factor := make([]float64, e.N), make([]float64, e.N*e.N)
	if !e.Factorise(factor, penalty) {
		t.Fatal("not positive definite")
	}
	e.Solve(w, factor)
	return w
}

// TestEquationsHaveTheSolutionOfGonum: their solution is gonum's, and weight 2 is the same row twice.
func TestEquationsHaveTheSolutionOfGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, n, penalty = 60, 7, 0.3
	z, y, weights := make([][]float64, rows), make([]float64, rows), make([]float64, rows)
	for i := range z {
		z[i] = make([]float64, n)
		for j := range z[i] {
			z[i][j] = rng.NormFloat64()
		}
		z[i][n-1] = 1
		y[i], weights[i] = rng.NormFloat64(), float64(1+rng.IntN(2))
	}
	whole := taught(z, y, weights)
	w := solution(t, &whole, penalty)

	a, b := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i, row := range z {
		v := mat.NewVecDense(n, row)
		a.RankOne(a, weights[i], v, v)
		b.AddScaledVec(b, weights[i]*y[i], v)
	}
	for j := range n - 1 {
		a.Set(j, j, a.At(j, j)+penalty)
	}
	a.Set(n-1, n-1, a.At(n-1, n-1)+1e-6)
	var want mat.VecDense
	if err := want.SolveVec(a, b); err != nil {
		t.Fatal(err)
	}
	close := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-10*(1+math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for j := range w {
		close("solution", w[j], want.AtVec(j))
	}

	var repeated [][]float64
	var ry, ones []float64
	for i := range z {
		for range int(weights[i]) {
			repeated, ry, ones = append(repeated, z[i]), append(ry, y[i]), append(ones, 1)
		}
	}
	again := taught(repeated, ry, ones)
	twice := solution(t, &again, penalty)
	for j := range w {
		close("repeated", twice[j], w[j])
	}
	if again.Rows != whole.Rows {
		t.Errorf("%v rows, want %v", again.Rows, whole.Rows)
	}
}

// Dai et al., section 7.2, with the penalty as it must be: the normal equations
// with penalty σ² have the mean of a Gaussian process of noise σ². The kernel is that
// of the features.
func TestRidgeIsTheMeanOfAGaussianProcess(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, dim, width, noise = 80, 3, 16, 0.1
	bank := features.NewBank(features.Map{Kernel: kernel.Gaussian{Scale: 1.5}, Dim: dim, BlockSize: width, Seed: 1})
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
	w, factor := make([]float64, e.N), make([]float64, e.N*e.N)
	if !e.Factorise(factor, noise) {
		t.Fatal("not positive definite")
	}
	e.Solve(w, factor)

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
	var a mat.VecDense
	if err := c.SolveVecTo(&a, mat.NewVecDense(rows, y)); err != nil {
		t.Fatal(err)
	}
	if got, want := kernel(w, z[rows]), mat.Dot(at, &a); math.Abs(got-want) > 1e-10 {
		t.Errorf("mean %v, want %v", got, want)
	}
}

// Targets that are solved together have the bits of those that are solved one by one.
func TestTargetsAreSolvedTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for targets := 1; targets < 22; targets++ {
		n := 1 + rng.IntN(20)
		e, factor := New(n, targets), make([]float64, n*n)
		for i := range e.Moment {
			e.Moment[i] = rng.NormFloat64()
		}
		for i := range n {
			for j := range i {
				factor[i*n+j] = rng.NormFloat64()
			}
			factor[i*n+i] = 1 + rng.Float64()
		}
		from := rng.IntN(targets)
		w := make([]float64, targets*n)
		e.SolveSome(w, factor, from, targets)
		for k := range targets {
			want := make([]float64, n)
			if k >= from {
				copy(want, e.Moment[k*n:])
				vec.CholeskySolve(factor, n, want)
			}
			if got := w[k*n : (k+1)*n]; !slices.Equal(got, want) {
				t.Fatalf("%d of targets %d to %d: %v, alone %v", k, from, targets, got, want)
			}
		}
	}
}
