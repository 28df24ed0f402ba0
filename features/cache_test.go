package features

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// window is packed rows that change, with and without a cache.
type window struct {
	bank     *Bank
	x        []float32
	of       []vec.Coordinates
	factors  []float32
	inUse    []int
	rows     int
	with, no Held
}

const cachedScores = 3

func newWindow(t *testing.T, r *rand.Rand, dim, rows int) *window {
	w := &window{bank: NewBank(Map{Kernel: kernel.Gaussian{Scale: 20}, Dim: dim, BlockSize: 64, Seed: 5})}
	w.bank.Grow(1)
	w.with.Cache, w.with.Team = new(Cache), team(t, r.IntN(3))
	for range rows {
		w.push(r, 0)
	}
	return w
}

// push adds a row of which that share of the numbers is 0.
func (w *window) push(r *rand.Rand, zeros float64) {
	w.extend(r)
	w.replace(r, w.rows-1, zeros)
	w.changed((w.rows - 1) / vec.Lanes)
}

// extend makes room for another row.
func (w *window) extend(r *rand.Rand) {
	w.rows++
	dim, panels := w.bank.m.Dim, vec.Panels(w.rows, vec.Lanes)
	if len(w.of) < panels {
		w.x = append(w.x, make([]float32, dim*vec.Lanes)...)
		w.of = append(w.of, vec.Coordinates{})
		w.factors = append(w.factors, make([]float32, cachedScores*vec.Lanes)...)
	}
	w.inUse = w.inUse[:0]
	for range vec.Panels(w.rows, vec.Run) {
		w.inUse = append(w.inUse, cachedScores)
	}
	at := w.rows - 1
	for c := range cachedScores {
		w.factors[(at/vec.Lanes*cachedScores+c)*vec.Lanes+at%vec.Lanes] = r.Float32()
	}
}

// replace sets a row to another one.
func (w *window) replace(r *rand.Rand, at int, zeros float64) {
	row := make([]float32, w.bank.m.Dim)
	for i := range row {
		if r.Float64() >= zeros {
			row[i] = float32(r.NormFloat64())
		}
	}
	vec.PackRow(w.x, row, at)
}

func (w *window) changed(panel int) {
	w.of[panel].Set(w.x[panel*vec.Lanes*w.bank.m.Dim:], w.bank.m.Dim)
	w.with.Cache.Forget(panel)
}

// gradients returns those of a block with the cache and without.
func (w *window) gradients(block int) (with, without []float64) {
	with, without = make([]float64, 2*64*cachedScores), make([]float64, 2*64*cachedScores)
	w.bank.HoldGradient(&w.with, block, w.x, w.of, w.rows, with, w.factors, cachedScores, w.inUse)
	w.bank.HoldGradient(&w.no, block, w.x, w.of, w.rows, without, w.factors, cachedScores, w.inUse)
	return with, without
}

// Phases from a cache are those of the rows as they are, whatever has changed in between.
func TestCachedPhasesGiveTheSameFeatures(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for _, dim := range []int{cachedInputs, cachedInputs + 45} {
		w := newWindow(t, r, dim, 200+r.IntN(400))
		for step := range 40 {
			for range r.IntN(3) {
				w.push(r, 0)
			}
			if step%3 == 0 {
				at, zeros := r.IntN(w.rows), []float64{0, .1, .99}[r.IntN(3)]
				for i := range vec.Lanes { // the whole panel, which may have few numbers then
					if row := at/vec.Lanes*vec.Lanes + i; row < w.rows {
						w.replace(r, row, zeros)
					}
				}
				w.changed(at / vec.Lanes)
			}
			if step == 20 { // as an engine that replaces another one
				next := new(Cache)
				if next.Take(w.with.Cache); len(next.spare) == 0 {
					t.Error("the memory was not taken")
				}
				w.with.Cache = next
			}
			w.bank.Grow(1 + step/4) // the last panel of frequencies is that of two blocks
			if got, want := w.gradients(r.IntN(w.bank.Blocks())); !slices.Equal(got, want) {
				t.Fatalf("%d inputs, step %d: the gradients differ", dim, step)
			}
		}
	}
}

// Phases are computed once, and no more memory is taken than CachedNumbers.
func TestCacheKeepsPhases(t *testing.T) {
	w := newWindow(t, rand.New(rand.NewPCG(63, 64)), cachedInputs, 600)
	w.bank.Grow(3)
	var before [][]float64
	for block := range 3 {
		got, _ := w.gradients(block)
		before = append(before, got)
	}
	clear(w.x) // which the cache is not told of
	for block, want := range before {
		if got, now := w.gradients(block); !slices.Equal(got, want) || slices.Equal(now, want) {
			t.Errorf("block %d: the phases are not in the cache", block)
		}
	}
	numbers := 0
	for _, runs := range w.with.Cache.runs {
		for _, run := range runs {
			numbers += len(run)
		}
	}
	if most := CachedNumbers(w.rows, 3*64, cachedInputs); numbers != most {
		t.Errorf("%d numbers in the cache, want %d", numbers, most)
	}
}

// Rows of few inputs, and structured frequencies, are left out.
func TestCacheIsForWideRows(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 66))
	narrow := newWindow(t, r, cachedInputs-1, 40)
	structured := newWindow(t, r, cachedInputs, 40)
	structured.bank = NewBank(Map{Kernel: kernel.Gaussian{Scale: 20}, Dim: cachedInputs, BlockSize: 64, Seed: 5, Sampling: SORF})
	structured.bank.Grow(1)
	for _, w := range []*window{narrow, structured} {
		if got, want := w.gradients(0); !slices.Equal(got, want) || len(w.with.Cache.runs) > 0 {
			t.Errorf("%d inputs, %v: %d panels of frequencies in the cache", w.bank.m.Dim, w.bank.m.Sampling, len(w.with.Cache.runs))
		}
	}
	many := newWindow(t, r, cachedInputs, 40)
	many.bank.Grow(mostCached/64 + 2)
	last := many.bank.Blocks() - 1
	if got, want := many.gradients(last); !slices.Equal(got, want) {
		t.Error("the gradients of a block past the cached ones differ")
	}
	for p, runs := range many.with.Cache.runs {
		if len(runs) > 0 {
			t.Errorf("panel %d of the frequencies, past the cached ones, is in the cache", p)
		}
	}
	if n := CachedNumbers(40, 64, cachedInputs-1); n != 0 {
		t.Errorf("%d numbers of narrow rows", n)
	}
}
