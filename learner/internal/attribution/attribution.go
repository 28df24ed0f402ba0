// Package attribution divides the difference between a score at a row and at the centre
// of all rows among the columns.
//
// The parts are integrated gradients along the straight line from the centre, which is 0,
// to the row (Sundararajan, Taly and Yan 2017, equation 1): the part of a column is the
// integral of its partial derivative along the line, times its value. For random features
// the integral has a closed form, and for trees the derivative is a jump at each split
// that the line crosses. So nothing is approximated, and the parts add up to the
// difference but for rounding.
package attribution

import (
	"math"

	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Waves adds the parts of random features to parts, columns × scores, and their scores at
// the centre to base. A feature has the frequency w, as long as the row x, and in coef two
// rows of scores: the coefficients of its cosine and sine.
func Waves(parts, base []float64, x, frequencies, coef []float32) {
	d, k := len(x), len(base)
	slopes := make([]float64, k)
	for i := range len(frequencies) / d {
		w := frequencies[i*d : (i+1)*d]
		a, b := coef[2*i*k:(2*i+1)*k], coef[(2*i+1)*k:(2*i+2)*k]
		angle := 0.0
		for j, v := range x {
			angle += float64(float64(w[j]) * float64(v))
		}
		c, s := chords(angle)
		for m := range slopes {
			base[m] += float64(a[m])
			slopes[m] = float64(float64(a[m])*c) + float64(float64(b[m])*s)
		}
		for j, v := range x {
			p := parts[j*k : (j+1)*k]
			step := float64(float64(w[j]) * float64(v))
			for m, slope := range slopes {
				p[m] += float64(step * slope)
			}
		}
	}
}

// chords returns the mean slopes of the cosine and the sine between 0 and an angle:
// (cos t - 1)/t and sin(t)/t.
func chords(t float64) (c, s float64) {
	const small = 1e-4 // below which the next terms of the series, t³/24 and t⁴/120, are less than the rounding
	if math.Abs(t) < small {
		return -t / 2, 1 - float64(t*t)/6
	}
	half, _ := vec.Sincos(t / 2)
	sin, _ := vec.Sincos(t)
	return -2 * float64(half*half) / t, sin / t
}

// Linear adds the parts of a linear function: coef has scores × (columns + 1), the last of
// each score is the intercept.
func Linear(parts, base []float64, x, coef []float32) {
	k, n := len(base), len(x)+1
	for m := range base {
		w := coef[m*n : (m+1)*n]
		base[m] += float64(w[n-1])
		for j, v := range x {
			parts[j*k+m] += float64(float64(w[j]) * float64(v))
		}
	}
}

// Leaves adds the parts of trees: coef has a row of scores for each leaf.
func Leaves(parts, base []float64, f *forest.Forest, x, coef []float32) {
	k := len(base)
	f.Line(x, func(column, from, to int) {
		next := coef[to*k : (to+1)*k]
		if column < 0 {
			for m, v := range next {
				base[m] += float64(v)
			}
			return
		}
		for m, v := range next {
			parts[column*k+m] += float64(v) - float64(coef[from*k+m])
		}
	})
}
