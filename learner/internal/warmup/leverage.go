package warmup

import "github.com/accrete-ml/accrete/features"

// leverage returns the leverage of the frequencies on evenly spaced rows of x. It is nil if the
// matrix of these rows is not positive definite: the frequencies are then independent.
func (f *Fit) leverage(x []float64, dim int) *features.Leverage {
	rows := len(x) / dim
	n := min(rows, features.LeverageRows)
	some := make([]float32, n*dim)
	for i := range n {
		at := i * rows / n
		f.Scaler.Apply(some[i*dim:(i+1)*dim], x[at*dim:(at+1)*dim])
	}
	l, err := features.NewLeverage(f.Kernel, some, dim, f.Lambda)
	if err != nil {
		return nil
	}
	return l
}
