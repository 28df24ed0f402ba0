package divergence

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Save adds the Monitor to the state of a learner.
func (m *Monitor) Save(a *state.Arrays) {
	var ignored []byte
	if !m.Starting() {
		ignored = make([]byte, len(m.ignored))
		for j, is := range m.ignored {
			if is {
				ignored[j] = 1
			}
		}
	}
	state.Put(a, "monitor.rows", 1, []int64{m.rows})
	state.Put(a, "monitor.ignored", 1, ignored)
	state.Put(a, "monitor.first", m.dim, m.first)
	state.Put(a, "monitor.scale", 1, append(append([]float64(nil), m.scale.center...), m.scale.factor...))
	state.Put(a, "monitor.kernel", 1, []float64{m.width})
	state.Put(a, "monitor.reference", 1, m.reference)
	state.Put(a, "monitor.products", 1, m.products)
	state.Put(a, "monitor.block", 1, m.block)
	state.Put(a, "monitor.thresholds", 1, m.thresholds)
}

// Load reads what Save wrote into a Monitor without rows. It fails if the saved Monitor has seen
// more than most rows.
func (m *Monitor) Load(s *state.Reader, most int64) {
	rows := state.Take[int64](s, "monitor.rows", 1, 1)
	ignored := state.Take[byte](s, "monitor.ignored", state.AnySize, 1)
	s.Require(len(ignored) == 0 || len(ignored) == m.dim, "monitor: %d columns are ignored or not, want %d", len(ignored), m.dim)
	if s.Err != nil {
		return
	}
	m.rows = rows[0]
	s.Require(m.rows >= 0 && m.rows <= most, "monitor: %d rows of %d", m.rows, most)
	for _, v := range ignored {
		s.Require(v <= 1, "monitor: a column is %d, want 0 or 1", v)
		m.ignored = append(m.ignored, v == 1)
	}
	first, scales, sums, products, thresholds := int(m.rows), 0, 0, 0, 0
	if m.rows >= monitorScale {
		first, scales, sums = 0, 2*m.dim, m.features()
		if m.rows < int64(monitorBlocks*m.size) {
			products = m.moments()
		} else {
			thresholds = m.dim + 1
		}
	}
	m.first = state.TakeRaw(s, "monitor.first", first, m.dim)
	scale := state.Take[float64](s, "monitor.scale", scales, 1)
	width := state.Take[float64](s, "monitor.kernel", 1, 1)
	m.reference = state.Take[float64](s, "monitor.reference", sums, 1)
	m.products = state.Take[float64](s, "monitor.products", products, 1)
	m.block = state.Take[float64](s, "monitor.block", sums, 1)
	m.thresholds = state.Take[float64](s, "monitor.thresholds", thresholds, 1)
	for i, v := range scale {
		s.Require(i < m.dim || v > 0, "monitor: the factor of a column is %v", v)
	}
	for _, v := range m.thresholds {
		s.Require(v >= 1e-18, "monitor: a threshold is %v", v)
	}
	for _, sums := range [][]float64{m.reference, m.products, m.block} {
		for _, v := range sums {
			s.Require(math.Abs(v) <= float64(m.rows)+1, "monitor: a sum over %d rows is %v", m.rows, v)
		}
	}
	if s.Err != nil || scales == 0 {
		return
	}
	m.scale.center, m.scale.factor, m.width = scale[:m.dim:m.dim], scale[m.dim:], width[0]
	s.Require(m.width >= 1e-6 && m.width <= 1e9, "monitor: the width of the kernel is %v", m.width)
	if products == 0 {
		m.products = nil
	}
	if s.Err == nil {
		m.resume()
	}
}
