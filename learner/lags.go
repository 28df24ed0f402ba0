package learner

import (
	"container/list"
	"errors"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// ErrLags refuses a model with lags outside its Learner: its predictions depend on the
// labels of earlier rows.
var ErrLags = errors.New("only the learner can predict with a model that has lags: predictions depend on the labels of earlier records")

// lags appends to each row the inputs and the labels of the last Config.Lags labelled
// rows of the same key, the newest first. If there are fewer, the row's own inputs and
// zeros for the labels take their place.
//
// It remembers the maxLagKeys keys that were seen last.
type lags struct {
	k         int // rows that are remembered for a key
	labelSize int // numbers that encode a label
	keys      map[string]*list.Element
	order     list.List // of *remembered; the key that was seen last is the first
}

// remembered are the last rows of a key, the newest first: inputs and label.
type remembered struct {
	key    string
	values []float64 // at most k rows of dim + labelSize
}

const (
	maxLagKeys = 10_000
	maxLags    = 100
)

// labelSize returns the number of numbers that encode a label.
func (c Config) labelSize() int { return max(2, c.Targets) }

// width returns the number of values of a row of dim inputs with its lags.
func (c Config) rowSize(dim int) int { return dim + c.Lags*(dim+c.labelSize()) }

// inputs returns the number of inputs of a row of width values, without its lags.
func (c Config) inputs(width int) int { return (width - c.Lags*c.labelSize()) / (1 + c.Lags) }

// encodeLabel sets to the numbers that encode a label: the targets themselves, or a
// point on the unit circle for a class. The golden angle between a class and the next
// keeps the first dozen of them well apart.
func encodeLabel(to []float64, y Label) {
	if y.Task == Regression {
		clear(to)
		for j := range y.Targets() {
			to[j] = target.Bounded(y.At(j))
		}
		return
	}
	to[1], to[0] = vec.Sincos(float64(y.Class%1_000_000) * (math.Pi * 0.7639320225002102)) // 3-√5
}

// appendLags fills dst with the first n rows of b and their lags. Labelled rows of b
// are lags of later ones.
func (l *lags) appendLags(dst, b *Batch, n int) {
	d, row := b.Dim(), b.Dim()+l.labelSize
	dst.Reset(d + l.k*row)
	x := make([]float64, dst.dim)
	for i := range n {
		copy(x, b.X(i))
		past, found := x[d:], 0
		for j := i - 1; j >= 0 && found < l.k; j-- {
			if b.labels[j].Task != Auto && b.keys[j] == b.keys[i] {
				copy(past[found*row:], b.X(j))
				encodeLabel(past[found*row+d:(found+1)*row], b.labels[j])
				found++
			}
		}
		if e := l.keys[b.keys[i]]; e != nil && found < l.k {
			values := e.Value.(*remembered).values
			found += copy(past[found*row:], values) / row
		}
		for ; found < l.k; found++ {
			copy(past[found*row:], b.X(i))
			clear(past[found*row+d : (found+1)*row])
		}
		dst.Append(x, b.labels[i], b.weights[i])
	}
}

// push remembers a labelled row.
func (l *lags) push(key string, x []float64, y Label) {
	row := len(x) + l.labelSize
	e := l.keys[key]
	if e == nil {
		if l.keys == nil {
			l.keys = map[string]*list.Element{}
		}
		e = l.order.PushFront(&remembered{key: key})
		l.keys[key] = e
		if l.order.Len() > maxLagKeys {
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

func (l *lags) save(a *state.Arrays) {
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

func (l *lags) load(s *state.Reader, dim int) {
	if l.k == 0 {
		return
	}
	keys := state.Take[byte](s, "lags.keys", state.AnySize, 1)
	sizes := state.Take[int64](s, "lags.sizes", state.AnySize, 2)
	values := state.TakeRaw(s, "lags.values", state.AnySize, 1)
	s.Require(len(sizes) <= 2*maxLagKeys, "lags: %d keys, more than are kept", len(sizes)/2)
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
