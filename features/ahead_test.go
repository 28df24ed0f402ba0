package features

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/vec"
)

// next returns that many rows.
func (w *window) next(r *rand.Rand, rows int, zeros float64) []float32 {
	x := make([]float32, rows*w.bank.m.Dim)
	for i := range x {
		if r.Float64() >= zeros {
			x[i] = float32(r.NormFloat64())
		}
	}
	return x
}

// put appends the rows of x, or replaces the rows from at on if there are as many.
func (w *window) put(r *rand.Rand, x []float32, at int) {
	dim, before, from := w.bank.m.Dim, w.rows, 0
	for i := range len(x) / dim {
		if at+i == w.rows {
			w.extend(r)
		}
		vec.PackRow(w.x, x[i*dim:(i+1)*dim], at+i)
		if panel, lane := (at+i)/vec.Lanes, (at+i)%vec.Lanes; lane == vec.Lanes-1 || (i+1)*dim == len(x) {
			w.of[panel].Set(w.x[panel*vec.Lanes*dim:], dim)
			n := i + 1 - from
			w.with.Cache.Put(panel, lane+1-n, n, x, from, panel*vec.Lanes >= before)
			from = i + 1
		}
	}
}

// sum returns the sums of the rows of x with a cache and without.
func (w *window) sum(r *rand.Rand, x []float32) (with, without []float64) {
	coef := make([]float32, 2*w.bank.Blocks()*64*cachedScores)
	for i := range coef {
		coef[i] = float32(r.NormFloat64())
	}
	with, without = make([]float64, len(x)/w.bank.m.Dim*cachedScores), make([]float64, len(x)/w.bank.m.Dim*cachedScores)
	w.bank.SumPacked(with, x, coef, cachedScores, &Packed{Team: w.with.Team, Cache: w.with.Cache})
	w.bank.Sum(without, x, coef, cachedScores)
	return with, without
}

// Sums that keep phases are those of other sums, and rows that follow in the window of a Held have
// the features that they would have without a cache.
func TestPhasesOfSumsGiveTheSameFeatures(t *testing.T) {
	r := rand.New(rand.NewPCG(67, 68))
	for _, dim := range []int{cachedInputs, cachedInputs + 45} {
		w := newWindow(t, r, dim, r.IntN(100))
		for step := range 40 {
			x := w.next(r, 1+r.IntN(mostAhead+10), []float64{0, 0, .1, .99}[r.IntN(4)])
			if r.IntN(4) > 0 {
				if got, want := w.sum(r, x); !slices.Equal(got, want) {
					t.Fatalf("%d inputs, step %d: the sums differ", dim, step)
				}
			}
			at, rows := w.rows, len(x)/dim
			if w.rows > rows && r.IntN(2) > 0 {
				at = r.IntN(w.rows - rows)
			}
			learned := 1 + r.IntN(rows) // a part of the rows, or all
			if r.IntN(3) > 0 {
				learned = rows
			}
			w.put(r, x[:learned*dim], at)
			w.bank.Grow(1 + step) // the last panel of frequencies is that of two blocks
			if r.IntN(4) == 0 {
				continue
			}
			for block := range w.bank.Blocks() {
				if got, want := w.gradients(block); !slices.Equal(got, want) {
					t.Fatalf("%d inputs, step %d, block %d: the gradients differ", dim, step, block)
				}
			}
		}
	}
}

// The phases of rows that were summed before are not computed again.
func TestPhasesOfSumsAreKept(t *testing.T) {
	r := rand.New(rand.NewPCG(69, 70))
	w := newWindow(t, r, cachedInputs, 0)
	w.bank.Grow(3) // 16 whole panels of frequencies
	for _, rows := range []int{vec.Lanes, 2*vec.Lanes - 7, 5, 20} {
		x := w.next(r, rows, 0)
		w.sum(r, x)
		w.put(r, x, w.rows)
	}
	_, want := w.gradients(1)
	clear(w.x) // which the cache is not told of
	if got, _ := w.gradients(1); !slices.Equal(got, want) {
		t.Error("the phases are not in the cache")
	}
}

// In a new panel, lanes without a row have the phases of a row of zeros, whatever was in the memory.
func TestLanesWithoutRowsAreZero(t *testing.T) {
	r := rand.New(rand.NewPCG(75, 76))
	w := newWindow(t, r, cachedInputs, 0)
	w.bank.Grow(3)
	x := w.next(r, vec.Lanes, 0)
	w.sum(r, x)
	w.put(r, x, 0)
	next := new(Cache)
	next.Take(w.with.Cache)
	w.with.Cache, w.rows = next, 0
	const rows = 20
	w.sum(r, x[:rows*cachedInputs])
	w.put(r, x[:rows*cachedInputs], 0)
	for p := range next.valid[0] {
		for i, v := range next.tile(p, 0) {
			if lane := i % vec.Lanes; (v == 0) != (lane >= rows) {
				t.Fatalf("panel %d: lane %d has the phase %v", p, lane, v)
			}
		}
	}
}
