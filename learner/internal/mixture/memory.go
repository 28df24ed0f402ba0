package mixture

import (
	"container/list"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// mostKeys is the number of keys whose last label is remembered, those seen last.
const mostKeys = 10_000

// memory is the last label of each key.
type memory struct {
	keys  map[string]*list.Element
	order list.List // of *remembered; the key that was seen last is the first
}

type remembered struct {
	key  string
	last target.Label
}

// of returns the last label of a key; its Task is target.Auto if there is none.
func (m *memory) of(key string) target.Label {
	if e := m.keys[key]; e != nil {
		return e.Value.(*remembered).last
	}
	return target.Label{}
}

// push remembers a label, whose memory it keeps.
func (m *memory) push(key string, y target.Label) {
	e := m.keys[key]
	if e != nil {
		e.Value.(*remembered).last = y
		m.order.MoveToFront(e)
		return
	}
	if m.keys == nil {
		m.keys = map[string]*list.Element{}
	}
	m.keys[key] = m.order.PushFront(&remembered{key, y})
	if m.order.Len() > mostKeys {
		oldest := m.order.Back()
		delete(m.keys, oldest.Value.(*remembered).key)
		m.order.Remove(oldest)
	}
}

func (m *memory) save(a *state.Arrays, targets int) {
	var keys []byte
	var sizes []int64
	var labels []target.Label
	for e := m.order.Back(); e != nil; e = e.Prev() { // the oldest first
		r := e.Value.(*remembered)
		keys = append(keys, r.key...)
		sizes = append(sizes, int64(len(r.key)))
		labels = append(labels, r.last)
	}
	state.Put(a, "mixture.keys", 1, keys)
	state.Put(a, "mixture.key.sizes", 1, sizes)
	putLast(a, "mixture.key", labels, targets)
}

func (m *memory) load(s *state.Reader, h *target.Head) {
	keys := state.Take[byte](s, "mixture.keys", state.AnySize, 1)
	sizes := state.Take[int64](s, "mixture.key.sizes", state.AnySize, 1)
	labels := takeLast(s, "mixture.key", len(sizes), h)
	s.Require(len(sizes) <= mostKeys, "mixture: %d keys, more than are kept", len(sizes))
	for i, n := range sizes {
		s.Require(n >= 0 && n <= int64(len(keys)), "mixture: invalid size %d of a key", n)
		if s.Err != nil {
			return
		}
		key := string(keys[:n])
		keys = keys[n:]
		s.Require(m.keys[key] == nil, "mixture: duplicate key")
		m.push(key, labels[i])
	}
	s.Require(len(keys) == 0, "mixture: keys are longer than their sizes")
}

// putLast writes labels of which some are absent.
func putLast(a *state.Arrays, name string, labels []target.Label, targets int) {
	classes, values := make([]int64, len(labels)), make([]float64, len(labels)*targets)
	for i, y := range labels {
		if classes[i] = int64(y.Class); y.Task == target.Auto {
			classes[i] = -1
			continue
		}
		for j := range targets {
			values[i*targets+j] = y.At(j)
		}
	}
	state.Put(a, name+".classes", 1, classes)
	state.Put(a, name+".values", targets, values)
}

func takeLast(s *state.Reader, name string, n int, h *target.Head) []target.Label {
	k := h.Targets()
	classes := state.Take[int64](s, name+".classes", n, 1)
	values := state.Take[float64](s, name+".values", n, k)
	if s.Err != nil {
		return make([]target.Label, n)
	}
	labels := make([]target.Label, n)
	for i, c := range classes {
		if c == -1 {
			continue
		}
		s.Require(c >= 0 && c < int64(max(1, h.Classes)), "%s: class %d of %d", name, c, h.Classes)
		if h.Task == target.Regression {
			labels[i] = target.RegressionLabel(values[i*k : (i+1)*k : (i+1)*k])
		}
		labels[i].Task, labels[i].Class = h.Task, int(c)
	}
	return labels
}
