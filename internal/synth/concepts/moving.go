package concepts

import (
	"math"
	"math/rand/v2"
)

// segments has the segments, of seven, that a display lights up for each digit.
var segments = [10]string{"1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011"}

// led is the display of Breiman et al. (1984): seven segments, each inverted with probability .1,
// and 17 random lights. At each third of the stream, the given number of segments exchange places
// with random lights.
func led(name string, exchanged int) Stream {
	return Stream{name, 24, 10, func(n int, rng *rand.Rand) func(x []float64) float64 {
		part, now, at := parts(n, 3), 0, make([]int, 24)
		for j := range at {
			at[j] = j
		}
		return func(x []float64) float64 {
			for p := part(); now < p; now++ {
				for j := range exchanged {
					o := 7 + rng.IntN(17)
					at[j], at[o] = at[o], at[j]
				}
			}
			digit := rng.IntN(10)
			for j := range x {
				v := float64(rng.IntN(2))
				if j < 7 {
					v = flip(rng, float64(segments[digit][j]-'0'), 0.1)
				}
				x[at[j]] = v
			}
			return float64(digit)
		}
	}}
}

// hyperplane is the rotating hyperplane of Hulten, Spencer and Domingos (2001) in ten inputs. Its
// weights change by a step with each example, and each reverses its direction in one of ten
// examples. A twentieth of the classes is wrong.
func hyperplane(name string, step float64) Stream {
	return Stream{name, 10, 2, func(_ int, rng *rand.Rand) func(x []float64) float64 {
		w, sign := make([]float64, 10), make([]float64, 10)
		uniform(rng, w)
		for j := range sign {
			sign[j] = 1
		}
		return func(x []float64) float64 {
			uniform(rng, x)
			sum, total := 0.0, 0.0
			for j, v := range x {
				sum += w[j] * v
				total += w[j]
			}
			for j := range w {
				w[j] += sign[j] * step
				if rng.Float64() < 0.1 {
					sign[j] = -sign[j]
				}
			}
			return flip(rng, class(sum >= total/2), 0.05)
		}
	}}
}

// randomRBF has 50 centres in ten inputs, each with a class, a weight and a radius. If speed is not
// 0, they move on straight lines and are reflected at the sides (Bifet et al. 2009).
func randomRBF(name string, speed float64) Stream {
	type centre struct {
		at, direction         []float64
		class, radius, weight float64
	}
	return Stream{name, 10, 2, func(_ int, rng *rand.Rand) func(x []float64) float64 {
		all, total := make([]centre, 50), 0.0
		for i := range all {
			c := centre{at: make([]float64, 10), direction: make([]float64, 10), class: float64(rng.IntN(2)), radius: rng.Float64(), weight: rng.Float64()}
			uniform(rng, c.at)
			towards(rng, c.direction, 1)
			all[i], total = c, total+c.weight
		}
		return func(x []float64) float64 {
			for i := range all {
				for j, v := range all[i].direction {
					at := &all[i].at[j]
					if *at += speed * v; *at < 0 || *at > 1 {
						*at, all[i].direction[j] = max(0, min(1, *at)), -v
					}
				}
			}
			u, i := rng.Float64()*total, 0
			for ; i < len(all)-1 && u >= all[i].weight; i++ {
				u -= all[i].weight
			}
			towards(rng, x, rng.NormFloat64()*all[i].radius)
			for j := range x {
				x[j] += all[i].at[j]
			}
			return all[i].class
		}
	}}
}

// towards sets x to a vector of this length with a random direction.
func towards(rng *rand.Rand, x []float64, length float64) {
	norm := 0.0
	for j := range x {
		x[j] = 2*rng.Float64() - 1
		norm += x[j] * x[j]
	}
	for j := range x {
		x[j] *= length / math.Sqrt(norm)
	}
}
