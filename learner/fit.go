package learner

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
)

// fit is what the warm-up finds out from its first rows. It is a pure function
// of them, wherever it is computed.
type fit struct {
	scaler    scaler
	mean      float64 // of the labels of a regression; 0 for classes
	deviation float64 // likewise; 1 for classes
	kernel    features.Kernel
	top       float64 // largest eigenvalue of the kernel's matrix on the rows / their number
}

// topRows is the number of rows that the largest eigenvalue is computed on.
const topRows = 512

// newFit fits to rows of dim raw values. The task is settled; the kernel may
// have a scale or leave that to the rows.
func newFit(x []float64, labels []Label, dim int, task Task, kernel features.Kernel) fit {
	f := fit{scaler: newScaler(x, dim), deviation: 1}
	if task == Regression {
		y := make([]float64, len(labels))
		for i, l := range labels {
			y[i] = l.Value
		}
		c := newColumn(y, 1)
		f.mean = c.mean
		if !c.constant() {
			f.deviation = c.deviation
		}
	}
	scaled := make([]float64, len(x))
	row := make([]float32, dim)
	for i := 0; i < len(x); i += dim {
		f.scaler.apply(row, x[i:i+dim])
		for j, v := range row {
			scaled[i+j] = float64(v)
		}
	}
	if f.kernel = kernel; kernel == (features.Gaussian{}) {
		f.kernel = features.Gaussian{Scale: medianDistance(scaled, dim)}
	}
	f.top = topEigenvalue(f.kernel, scaled[:min(len(scaled), topRows*dim)], dim)
	return f
}

// medianDistance returns the median of the distances between rows that differ,
// or 1 if none do.
func medianDistance(x []float64, dim int) float64 {
	n := len(x) / dim
	squares := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		for j := range i {
			if d := squaredDistance(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim]); d > 0 {
				squares = append(squares, d)
			}
		}
	}
	if len(squares) == 0 {
		return 1
	}
	return max(1e-6, math.Sqrt(nth(squares, len(squares)/2)))
}

// nth returns what would stand at index n if x were sorted, and moves the
// elements of x about. (Quickselect: Hoare 1961.)
func nth(x []float64, n int) float64 {
	for len(x) > 16 {
		a, b, c := x[0], x[len(x)/2], x[len(x)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(x)-1
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			x = x[:j+1]
		case n >= i:
			x, n = x[i:], n-i
		default:
			return pivot
		}
	}
	slices.Sort(x)
	return x[n]
}

// squaredDistance adds up in four chains, so that it does not wait for each
// addition in turn.
func squaredDistance(x, y []float64) float64 {
	var s [4]float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		for k := range 4 {
			d := x[i+k] - y[i+k]
			s[k] += float64(d * d)
		}
	}
	for ; i < len(x); i++ {
		d := x[i] - y[i]
		s[0] += float64(d * d)
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// topEigenvalue returns the largest eigenvalue of the kernel's matrix on n rows,
// divided by n.
func topEigenvalue(k features.Kernel, x []float64, dim int) float64 {
	n := len(x) / dim
	m := make([]float64, n*n)
	for i := range n {
		m[i*n+i] = 1
		for j := range i {
			v := k.Eval(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim])
			m[i*n+j], m[j*n+i] = v, v
		}
	}
	return vec.MaxEigenvalue(m, n) / float64(n)
}
