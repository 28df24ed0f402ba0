// Package concepts generates the streams on which online learners are usually compared, by their
// published formulas, with and without changes of concept.
package concepts

import (
	"math"
	"math/rand/v2"
)

// Stream is a generator of examples.
type Stream struct {
	Name    string
	Inputs  int
	Classes int // 0 for a regression

	// New returns a function that generates a stream of n examples. Each call sets x to the inputs
	// of the next example, and returns its class or number.
	New func(n int, rng *rand.Rand) func(x []float64) float64
}

// All are the streams. Drift is abrupt, at equal parts of the stream, or continuous.
var All = []Stream{
	agrawal("agrawal", 4), agrawal("agrawal drift", 2, 6, 8, 0),
	led("led", 0), led("led drift", 4),
	randomRBF("rbf", 0), randomRBF("rbf drift", 0.001),
	hyperplane("hyperplane", 0), hyperplane("hyperplane drift", 0.01),
	sea("sea", 1), sea("sea drift", 4),
	sine("sine", 1), sine("sine drift", 4),
	mixed("mixed", 1), mixed("mixed drift", 3),
	friedman("friedman", false), friedman("friedman drift", true),
	stagger("stagger", 1), stagger("stagger drift", 3),
}

// parts returns a function that returns in which of k equal parts of n examples the next example
// is.
func parts(n, k int) func() int {
	i := -1
	return func() int {
		i++
		return min(k-1, i*k/max(n, 1))
	}
}

func uniform(rng *rand.Rand, x []float64) {
	for j := range x {
		x[j] = rng.Float64()
	}
}

func class(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// flip exchanges two classes with a given probability.
func flip(rng *rand.Rand, y, share float64) float64 {
	if rng.Float64() < share {
		return 1 - y
	}
	return y
}

// sea is SEA (Street and Kim 2001): the sum of two of three inputs is compared with a threshold,
// which changes. A tenth of the classes is wrong.
func sea(name string, k int) Stream {
	return Stream{name, 3, 2, func(n int, rng *rand.Rand) func(x []float64) float64 {
		part := parts(n, k)
		return func(x []float64) float64 {
			for j := range x {
				x[j] = 10 * rng.Float64()
			}
			return flip(rng, class(x[0]+x[1] <= [...]float64{8, 9, 7, 9.5}[part()]), 0.1)
		}
	}}
}

// sine is SINE1 and SINE2 in turn, each followed by its reversal (Gama et al. 2004).
func sine(name string, k int) Stream {
	return Stream{name, 2, 2, func(n int, rng *rand.Rand) func(x []float64) float64 {
		part := parts(n, k)
		return func(x []float64) float64 {
			uniform(rng, x)
			p := part()
			below := x[0] >= math.Sin(x[1])
			if p/2 == 1 {
				below = x[0] >= 0.5+0.3*math.Sin(3*math.Pi*x[1])
			}
			return class(below != (p%2 == 1))
		}
	}}
}

// mixed is MIXED (Gama et al. 2004): at least two of three conditions must hold. Two of them are
// Boolean inputs, and the third compares the other inputs with a curve. A change exchanges the
// classes.
func mixed(name string, k int) Stream {
	return Stream{name, 4, 2, func(n int, rng *rand.Rand) func(x []float64) float64 {
		part := parts(n, k)
		return func(x []float64) float64 {
			uniform(rng, x)
			x[0], x[1] = math.Round(x[0]), math.Round(x[1])
			hold := x[0] + x[1] + class(x[3] < 0.5+0.3*math.Sin(3*math.Pi*x[2]))
			return class((hold >= 2) != (part()%2 == 1))
		}
	}}
}

// stagger is STAGGER (Schlimmer and Granger 1986): three inputs with three values each.
func stagger(name string, k int) Stream {
	return Stream{name, 3, 2, func(n int, rng *rand.Rand) func(x []float64) float64 {
		part := parts(n, k)
		return func(x []float64) float64 {
			for j := range x {
				x[j] = float64(rng.IntN(3))
			}
			size, colour, shape := x[0], x[1], x[2]
			switch part() {
			case 0:
				return class(size == 0 && colour == 0)
			case 1:
				return class(colour == 1 || shape == 0)
			}
			return class(size >= 1)
		}
	}}
}

// friedman is Friedman's function (1991) of ten inputs, of which five are irrelevant. With drift,
// inputs exchange their roles in the second third of the stream (Ikonomovska, Gama and Džeroski
// 2011).
func friedman(name string, drift bool) Stream {
	return Stream{name, 10, 0, func(n int, rng *rand.Rand) func(x []float64) float64 {
		part := parts(n, 3)
		return func(x []float64) float64 {
			uniform(rng, x)
			at := [5]int{0, 1, 2, 3, 4}
			if part() == 1 && drift {
				at = [5]int{3, 5, 1, 0, 2}
			}
			return 10*math.Sin(math.Pi*x[at[0]]*x[at[1]]) + 20*(x[at[2]]-0.5)*(x[at[2]]-0.5) + 10*x[at[3]] + 5*x[at[4]] + rng.NormFloat64()
		}
	}}
}
