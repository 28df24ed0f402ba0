package mixture

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// GrownRows is the number of recent labels that Grown looks at, and the number of rows after
	// which its answer may change.
	GrownRows = 64

	// growth is the deviation of the recent labels, as a multiple of the scale of their target, at
	// which the scale has to change. Members bound their residuals by the scale, so that they would
	// need thousands of rows to follow labels that have grown a hundredfold. Chosen by trial, see
	// docs/constants.md.
	growth = 8

	// normalDeviation is the standard deviation of normal numbers in their median absolute
	// deviations.
	normalDeviation = 1.4826
)

// Grown returns new scales of the targets if the recent labels of at least one target have grown
// far beyond its scale in h, and nil otherwise. It judges by a median: at least half of the recent
// labels have to have grown, so that outliers alone do not count.
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
