// Package lags adds the inputs and the labels of earlier rows with the same key to a row.
package lags

import (
	"container/list"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Lags appends to each row the inputs and the labels of the last labelled rows with the same key,
// the newest first. If there are fewer than k such rows, the row's own inputs and zeros for the
// labels take their place.
//
// It remembers the maxKeys keys that were seen most recently.
type Lags struct {
	k         int // rows remembered for each key; 0: none are appended
	labelSize int // numbers that encode a label
	keys      map[string]*list.Element
	order     list.List // of *remembered; the most recently seen key first
}

// remembered holds the last rows of a key, the newest first, with inputs and label.
type remembered struct {
	key    string
	values []float64 // at most k rows of dim + labelSize
}

// Max is the maximum number of rows that are remembered for a key.
const Max = 100

const maxKeys = 10_000

// Rows are consecutive examples.
type Rows interface {
	X(i int) []float64
	Label(i int) target.Label
	Key(i int) string
}

// New returns Lags of k rows for each key. A label is encoded by labelSize numbers.
func New(k, labelSize int) Lags { return Lags{k: k, labelSize: labelSize} }

// None reports whether nothing is appended.
func (l *Lags) None() bool { return l.k == 0 }

// encodeLabel sets to to the numbers that encode a label: the targets of a regression, or a point
// on the unit circle for a class. The golden angle between successive classes keeps the first dozen
// of them well apart.
func encodeLabel(to []float64, y target.Label) {
	if y.Task == target.Regression {
		clear(to)
		for j := range y.Targets() {
			to[j] = target.Bounded(y.At(j))
		}
		return
	}
	to[1], to[0] = vec.Sincos(float64(y.Class%1_000_000) * (math.Pi * 0.7639320225002102)) // 3-√5
}

// Set sets x to row i of b followed by its lags. The labelled rows of b before row i count as lags.
func (l *Lags) Set(x []float64, b Rows, i int) {
	d := copy(x, b.X(i))
	row := d + l.labelSize
	past, found := x[d:], 0
	for j := i - 1; j >= 0 && found < l.k; j-- {
		if y := b.Label(j); y.Task != target.Auto && b.Key(j) == b.Key(i) {
			copy(past[found*row:], b.X(j))
			encodeLabel(past[found*row+d:(found+1)*row], y)
			found++
		}
	}
	if e := l.keys[b.Key(i)]; e != nil && found < l.k {
		values := e.Value.(*remembered).values
		found += copy(past[found*row:], values) / row
	}
	for ; found < l.k; found++ {
		copy(past[found*row:], b.X(i))
		clear(past[found*row+d : (found+1)*row])
	}
}

// Push remembers a labelled row.
func (l *Lags) Push(key string, x []float64, y target.Label) {
	row := len(x) + l.labelSize
	e := l.keys[key]
	if e == nil {
		if l.keys == nil {
			l.keys = map[string]*list.Element{}
		}
		e = l.order.PushFront(&remembered{key: key})
		l.keys[key] = e
		if l.order.Len() > maxKeys {
			oldest := l.order.Back()
			delete(l.keys, oldest.Value.(*remembered).key)
			l.order.Remove(oldest)
		}
	} else {
		l.order.MoveToFront(e)
	}
	r := e.Value.(*remembered)
	if len(r.values) < l.k*row {
		r.values = append(r.values, make([]float64, row)...)
	}
	copy(r.values[row:], r.values)
	for i, v := range x {
		r.values[i] = target.Bounded(v)
	}
	encodeLabel(r.values[len(x):row], y)
}

// Save writes the rows that are remembered. It writes nothing if None.
func (l *Lags) Save(a *state.Arrays) {
	if l.k == 0 {
		return
	}
	var keys []byte
	var sizes []int64
	var values []float64
	for e := l.order.Back(); e != nil; e = e.Prev() { // the oldest first
		r := e.Value.(*remembered)
		keys = append(keys, r.key...)
		sizes = append(sizes, int64(len(r.key)), int64(len(r.values)))
		values = append(values, r.values...)
	}
	state.Put(a, "lags.keys", 1, keys)
	state.Put(a, "lags.sizes", 2, sizes)
	state.Put(a, "lags.values", 1, values)
}

// Load reads what Save wrote for rows of dim values.
func (l *Lags) Load(s *state.Reader, dim int) {
	if l.k == 0 {
		return
	}
	keys := state.Take[byte](s, "lags.keys", state.AnySize, 1)
	sizes := state.Take[int64](s, "lags.sizes", state.AnySize, 2)
	values := state.TakeRaw(s, "lags.values", state.AnySize, 1)
	s.Require(len(sizes) <= 2*maxKeys, "lags: %d keys, more than are kept", len(sizes)/2)
	row := dim + l.labelSize
	for ; s.Err == nil && len(sizes) > 0; sizes = sizes[2:] {
		key, n := sizes[0], sizes[1]
		s.Require(key >= 0 && key <= int64(len(keys)) && n > 0 && n <= int64(len(values)) && n <= int64(l.k*row) && n%int64(row) == 0, "lags: invalid sizes %d and %d", key, n)
		if s.Err != nil {
			return
		}
		r := &remembered{key: string(keys[:key]), values: append([]float64(nil), values[:n]...)}
		keys, values = keys[key:], values[n:]
		if l.keys == nil {
			l.keys = map[string]*list.Element{}
		}
		s.Require(l.keys[r.key] == nil, "lags: duplicate key")
		l.keys[r.key] = l.order.PushFront(r)
	}
	s.Require(len(keys) == 0 && len(values) == 0, "lags: keys and values are longer than their sizes")
}
