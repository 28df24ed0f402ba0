package divergence

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Shift is the result for a block of rows.
type Shift struct {
	Distance float64   // largest of the distances, each divided by its threshold
	Alarm    bool      // Distance is above 1
	Joint    float64   // distance of all columns together, divided by its threshold
	Columns  []float64 // distance of each column, divided by its threshold
}

// Moved returns the columns that differ, the one that differs most first.
func (s *Shift) Moved() (columns []int) {
	for j, d := range s.Columns {
		if d > 1 {
			columns = append(columns, j)
		}
	}
	slices.SortStableFunc(columns, func(i, j int) int {
		switch {
		case s.Columns[i] > s.Columns[j]:
			return -1
		case s.Columns[i] < s.Columns[j]:
			return 1
		}
		return 0
	})
	return columns
}

// compare returns the Shift of a whole block. After an alarm the Monitor starts again.
func (m *Monitor) compare() *Shift {
	s := &Shift{Columns: make([]float64, 0, m.dim)}
	m.groups(func(i, at, width int, _ []float64) {
		squared := 0.0
		for j := at; j < at+width; j++ {
			d := m.block[j]/float64(m.size) - m.reference[j]
			squared += float64(d * d)
		}
		d := squared / m.thresholds[i]
		s.Distance = max(s.Distance, d)
		if i == 0 {
			s.Joint = d
		} else {
			s.Columns = append(s.Columns, d)
		}
	})
	clear(m.block)
	if s.Alarm = s.Distance > 1; s.Alarm {
		*m = Monitor{dim: m.dim, size: m.size, seen: m.seen}
	}
	return s
}

// unseen returns a lower bound of quantile that allows for values that occur in none of n rows.
// With a probability of exp(-x) or more, such values can have a share of up to x/n of all rows. A
// cosine and a sine differ by at most 2 from those of another value, so that the covariance has one
// eigenvalue, and a trace, of up to 2 × width × x/n.
func unseen(width int, n, x float64) float64 {
	return float64(2*width) * (x / n) * (1 + float64(2*math.Sqrt(x)) + 2*x)
}

// quantile returns tr C + 2 √(x tr C²) + 2x λ for the covariance C of the features of n rows. mean
// is their mean, and the lower triangle of products has the sums of their products. quantile
// overwrites products.
func quantile(mean, products []float64, n, x float64) float64 {
	width := len(mean)
	trace, squares := 0.0, 0.0
	for i := range width {
		for j := range i + 1 {
			v := products[i*width+j]/n - float64(mean[i]*mean[j])
			products[i*width+j], products[j*width+i] = v, v
			if i == j {
				trace += v
				squares += float64(v * v)
			} else {
				squares += float64(2 * v * v)
			}
		}
	}
	return max(1e-9, trace+float64(2*math.Sqrt(x*squares))+float64(2*x*vec.MaxEigenvalue(products, width)))
}
