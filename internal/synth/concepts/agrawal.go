package concepts

import "math/rand/v2"

// agrawal is the stream of loan applications by Agrawal, Imielinski and Swami (1993). It uses the
// given ones of its ten functions in turn.
func agrawal(name string, functions ...int) Stream {
	return Stream{name, 9, 2, func(n int, rng *rand.Rand) func(x []float64) float64 {
		part := parts(n, len(functions))
		return func(x []float64) float64 {
			var a applicant
			a.salary = 20_000 + 130_000*rng.Float64()
			if a.salary < 75_000 {
				a.commission = 10_000 + 65_000*rng.Float64()
			}
			a.age, a.level = float64(20+rng.IntN(61)), float64(rng.IntN(5))
			car, zip := float64(1+rng.IntN(20)), float64(rng.IntN(9))
			a.value = (9 - zip) * 100_000 * (0.5 + rng.Float64())
			a.years, a.loan = float64(1+rng.IntN(30)), 500_000*rng.Float64()
			copy(x, []float64{a.salary, a.commission, a.age, a.level, car, zip, a.value, a.years, a.loan})
			return class(!a.granted(functions[part()]))
		}
	}}
}

type applicant struct{ salary, commission, age, level, value, years, loan float64 }

func between(v, low, high float64) bool { return v >= low && v <= high }

// byAge returns the argument for the age of the applicant.
func byAge[T any](a *applicant, young, middle, old T) T {
	switch {
	case a.age < 40:
		return young
	case a.age < 60:
		return middle
	}
	return old
}

// bounds is a range, in thousands, of salaries or loans.
type bounds [2]float64

func (b bounds) has(v float64) bool { return between(v, 1000*b[0], 1000*b[1]) }

// granted returns the result of classification function f, counted from 0.
func (a *applicant) granted(f int) bool {
	income := 2 * (a.salary + a.commission) / 3
	salaries := byAge(a, bounds{50, 100}, bounds{75, 125}, bounds{25, 75})
	levels := byAge(a, bounds{0, 1}, bounds{1, 3}, bounds{2, 4})
	educated := between(a.level, levels[0], levels[1])
	switch f {
	case 0:
		return a.age < 40 || a.age >= 60
	case 1:
		return salaries.has(a.salary)
	case 2:
		return educated
	case 3:
		if educated {
			return byAge(a, bounds{25, 75}, bounds{50, 100}, bounds{50, 100}).has(a.salary)
		}
		return byAge(a, bounds{50, 100}, bounds{75, 125}, bounds{25, 75}).has(a.salary)
	case 4:
		if salaries.has(a.salary) {
			return byAge(a, bounds{100, 300}, bounds{200, 400}, bounds{300, 500}).has(a.loan)
		}
		return byAge(a, bounds{200, 400}, bounds{300, 500}, bounds{100, 300}).has(a.loan)
	case 5:
		return salaries.has(a.salary + a.commission)
	case 6:
		return income-a.loan/5-20_000 > 0
	case 7:
		return income-5000*a.level-20_000 > 0
	case 8:
		return income-5000*a.level-a.loan/5-10_000 > 0
	}
	equity := max(0, a.value*(a.years-20)/10)
	return income-5000*a.level+equity/5-10_000 > 0
}
