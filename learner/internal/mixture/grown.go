package mixture

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// GrownRows is the number of rows after which Grown may have another answer, and of the
	// labels that it looks at.
	GrownRows = 64

	// growth is how many times the scale of a target the deviation of recent labels is where
	// the scale has to change: members bound their residuals by it, and would follow labels
	// that have grown a hundredfold for thousands of rows. Chosen by trial, see
	// docs/constants.md.
	growth = 8

	// normalDeviation is the standard deviation of normal numbers in their median absolute
	// deviations.
	normalDeviation = 1.4826
)

// Grown returns the scales of the targets, of which at least one has labels that have grown far
// beyond that of h, and nil if there is none. It is of half of the recent labels at least, and so
// of no outliers.
func (m *Mixture) Grown(h *target.Head) []target.Scale {
	var scales []target.Scale
	for j := range m.now.bounds {
		last := m.now.bounds[j].last(GrownRows)
		if len(last) < GrownRows || !(normalDeviation*medianDeviation(last) > growth*h.Scales[j].Deviation) {
			continue
		}
		if scales == nil {
			scales = slices.Clone(h.Scales)
		}
		scales[j] = scaleOf(last)
	}
	return scales
}

// medianDeviation returns the median distance of numbers from their median.
func medianDeviation(y []float64) float64 {
	d := slices.Clone(y)
	slices.Sort(d)
	median := d[len(d)/2]
	for i, v := range d {
		d[i] = math.Abs(v - median)
	}
	slices.Sort(d)
	return d[len(d)/2]
}

// Rescale has the members begin again with the scales of h, without the rows so far.
func (m *Mixture) Rescale(h *target.Head) {
	for _, o := range m.members {
		o.Start(*h, m.factors)
	}
	m.setStatic(h)
}
