package learner

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// taught returns the normal equations of rows z with targets t and weights.
func taught(z [][]float64, t, weights []float64) equations {
	n := len(z[0])
	e := newEquations(n, 1)
	for i, row := range z {
		gram, moment := make([]float64, n*n), make([]float64, n)
		for a := range n {
			for b := range a + 1 {
				gram[a*n+b] = weights[i] * row[a] * row[b]
			}
			moment[a] = weights[i] * t[i] * row[a]
		}
		e.add(gram, moment, weights[i])
	}
	return e
}

func solution(t *testing.T, e *equations, penalty float64) []float64 {
	t.Helper()
	w, factor := make([]float64, e.n), make([]float64, e.n*e.n)
	if !e.factorise(factor, penalty) {
		t.Fatal("not positive definite")
	}
	e.solve(w, factor)
	return w
}

// TestEquations: their solution is gonum's, and weight 2 is the same row twice.
func TestEquations(t *testing.T) {
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
	if again.rows != whole.rows {
		t.Errorf("%v rows, want %v", again.rows, whole.rows)
	}
}
