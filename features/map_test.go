package features

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
)

// With a second kernel the features estimate the mean of two, and the frequencies
// of the first one do not change.
func TestTwoKernelsAreTheirMean(t *testing.T) {
	const blocks, n, dim = 600, 10, 4
	k := kernel.Gaussian{Scale: 1.5}
	second := []float32{2, 0.25, 1, 0}
	one := Map{Kernel: k, Dim: dim, BlockSize: 5, Seed: 7}
	two := one
	two.Second = second
	b := NewBank(two)
	b.Grow(blocks)
	x := rows(rand.New(rand.NewPCG(3, 4)), n, dim)
	m := blocks * two.BlockSize
	phi := make([]float32, n*2*m)
	b.Features(phi, 0, x)
	for i := range n {
		for j := range i {
			s := 0.0
			for l := range 2 * m {
				s += float64(phi[i*2*m+l]) * float64(phi[j*2*m+l])
			}
			var u, v, su, sv [dim]float64
			for l := range dim {
				u[l], v[l] = float64(x[i*dim+l]), float64(x[j*dim+l])
				su[l], sv[l] = u[l]*float64(second[l]), v[l]*float64(second[l])
			}
			// Of five frequencies in a block three are the first kernel's.
			got, want := s/float64(m), 0.6*k.Eval(u[:], v[:])+0.4*k.Eval(su[:], sv[:])
			if math.Abs(got-want) > 4.5/math.Sqrt(2*float64(m)) {
				t.Errorf("%d frequencies estimate %v, want %v", m, got, want)
			}
		}
	}
	v, w := make([]float32, 5*dim), make([]float32, 5*dim)
	one.Frequencies(v, 3)
	two.Frequencies(w, 3)
	for j := range 5 {
		for l := range dim {
			want := v[j*dim+l]
			if j%2 == 1 {
				want *= second[l]
			}
			if w[j*dim+l] != want {
				t.Errorf("frequency %d of input %d is %v, want %v", j, l, w[j*dim+l], want)
			}
		}
	}
}

// The frequencies of a seed are a format: these values may never change.
func TestFrequenciesAreGolden(t *testing.T) {
	m := Map{Kernel: kernel.Gaussian{Scale: 2.5}, Dim: 3, BlockSize: 2, Seed: 42}
	got := make([]float32, 6)
	m.Frequencies(got, 1000)
	want := []float32{0x1.5e9de6p-02, -0x1.63fc06p-03, 0x1.24d0d2p+00, 0x1.d32cc4p-04, -0x1.3b759ep-03, 0x1.2e3c68p-02}
	if !slices.Equal(got, want) {
		t.Errorf("frequencies %x, want %x", got, want)
	}
	b := NewBank(m)
	b.Grow(1001)
	phi := make([]float32, 4)
	b.Features(phi, 1000, []float32{1, -2, .5})
	if want := []float32{0x1.374246p-02, 0x1.e7c626p-01, 0x1.af22fcp-01, 0x1.14295ep-01}; !slices.Equal(phi, want) {
		t.Errorf("features %x, want %x", phi, want)
	}
	m.Sampling = SORF
	b = NewBank(m)
	b.Grow(1001)
	m.Frequencies(got, 1000)
	b.Features(phi, 1000, []float32{1, -2, .5})
	if want := []float32{-0x1.99999ap-02, -0x1.99999ap-02, 0x1.99999ap-02, 0x1.99999ap-02, -0x1.99999ap-02, -0x1.99999ap-02, 0x1.a69264p-01, 0x1.2118d2p-01, 0x1.14a27ep-01, 0x1.aed54ap-01}; !slices.Equal(append(got, phi...), want) {
		t.Errorf("orthogonal frequencies and features %x, want %x", append(got, phi...), want)
	}
}

// Equal notices each field.
func TestEqualNoticesEveryFieldOfAMap(t *testing.T) {
	leverage := func(penalty float64) *Leverage {
		l, err := NewLeverage(kernel.Gaussian{Scale: 2}, []float32{1, 2, 3, 4, 5, 6}, 2, penalty)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	made := func(change func(*Map)) Map {
		m := Map{Kernel: kernel.Gaussian{Scale: 2}, Dim: 2, Seed: 3, Sampling: Leveraged, Leverage: leverage(0.5), Second: []float32{1, 2}}
		change(&m)
		return m
	}
	base := made(func(*Map) {})
	for name, same := range map[string]func(*Map){
		"made again":       func(*Map) {},
		"default block":    func(m *Map) { m.BlockSize = DefaultBlockSize },
		"leverage of rows": func(m *Map) { m.Leverage = leverage(0.5) },
	} {
		if m := made(same); !m.Equal(base) || !base.Equal(m) {
			t.Errorf("%s: not equal", name)
		}
	}
	for name, other := range map[string]func(*Map){
		"scale":       func(m *Map) { m.Kernel = kernel.Gaussian{Scale: math.Nextafter(2, 3)} },
		"family":      func(m *Map) { m.Kernel = kernel.Laplacian{Scale: 2} },
		"dim":         func(m *Map) { m.Dim = 3 },
		"block":       func(m *Map) { m.BlockSize = 5 },
		"seed":        func(m *Map) { m.Seed++ },
		"sampling":    func(m *Map) { m.Sampling, m.Leverage = IID, nil },
		"second":      func(m *Map) { m.Second = []float32{1, 3} },
		"no second":   func(m *Map) { m.Second = nil },
		"leverage":    func(m *Map) { m.Leverage = leverage(0.25) },
		"no leverage": func(m *Map) { m.Leverage = nil },
	} {
		if m := made(other); m.Equal(base) || base.Equal(m) {
			t.Errorf("%s: equal", name)
		}
	}
}

// A map without what it needs names the fields to set.
func TestAMapSaysWhatToSet(t *testing.T) {
	for _, m := range []Map{{}, {Kernel: kernel.Gaussian{Scale: 1}}, {Kernel: kernel.Sum{}, Dim: 2}, {Dim: 2}} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "set Kernel to one of package kernel, Dim to 1 or more") {
					t.Errorf("%+v: %q", m, got)
				}
			}()
			NewBank(m)
		}()
	}
}
