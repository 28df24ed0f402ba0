package refit

import (
	"math"

	randomfeatures "github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// features returns the features of the rows of x, rows × Dim, by the first blocks of b. Feature 2j
// is the cosine and feature 2j+1 the sine of frequency j, both divided by the square root of the
// number of frequencies, so that a row has the norm 1. A constant other than 0 is added as the last
// feature; its coefficient is an intercept.
func features(b *randomfeatures.Bank, blocks int, x []float32, constant float64) *matrix.Float32 {
	m := b.Map()
	rows, frequencies := len(x)/m.Dim, blocks*m.BlockSize
	width := 2 * frequencies
	root := math.Sqrt(float64(frequencies))
	cols := width
	if constant != 0 {
		cols++
	}
	a := make([]float32, rows*cols)
	if constant == 0 {
		b.Features(a, 0, x)
		return matrix.NewFloat32(rows, cols, a, 1/root)
	}
	const atOnce = 512 // number of rows at once, which bounds the scratch
	z := make([]float32, min(rows, atOnce)*width)
	for from := 0; from < rows; from += atOnce {
		to := min(from+atOnce, rows)
		b.Features(z[:(to-from)*width], 0, x[from*m.Dim:to*m.Dim])
		for i := from; i < to; i++ {
			row := a[i*cols : (i+1)*cols]
			copy(row, z[(i-from)*width:(i-from+1)*width])
			row[width] = float32(constant * root)
		}
	}
	return matrix.NewFloat32(rows, cols, a, 1/root)
}

// fromModel returns the coefficients for the rows of features, given those of a model. coef has 2
// rows for each frequency × scores, and multiplies cosines and sines that are not divided. There is
// an intercept for each score, which is left out if constant is 0. Frequencies that the model does
// not have get zeros.
func fromModel(coef, intercept []float64, frequencies int, constant float64) []float64 {
	scores := len(intercept)
	root := math.Sqrt(float64(frequencies))
	x := make([]float64, 2*frequencies*scores, (2*frequencies+1)*scores)
	for j, c := range coef {
		x[j] = c * root
	}
	if constant != 0 {
		for _, c := range intercept {
			x = append(x, c/constant)
		}
	}
	return x
}

// toModel is the inverse of fromModel.
func toModel(x []float64, scores, frequencies int, constant float64) (coef, intercept []float64) {
	root := math.Sqrt(float64(frequencies))
	coef, intercept = make([]float64, 2*frequencies*scores), make([]float64, scores)
	for j := range coef {
		coef[j] = x[j] / root
	}
	if constant != 0 {
		for k, c := range x[len(coef):] {
			intercept[k] = c * constant
		}
	}
	return coef, intercept
}
