package newton

import (
	"iter"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// window is a ring of the last rows learned.
type window struct {
	rows     int // in use
	at       int // the oldest, which is overwritten next, once all are in use
	x        []float32
	packed   []float32         // x as vec.PackRows packs it
	of       []vec.Coordinates // of each of its panels
	targets  []float64         // rows × targets
	weights  []float64
	weighted int       // rows whose weight is not 1
	f        []float64 // scores under the model as it is, in panels of rows [members × scores][vec.Lanes]
}

// place returns the index of a score of row i in panels of that many columns.
func place(i, column, columns int) int {
	return (i/vec.Lanes*columns+column)*vec.Lanes + i%vec.Lanes
}

// scores returns the scores of the rows, rows × columns.
func (v *window) scores(columns int) []float64 {
	f := make([]float64, v.rows*columns)
	for i := range f {
		f[i] = v.f[place(i/columns, i%columns, columns)]
	}
	return f
}

// setScores replaces the scores by f, rows × columns. Rows past the last one are 0.
func (v *window) setScores(f []float64, columns int) {
	v.f = make([]float64, vec.Panels(v.rows, vec.Lanes)*vec.Lanes*columns)
	for i, s := range f {
		v.f[place(i/columns, i%columns, columns)] = s
	}
}

// push puts the rows of p into the window.
func (w *newton) push(p *engine.Minibatch) {
	n := w.Head.Parts()
	targets := state.Extend(w.scratch.targets[:0], len(p.Labels)*n)
	for i, y := range p.Labels {
		for j := range n {
			targets[i*n+j] = w.Head.PartTarget(y, j)
		}
	}
	w.scratch.targets = targets
	w.put(p.X, targets, p.Weights, p.Scores[w.Head.Scores():], w.Columns())
}

// put puts rows into the window. The scores of the members for row i begin at scores[i×stride].
func (w *newton) put(x []float32, targets, weights, scores []float64, stride int) {
	v, dim, n := &w.window, w.Dim, w.Head.Parts()
	own := len(w.members) * w.Head.Scores()
	w.forest.find(x)
	from, before := 0, v.rows // first row for this panel, rows in use so far
	for i, weight := range weights {
		at := v.at
		if v.rows < w.length {
			at = v.rows
			v.rows++
			v.x = lengthened(v.x, dim, w.length*dim)
			v.targets = state.Extend(v.targets, n)
			v.weights = append(v.weights, 1)
			if at%vec.Lanes == 0 {
				v.f = lengthened(v.f, own*vec.Lanes, w.length*own)
				clear(v.f[at*own:])
				v.packed = lengthened(v.packed, dim*vec.Lanes, w.length*dim)
				clear(v.packed[at*dim:])
				v.of = append(v.of, vec.Coordinates{})
			}
		} else {
			v.at = (v.at + 1) % w.length
		}
		row := x[i*dim : (i+1)*dim]
		copy(v.x[at*dim:], row)
		vec.PackRow(v.packed, row, at)
		if at%vec.Lanes == vec.Lanes-1 || i == len(weights)-1 {
			v.of[at/vec.Lanes].Set(v.packed[at/vec.Lanes*vec.Lanes*dim:], dim)
			n := i + 1 - from
			w.cache.Put(at/vec.Lanes, at%vec.Lanes+1-n, n, x, from, at/vec.Lanes*vec.Lanes >= before)
			from = i + 1
		}
		copy(v.targets[at*n:(at+1)*n], targets[i*n:])
		v.setWeight(at, weight)
		w.forest.arrive(at, i)
		for c, s := range scores[i*stride : i*stride+own] {
			v.f[place(at, c, own)] = s
		}
	}
}

// lengthened returns v with n more numbers, which are undefined. If it needs more memory, it takes
// twice as much, but not for more than most numbers unless they are needed: append would copy them
// twice as often.
func lengthened[T any](v []T, n, most int) []T {
	if size := len(v) + n; cap(v) < size {
		v = slices.Grow(v, max(size, min(2*size, most))-len(v))
	}
	return v[:len(v)+n]
}

// setWeight sets the weight of the row at i.
func (v *window) setWeight(i int, weight float64) {
	if v.weights[i] != 1 {
		v.weighted--
	}
	if weight != 1 {
		v.weighted++
	}
	v.weights[i] = weight
}

// weight returns the sum of the weights of the last rows, at most n of them.
func (v *window) weight(n int) float64 {
	if v.weighted == 0 {
		return float64(min(n, v.rows))
	}
	sum := 0.0
	for i, weight := range v.weights[:v.rows] {
		if n >= v.rows || v.age(i) < n {
			sum += weight
		}
	}
	return sum
}

// last yields the one or two ranges [from, to) of the ring that hold the last n rows, or all rows
// if there are fewer.
func (v *window) last(n int) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		left := min(n, v.rows)
		if left == 0 {
			return
		}
		from := (v.at - left + v.rows) % v.rows
		to := min(from+left, v.rows)
		if yield(from, to) && to-from < left {
			yield(0, left-(to-from))
		}
	}
}

// age returns the number of rows of the window that are newer than the one at i.
func (v *window) age(i int) int { return (v.at - 1 - i + 2*v.rows) % v.rows }
