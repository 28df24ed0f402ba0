// Package attribution divides the difference between a score at a row and at the centre of all rows
// among the columns.
//
// The parts are integrated gradients along the straight line from the centre, which is 0, to the
// row (Sundararajan, Taly and Yan 2017, equation 1): the part of a column is its value times the
// integral of the partial derivative along the line. For random features the integral has a closed
// form. For trees the derivative is a jump at each split that the line crosses. So nothing is
// approximated, and the parts add up to the difference except for rounding.
package attribution

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Waves attributes scores of random features, which are cosines and sines.
type Waves struct {
	frequencies, columns []float64 // features × columns, and columns × features
	coef                 []float32

	angles, slopes, sums []float64 // scratch: of each feature; scores × features; of each column
}

// Set sets the features. Each has a frequency of d numbers, and two rows of scores in coef: the
// coefficients of its cosine and of its sine. Waves keeps coef.
func (f *Waves) Set(frequencies []float32, d int, coef []float32) {
	f.frequencies, f.coef = f.frequencies[:0], coef
	f.columns = slices.Grow(f.columns[:0], len(frequencies))[:len(frequencies)]
	n := len(frequencies) / d
	for i, v := range frequencies {
		f.frequencies = append(f.frequencies, float64(v))
		f.columns[i%d*n+i/d] = float64(v)
	}
}

// AddBase adds the scores of the features at the centre to base.
func (f *Waves) AddBase(base []float64) {
	k := len(base)
	for i := 0; i < len(f.coef); i += 2 * k {
		for m, v := range f.coef[i : i+k] {
			base[m] += float64(v)
		}
	}
}

// AddSlopes adds the mean slopes of the scores between the centre and a row x to slopes, scores ×
// columns. The parts are these slopes times x.
func (f *Waves) AddSlopes(slopes, x []float64) {
	d := len(x)
	n, k := len(f.frequencies)/d, len(slopes)/d
	f.angles, f.slopes = slices.Grow(f.angles[:0], n)[:n], slices.Grow(f.slopes[:0], n*k)[:n*k]
	vec.Dots(f.angles, x, f.frequencies)
	for i, angle := range f.angles {
		c, s := chords(angle)
		of := f.coef[2*i*k : 2*(i+1)*k]
		for m := range k {
			f.slopes[m*n+i] = float64(float64(of[m])*c) + float64(float64(of[k+m])*s)
		}
	}
	f.sums = slices.Grow(f.sums[:0], d)[:d]
	for m := range k {
		vec.Dots(f.sums, f.slopes[m*n:(m+1)*n], f.columns)
		vec.Axpy(1, f.sums, slopes[m*d:(m+1)*d])
	}
}

// chords returns the mean slopes of the cosine and the sine between 0 and an angle:
// (cos t - 1)/t and sin(t)/t.
func chords(t float64) (c, s float64) {
	// below small, the next terms of the series, t³/24 and t⁴/120, are less than the rounding error
	const small = 1e-4
	if math.Abs(t) < small {
		return -t / 2, 1 - float64(t*t)/6
	}
	half, _ := vec.Sincos(t / 2)
	sin, _ := vec.Sincos(t)
	return -2 * float64(half*half) / t, sin / t
}

// Linear adds the parts of a linear function. coef is scores × (columns + 1); the last number of
// each row is the intercept.
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

// Leaves adds the parts of trees. coef has a row of scores for each leaf.
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
