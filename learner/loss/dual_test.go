package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// eachDual is each for the losses that have a conjugate.
func eachDual(t *testing.T, f func(t *testing.T, l Dual, u []float64, y float64)) {
	each(t, func(t *testing.T, l Loss, u []float64, y float64) {
		if l, ok := l.(Dual); ok {
			f(t, l, u, y)
		}
	})
}

// gradient returns that of l, which is a point where the conjugate is finite.
func gradient(l Loss, f []float64, y float64) []float64 {
	g := make([]float64, len(f))
	l.Grad(g, f, y)
	return g
}

// normals returns n normal numbers times spread.
func normals(rng *rand.Rand, n int, spread float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = spread * rng.NormFloat64()
	}
	return x
}

// supremum returns the maximum over f of ⟨u, f⟩ - φ(f): score by score, it bisects
// for where the derivative is 0.
func supremum(l Loss, u []float64, y float64) float64 {
	f, g := make([]float64, len(u)), make([]float64, len(u))
	for range 20 {
		for i := range f {
			low, high := -1e3, 1e3
			for range 60 {
				f[i] = (low + high) / 2
				if l.Grad(g, f, y); g[i] < u[i] {
					low = f[i]
				} else {
					high = f[i]
				}
			}
		}
	}
	return floats.Dot(u, f) - l.Value(f, y)
}

// TestConjugateIsTheSupremum compares it with a maximum that is found numerically, and where it is infinite, with a ray along which there is none.
func TestConjugateIsTheSupremum(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	eachDual(t, func(t *testing.T, l Dual, f []float64, y float64) {
		u := gradient(l, f, y)
		for i, v := range gradient(l, normals(rng, len(f), 1), y) {
			u[i] = 0.9*u[i] + 0.1*v
		}
		if got, want := l.Conjugate(u, y), supremum(l, u, y); math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("%v: Conjugate(%v, %v) = %v, numerically %v", l, u, y, got, want)
		}
		floats.Scale(-100, u)
		if floats.Norm(u, 2) > 1 && math.IsInf(l.Conjugate(u, y), 1) {
			x := slices.Clone(u)
			floats.Scale(1e4, x)
			if v := floats.Dot(u, x) - l.Value(x, y); v < 1e3 {
				t.Errorf("%v: Conjugate(%v, %v) is infinite, but ⟨u, f⟩ - φ(f) is %v far off", l, u, y, v)
			}
		}
	})
}

// TestConjugateAtAGradientIsYoungsEquality is Young's inequality, which is an equality there.
func TestConjugateAtAGradientIsYoungsEquality(t *testing.T) {
	eachDual(t, func(t *testing.T, l Dual, f []float64, y float64) {
		u := gradient(l, f, y)
		v, want := l.Value(f, y), floats.Dot(u, f)
		if got := v + l.Conjugate(u, y); math.Abs(got-want) > 1e-11*(1+math.Abs(v)+math.Abs(want)) {
			t.Errorf("%v: Value(%v, %v) and the conjugate at its gradient add up to %v, want %v", l, f, y, got, want)
		}
	})
}

// TestProxMaximises holds what Prox maximises against its values at other points,
// which are lower by its strong concavity or more, and Prox against its condition
// of optimality, β = φ'(s - r(β-u)).
func TestProxMaximises(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	eachDual(t, func(t *testing.T, l Dual, f []float64, y float64) {
		u, s, r := gradient(l, f, y), normals(rng, len(f), 3), math.Pow(10, 8*rng.Float64()-4)
		value := func(b []float64) float64 {
			d := floats.Distance(b, u, 2)
			return floats.Dot(s, b) - l.Conjugate(b, y) - r/2*d*d
		}
		beta := slices.Clone(u)
		l.Prox(beta, s, y, r)
		most, concave := value(beta), 1/l.Smoothness()+r
		for range 5 {
			other := gradient(l, normals(rng, len(f), 5), y)
			step := math.Pow(10, -3*rng.Float64())
			for i, v := range other {
				other[i] = beta[i] + step*(v-beta[i])
			}
			d := floats.Distance(other, beta, 2)
			if got, least := value(other), most-concave/2*d*d; got > least+1e-9*(1+r)*(1+math.Abs(most)) {
				t.Fatalf("%v: Prox(%v, %v, %v, %v) = %v has %v, and %v has %v", l, u, s, y, r, beta, most, other, got)
			}
		}
		at := make([]float64, len(f))
		for i := range at {
			at[i] = s[i] - r*(beta[i]-u[i])
		}
		if back := gradient(l, at, y); floats.Distance(back, beta, 2) > 1e-8*(1+r)*(1+floats.Norm(beta, 2)) {
			t.Fatalf("%v: Prox(%v, %v, %v, %v) = %v, but the gradient there is %v", l, u, s, y, r, beta, back)
		}
	})
}

func TestConjugateIsFiniteAtTheStart(t *testing.T) {
	eachDual(t, func(t *testing.T, l Dual, f []float64, y float64) {
		u := slices.Clone(f)
		if l.DualStart(u, y); !(math.Abs(l.Conjugate(u, y)) <= math.MaxFloat64) {
			t.Fatalf("%v: Conjugate(%v, %v) = %v at the start", l, u, y, l.Conjugate(u, y))
		}
	})
}

// TestCurvatureIsTheSecondDerivative compares it with differences of gradients. At
// large scores it is a bound.
func TestCurvatureIsTheSecondDerivative(t *testing.T) {
	each(t, func(t *testing.T, l Loss, f []float64, y float64) {
		if l, ok := l.(Curved); ok {
			const h = 1e-5
			up, down := gradient(l, []float64{f[0] + h}, y), gradient(l, []float64{f[0] - h}, y)
			got, want := l.Curvature(f), (up[0]-down[0])/(2*h)
			tolerance := 1e-4 * (1 + want)
			if got < want-tolerance || math.Abs(f[0]) < 5 && got > want+tolerance {
				t.Errorf("%v: Curvature(%v) = %v, numerically %v", l, f, got, want)
			}
		}
	})
}
