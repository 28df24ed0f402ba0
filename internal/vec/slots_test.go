//go:build linux

package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slotted is a row of columns that are hashed to slots, of which several may share one.
type slotted struct {
	k, slots int
	columns  []uint32
	values   []float32
	largest  []float32
	coef     []float32
	squares  []float32
	f, g     []float64
}

func newSlotted(r *rand.Rand, trial int) *slotted {
	k, slots := 1+r.IntN(40), 1<<r.IntN(9)
	if trial%10 == 0 {
		k = 1 + r.IntN(140)
	}
	s := &slotted{k: k, slots: slots, coef: random(r, slots*k, 1), squares: make([]float32, slots*k), largest: make([]float32, slots)}
	for range 1 + r.IntN(100) {
		s.columns = append(s.columns, r.Uint32())
		s.values = append(s.values, float32(r.NormFloat64()*math.Exp2(float64(r.IntN(3)*20-20))))
	}
	for i, c := range s.columns {
		at := c & uint32(slots-1)
		s.largest[at] = max(s.largest[at], float32(math.Abs(float64(s.values[i]))))
	}
	for range k {
		// Some gradients have squares that are too small to be numbers.
		s.f, s.g = append(s.f, r.NormFloat64()), append(s.g, r.NormFloat64()*math.Exp2(float64(-80*r.IntN(3))))
	}
	for i := range s.squares {
		if r.IntN(3) > 0 {
			s.squares[i] = float32(r.ExpFloat64() * math.Exp2(float64(r.IntN(40)-20)))
		}
	}
	return s
}

// step is StepSlots in other words: coefficient by coefficient.
func (s *slotted) step(rate, bound float64) (coef, squares []float32) {
	coef, squares = append(coef, s.coef...), append(squares, s.squares...)
	for i, c := range s.columns {
		slot := int(c % uint32(s.slots))
		scale := float64(s.largest[slot])
		for j := range s.k {
			w, q := &coef[slot*s.k+j], &squares[slot*s.k+j]
			slope := s.g[j] * (float64(s.values[i]) / scale)
			if sum := float32(float64(*q) + float64(slope*slope)); sum > 0 {
				*q = sum
				step := float64(rate*slope) / float64(math.Sqrt(float64(sum))*scale)
				*w = float32(min(bound/scale, max(-bound/scale, float64(*w)-step)))
			}
		}
	}
	return coef, squares
}

// TestSlotsAreThePlainLoops holds all implementations against loops over scores, to the bit,
// and nothing outside of the arguments is touched.
func TestSlotsAreThePlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for trial := range 200 {
		s, atEnd := newSlotted(r, trial), trial%2 == 0
		want := append([]float64(nil), s.f...)
		for j := range want {
			for i, c := range s.columns {
				want[j] += float64(float64(s.coef[int(c)%s.slots*s.k+j]) * float64(s.values[i]))
			}
		}
		bound := math.Exp2(float64(r.IntN(8) - 4))
		coef, squares := s.step(0.4, bound)
		columns, values, largest, g := guarded(t, s.columns, atEnd), guarded(t, s.values, atEnd), guarded(t, s.largest, atEnd), guarded(t, s.g, atEnd)
		eachISA(func(name string) {
			f, w, q := guarded(t, s.f, atEnd), guarded(t, s.coef, atEnd), guarded(t, s.squares, atEnd)
			if AddSlots(f, w, columns, values); digest64(f) != digest64(want) {
				t.Fatalf("%s: %d columns in %d slots of %d scores: AddSlots = %v, want %v", name, len(columns), s.slots, s.k, f, want)
			}
			StepSlots(w, q, largest, columns, values, g, 0.4, bound)
			if digest32(w) != digest32(coef) || digest32(q) != digest32(squares) {
				t.Fatalf("%s: %d columns in %d slots of %d scores: coefficients or squares differ from the plain loop's", name, len(columns), s.slots, s.k)
			}
		})
	}
}

func TestSlotsAreAPowerOfTwo(t *testing.T) {
	for _, n := range []int{0, 2, 9, 10} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d coefficients for 3 scores are accepted", n)
				}
			}()
			AddSlots(make([]float64, 3), make([]float32, n), nil, nil)
		}()
	}
}
