package target

// Quantiles says which quantiles the values of a prediction are, if there are several for each
// target. The zero value stands for a single value for each target.
type Quantiles struct {
	Taus    []float64 // levels, increasing
	Central int       // index of the level closest to 0.5, whose quantile serves as the prediction of the number itself
}

// Valid reports whether there are several quantiles.
func (q Quantiles) Valid() bool { return q.Taus != nil }

// Each returns the number of values for each target.
func (q Quantiles) Each() int { return max(1, len(q.Taus)) }

// Of returns the part of p that belongs to target j. p are the values of a prediction.
func (q Quantiles) Of(p []float64, j int) []float64 {
	n := q.Each()
	return p[j*n : (j+1)*n : (j+1)*n]
}

// Point returns the number that a prediction with the values p predicts for target j.
func (q Quantiles) Point(p []float64, j int) float64 { return p[j*q.Each()+q.Central] }

// Points appends the numbers that a prediction with the values p predicts for all targets.
func (q Quantiles) Points(dst, p []float64) []float64 {
	for j := range len(p) / q.Each() {
		dst = append(dst, q.Point(p, j))
	}
	return dst
}

// Crossed reports whether the scores f of some target are not in the order of their levels, so that
// a prediction has to sort them.
func (q Quantiles) Crossed(f []float64) bool {
	n := q.Each()
	for i := 1; i < len(f); i++ {
		if i%n > 0 && f[i] < f[i-1] {
			return true
		}
	}
	return false
}
