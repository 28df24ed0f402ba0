package random

import (
	"math"
	"slices"
	"testing"
)

// The numbers of a seed are a format: these values may never change.
func TestSourceIsGolden(t *testing.T) {
	s := New(42, 1000)
	words, uniform, normal := []uint64{s.Uint64(), s.Uint64()}, []float64{s.Float64(), s.Float64()}, make([]float32, 3)
	s.FillNormal(normal)
	if want := []uint64{0xe6cf701d77b445f5, 0xd2e7af7c9ee0706f}; !slices.Equal(words, want) {
		t.Errorf("words %#x, want %#x", words, want)
	}
	if want := []float64{0x1.fe37a2cd0e5ebp-01, 0x1.14b0b32491611p-01}; !slices.Equal(uniform, want) {
		t.Errorf("uniform %x, want %x", uniform, want)
	}
	if want := []float32{0x1.b6455ep-01, -0x1.bcfb06p-02, 0x1.6e0506p+01}; !slices.Equal(normal, want) {
		t.Errorf("normal %x, want %x", normal, want)
	}
}

// What a kernel takes of one sequence does not move the other one, and a source
// that is used again begins again.
func TestSequencesOfASourceAreIndependent(t *testing.T) {
	a, b := New(1, 2), New(3, 4)
	want := make([]float32, 300)
	a.FillNormal(want)
	words := []uint64{a.Uint64(), a.Uint64()}
	b.Uint64()
	b.FillNormal(make([]float32, 5))
	b.Reset(1, 2)
	got := make([]float32, 300)
	b.FillNormal(got[:7])
	if w := []uint64{b.Uint64(), b.Uint64()}; !slices.Equal(w, words) {
		t.Errorf("words %x, want %x", w, words)
	}
	b.FillNormal(got[7:])
	if !slices.Equal(got, want) {
		t.Error("the normal numbers depend on what else is drawn, or on the use before")
	}
}

// Mean and variance of uniform numbers, and none of them 0 or 1.
func TestUniformNumbersAreUniform(t *testing.T) {
	const n = 100_000
	s := New(5, 6)
	var bins [10]float64
	for range n {
		v := s.Float64()
		if !(v > 0 && v < 1) {
			t.Fatalf("%v is not between 0 and 1", v)
		}
		bins[int(10*v)]++
	}
	chi2 := 0.0
	for _, b := range bins {
		chi2 += (b - n/10) * (b - n/10) / (n / 10)
	}
	if chi2 > 27.9 { // 9 degrees of freedom, one in a thousand
		t.Errorf("bins %v: chi-squared is %v", bins, chi2)
	}
	if least, most := 0.5*0x1p-52, (float64(math.MaxUint64>>12)+0.5)*0x1p-52; least <= 0 || most >= 1 {
		t.Errorf("the numbers go from %v to %v", least, most)
	}
}
