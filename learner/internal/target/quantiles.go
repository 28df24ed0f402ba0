package target

// Quantiles says which quantiles the values of a prediction are, where there are several
// for each target. The zero value is for one value for each target.
type Quantiles struct {
	Taus    []float64 // levels, increasing
	Central int       // index of the level closest to 0.5, which predicts the number itself
}

// Valid reports whether there are several quantiles.
func (q Quantiles) Valid() bool { return q.Taus != nil }

// Each returns the number of values of each target.
func (q Quantiles) Each() int { return max(1, len(q.Taus)) }

// Of returns those of the values p of a prediction that belong to target j.
func (q Quantiles) Of(p []float64, j int) []float64 {
	n := q.Each()
	return p[j*n : (j+1)*n : (j+1)*n]
}

// Point returns the number that the values p of a prediction predict for target j.
func (q Quantiles) Point(p []float64, j int) float64 { return p[j*q.Each()+q.Central] }

// Points appends the numbers that the values p of a prediction predict for all targets.
func (q Quantiles) Points(dst, p []float64) []float64 {
	for j := range len(p) / q.Each() {
		dst = append(dst, q.Point(p, j))
	}
	return dst
}

// Crossed reports whether the scores f are not in the order of their levels for some
// target, so that a prediction has to sort them.
func (q Quantiles) Crossed(f []float64) bool {
	n := q.Each()
	for i := 1; i < len(f); i++ {
		if i%n > 0 && f[i] < f[i-1] {
			return true
		}
	}
	return false
}
