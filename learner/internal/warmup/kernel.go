package warmup

import (
	"math"

	"github.com/accrete-ml/accrete/features/kernel"
)

// HasScale reports whether k needs no scale from the warm-up.
func HasScale(k kernel.Kernel) bool {
	s, ok := k.(kernel.Scaled)
	return !ok || s.LengthScale() > 0
}

// SameFamily reports whether fitted is what a Fit can make of the configured
// kernel.
func SameFamily(configured, fitted kernel.Kernel) bool {
	if a, ok := configured.(kernel.Auto); ok {
		return a.Includes(fitted)
	}
	if s, ok := fitted.(kernel.Scaled); ok && !HasScale(configured) {
		return s.WithLengthScale(0) == configured
	}
	return fitted == configured
}

// withScale returns k with a scale, if it is one to have any.
func withScale(k kernel.Kernel, scale float64) kernel.Kernel {
	if s, ok := k.(kernel.Scaled); ok {
		return s.WithLengthScale(scale)
	}
	return k
}

// typical returns k with typical scales of its parts, if it is a composite that has
// none: their distances grow differently with the inputs. Others stay as they are.
func (s sample) typical(k kernel.Kernel, columnWeights, squares []float64) kernel.Kernel {
	c, ok := k.(kernel.Composite)
	if !ok || HasScale(k) {
		return k
	}
	parts := c.Parts()
	for i, p := range parts {
		q := s.typical(p, columnWeights, squares).(kernel.Scaled)
		if !HasScale(q) {
			q = q.WithLengthScale(max(minScale, math.Sqrt(s.squaredScale(q, columnWeights, squares)))).(kernel.Scaled)
		}
		parts[i] = q
	}
	return c.WithParts(parts)
}

// typicalValue is the value of the Gaussian kernel at a distance of one scale. If all values are
// close to 1, or all are close to 0, they hardly tell rows apart.
const typicalValue = 0.6065306597126334 // exp(-½)

const (
	typicalRows  = 64 // whose pairs are enough for a median
	typicalSteps = 20 // doublings or halvings, at most
)

// squaredScale returns the square of k's scale at width 0: its own scale if it has one, and
// otherwise one that is typical of the rows.
//
// For a kernel of the Euclidean distance, this is the median distance; squares has the squared
// distances. The own distance of any other kernel grows differently with the inputs: its scale is
// the median distance times a power of two, the least one at which the median of the kernel's
// values is at least typicalValue.
func (s sample) squaredScale(k kernel.Kernel, columnWeights, squares []float64) float64 {
	scaled, ok := k.(kernel.Scaled)
	if ok && scaled.LengthScale() > 0 {
		return scaled.LengthScale() * scaled.LengthScale()
	}
	m := s.median(squares)
	if _, radial := k.(kernel.Radial); radial || !ok {
		return m
	}
	z, n, d := s.weighted(columnWeights), min(s.rows(), typicalRows), s.dim
	if n < 2 {
		return m
	}
	value := func(exponent int) float64 {
		at := scaled.WithLengthScale(math.Ldexp(max(minScale, math.Sqrt(m)), exponent))
		var values []float64
		for i := range n {
			for j := range i {
				values = append(values, at.Eval(z[i*d:(i+1)*d], z[j*d:(j+1)*d]))
			}
		}
		return Nth(values, len(values)/2)
	}
	exponent := 0
	for exponent < typicalSteps && value(exponent) < typicalValue {
		exponent++
	}
	for exponent > -typicalSteps && value(exponent-1) >= typicalValue {
		exponent--
	}
	return m * math.Ldexp(1, 2*exponent)
}
