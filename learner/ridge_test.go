package learner

import (
	"math"
	"math/rand/v2"
	"slices"
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

// rival is the progressive error of ridge, and of the best of its members.
func rival(l *Learner, b *Batch) (mixture, best float64) {
	wrong, rows := make([]float64, 1+len(forgetting)), 0.0
	for b.Len() > 0 {
		p := l.Predict(b)
		if l.fit != nil {
			for i := range p.Len() {
				for e := range wrong {
					if (p.f[i*p.columns+e] > 0) != (b.Label(i).Class == 1) {
						wrong[e]++
					}
				}
				rows++
			}
		}
		b = b.Slice(p.Len(), b.Len())
		l.Learn(p)
	}
	return wrong[0] / rows, slices.Min(wrong[1:]) / rows
}

// TestMixtureIsAsGoodAsItsBestMember, whichever that is: on streams that turn
// never, now and then, and all the time.
func TestMixtureIsAsGoodAsItsBestMember(t *testing.T) {
	t.Parallel()
	for _, turn := range []float64{0, 1. / 10_000, 1. / 2000} { // of a circle, with each row
		rng := rand.New(rand.NewPCG(1, 2))
		var b Batch
		b.Reset(2)
		for i := range 8000 {
			x := []float64{rng.NormFloat64(), rng.NormFloat64()}
			sin, cos := math.Sincos(2 * math.Pi * turn * float64(i))
			y := x[0]*cos+x[1]*sin > 0
			b.Append(x, class(y != (rng.Float64() < 0.05)), 1)
		}
		mixture, best := rival(newLearner(t, Config{Algorithm: "ridge", Width: 8, MaxFeatures: 16}), &b)
		t.Logf("turn %.5f: %.4f, the best member %.4f", turn, mixture, best)
		if mixture > best+0.005 {
			t.Errorf("turn %v: error %v, the best member %v", turn, mixture, best)
		}
	}
}

// TestRidgeTracksDrift, and forgets nothing where there is none.
func TestRidgeTracksDrift(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		sign func(i int) bool
		most float64
	}{
		{"steady", func(int) bool { return true }, 0.12},
		{"turning every 2,000", func(i int) bool { return i/2000%2 == 0 }, 0.25},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		l := newLearner(t, Config{Algorithm: "ridge", Width: 16, MaxFeatures: 32, Minibatch: 32, Kernel: "gaussian:1.5"})
		var b Batch
		b.Reset(2)
		for i := range 10_000 {
			x := []float64{rng.NormFloat64(), rng.NormFloat64()}
			b.Append(x, class((x[0]*x[1] > 0) == c.sign(i)), 1)
		}
		learn(l, &b, 256)
		if got := l.Progress().Whole.Model.Error; got > c.most {
			t.Errorf("%s: error %v, want %v", c.name, got, c.most)
		}
	}
}
