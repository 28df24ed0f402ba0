package metric

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Save adds m to the serving part of a State, unless m is nil.
func (m *Metric) Save(a *state.Arrays) {
	if m == nil {
		return
	}
	var keys []byte
	var sizes []int64
	for _, key := range m.keys {
		keys = append(keys, key...)
		sizes = append(sizes, int64(len(key)))
	}
	hash := m.String()
	state.Put(a, "given.hash", len(hash), []byte(hash))
	state.Put(a, "given.center", len(m.center), m.center)
	state.Put(a, "given.scale", len(m.scale), m.scale)
	state.Put(a, "given.roots", len(m.center), m.roots)
	state.Put(a, "given.keys", 1, keys)
	state.Put(a, "given.sizes", 1, sizes)
}

// Load reads what Save wrote. It returns nil if there is no metric.
func Load(s *state.Reader) *Metric {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "given.hash" {
		return nil
	}
	m := new(Metric)
	if err := m.UnmarshalText([]byte(state.TakeString(s, "given.hash"))); err != nil {
		s.Fail("%v", err)
		return nil
	}
	if len(s.In) == 0 {
		s.Fail("given.center is missing")
		return nil
	}
	d := s.In[0].Shape[1]
	m.center = state.Take[float64](s, "given.center", 1, d)
	m.scale = state.Take[float64](s, "given.scale", 1, d)
	m.roots = state.Take[float64](s, "given.roots", state.AnySize, d)
	keys := state.Take[byte](s, "given.keys", state.AnySize, 1)
	sizes := state.Take[int64](s, "given.sizes", state.AnySize, 1)
	s.Require(d > 0 && len(m.roots) == (1+len(sizes))*d*d, "a metric with %d inputs and %d keys has %d numbers", d, len(sizes), len(m.roots))
	if s.Err != nil {
		return nil
	}
	for _, n := range sizes {
		if n < 0 || n > int64(len(keys)) || len(m.keys) > 0 && string(keys[:n]) <= m.keys[len(m.keys)-1] {
			s.Fail("given.sizes: invalid size %d, or keys out of order", n)
			return nil
		}
		m.keys, keys = append(m.keys, string(keys[:n])), keys[n:]
	}
	s.Require(len(keys) == 0, "given.keys is longer than its sizes")
	for j, v := range m.scale {
		s.Require(v > 0, "the scale of column %d is %v", j, v)
	}
	for _, v := range m.roots {
		s.Require(math.Abs(v) <= maxEigenvalue, "an element of the metric's square root is %v", v)
	}
	m.find()
	return m
}
