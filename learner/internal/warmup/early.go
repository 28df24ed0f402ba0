package warmup

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// earlyRows are the numbers of rows after which simple models begin again with another
// scaler, before the first fit. They grow by about a half.
var earlyRows = [...]int{4, 6, 8, 12, 16, 24, 32, 48, 64}

// EarlyAt returns the last of these numbers of rows that is at most n; 0 if there is none.
func EarlyAt(n int64) int {
	at := 0
	for _, r := range earlyRows {
		if int64(r) <= n {
			at = r
		}
	}
	return at
}

// EarlyScaler returns a scaler for simple models before the first fit: that of the first
// rows of the buffer, of dim raw values. Only numbers count; a missing one is the mean.
func (w *Buffer) EarlyScaler(rows, dim int) Scaler {
	x := slices.Clone(w.X[:rows*dim])
	for j := range dim {
		sum, n := 0.0, 0.0
		for i := j; i < len(x); i += dim {
			if v := x[i]; v == v && !math.IsInf(v, 0) {
				n++
				sum += (v - sum) / n
			}
		}
		for i := j; i < len(x); i += dim {
			if x[i] != x[i] {
				x[i] = sum
			}
		}
	}
	s := NewScaler(WithoutOutliers(x, dim), dim)
	for j, t := range w.Columns {
		if v := t.Values(); v != encode.Numeric && v != encode.Boolean {
			s.Center[j], s.Scale[j] = 0, 0
		}
	}
	return s
}

// Scaled returns the rows of w under s, of dim raw values.
func (w *Buffer) Scaled(s *Scaler, dim int) []float32 {
	x := state.Extend([]float32(nil), len(w.X))
	for i := 0; i < len(x); i += dim {
		s.Apply(x[i:i+dim], w.X[i:i+dim])
	}
	return x
}
