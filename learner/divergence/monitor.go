package divergence

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Monitor compares the most recent rows of a stream with a reference, which is its first
// rows: one Shift for every 500 rows. After an alarm the next rows are the new reference.
//
// It compares the means of bounded features: of random features of all columns together,
// and of cosines and sines of each column. If nothing changes, n times the squared distance
// of two means is a weighted sum of χ² variables, whose weights are the eigenvalues of the
// features' covariance C. It exceeds tr C + 2 √(x tr C²) + 2x λ with at most the
// probability exp(-x), where λ is the largest of them (Laurent and Massart 2000, lemma 1).
// That is the threshold, at an x for which there is one false alarm in ten million rows
// (20,000 comparisons), if the rows are independent.
type Monitor struct {
	dim   int
	rows  int64 // since the reference began
	first []float64

	scale  scale
	bank   *features.Bank
	groups []group

	phi []float32
}

const (
	monitorReference = 2000 // rows
	monitorBlock     = 500  // rows
	monitorFeatures  = 32
	monitorOdds      = 20_000 // comparisons for one false alarm
)

// columnFrequencies are those of a column's features, for standardised values: the first
// tells shifts, the second what is narrower.
var columnFrequencies = [...]float64{0.5, 1.5}

// group is features that are compared together.
type group struct {
	reference, block []float64 // means
	threshold        float64
}

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

// NewMonitor returns a Monitor of rows of dim values.
func NewMonitor(dim int) *Monitor { return &Monitor{dim: dim} }

// Add adds a row, NaN for a missing value. It returns a Shift at the end of each block
// after the reference, and otherwise nil.
func (m *Monitor) Add(x []float64) *Shift {
	m.rows++
	if m.rows <= monitorReference {
		m.first = append(m.first, x...)
		if m.rows == monitorReference {
			m.begin()
		}
		return nil
	}
	f := m.features(x)
	for i := range m.groups {
		g := &m.groups[i]
		vec.Axpy(1.0/monitorBlock, f[:len(g.block)], g.block)
		f = f[len(g.block):]
	}
	if (m.rows-monitorReference)%monitorBlock != 0 {
		return nil
	}
	s := &Shift{}
	for i := range m.groups {
		g, squared := &m.groups[i], 0.0
		for j, v := range g.block {
			d := v - g.reference[j]
			squared += float64(d * d)
		}
		clear(g.block)
		d := squared / g.threshold
		s.Distance = max(s.Distance, d)
		if i == 0 {
			s.Joint = d
		} else {
			s.Columns = append(s.Columns, d)
		}
	}
	if s.Alarm = s.Distance > 1; s.Alarm {
		m.rows, m.first = 0, m.first[:0]
	}
	return s
}

// begin computes what the reference determines.
func (m *Monitor) begin() {
	m.scale = newScale(m.first, m.dim)
	k := kernel.Gaussian{Scale: medianDistance(m.scale.apply(m.first), m.dim)}
	m.bank = features.NewBank(features.Map{Kernel: k, Dim: m.dim, BlockSize: monitorFeatures, Seed: seed})
	m.bank.Grow(1)
	widths := []int{2 * monitorFeatures}
	for range m.dim {
		widths = append(widths, 2*len(columnFrequencies))
	}
	tables := make([]table, len(widths))
	for i := 0; i < len(m.first); i += m.dim {
		f := m.features(m.first[i : i+m.dim])
		for j, n := range widths {
			tables[j].width = n
			tables[j].z = append(tables[j].z, f[:n]...)
			f = f[n:]
		}
	}
	x := vec.Log(float64(monitorOdds * len(widths)))
	m.groups = make([]group, len(widths))
	for j, t := range tables {
		m.groups[j] = group{t.mean(), make([]float64, t.width), (1.0/monitorReference + 1.0/monitorBlock) * t.quantile(x)}
	}
	m.first = m.first[:0]
}

// quantile returns tr C + 2 √(x tr C²) + 2x λ for the covariance C of the rows of t.
func (t table) quantile(x float64) float64 {
	n := t.width
	mean, c := t.mean(), t.gram(func(int) float64 { return 1 })
	trace, squares := 0.0, 0.0
	for i := range n {
		for j := range i + 1 {
			v := c[i*n+j] - float64(mean[i]*mean[j])
			c[i*n+j], c[j*n+i] = v, v
			if i == j {
				trace += v
				squares += float64(v * v)
			} else {
				squares += float64(2 * v * v)
			}
		}
	}
	return max(1e-9, trace+float64(2*math.Sqrt(x*squares))+float64(2*x*vec.MaxEigenvalue(c, n)))
}

// features returns those of a row: of all columns together, and of each column. Those of a
// missing value are 0.
func (m *Monitor) features(x []float64) []float64 {
	row := m.scale.apply(x)
	m.phi = append(m.phi[:0], make([]float32, 2*monitorFeatures)...)
	m.bank.Features(m.phi, 0, row)
	f := make([]float64, 0, len(m.phi)+2*len(columnFrequencies)*m.dim)
	norm := 1 / math.Sqrt(monitorFeatures)
	for _, v := range m.phi {
		f = append(f, float64(v)*norm)
	}
	for j, v := range row {
		for _, w := range columnFrequencies {
			sin, cos := vec.Sincos(w * float64(v))
			if x[j] != x[j] {
				sin, cos = 0, 0
			}
			f = append(f, sin, cos)
		}
	}
	return f
}
