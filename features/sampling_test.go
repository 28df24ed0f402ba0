package features

import (
	"math/rand/v2"
	"testing"
)

func TestParseSamplingReadsWhatStringWrites(t *testing.T) {
	for _, s := range Samplings() {
		if got, err := ParseSampling(s.String()); err != nil || got != s || !s.Valid() || s.Help() == "" {
			t.Errorf("ParseSampling(%q) = %v, %v", s.String(), got, err)
		}
	}
	if _, err := ParseSampling("SORF"); err == nil || err.Error() != `unknown sampling "SORF": want iid or sorf; did you mean "sorf"?` {
		t.Errorf("ParseSampling(SORF): %v", err)
	}
	if Sampling(-1).Valid() || Sampling(len(samplings)).Valid() {
		t.Error("a number without a sampling is valid")
	}
}

// A block of as many orthogonal frequencies as there are dimensions estimates
// the kernel better than independent ones.
func TestOrthogonalFrequenciesVaryLess(t *testing.T) {
	const dim, draws = 64, 300
	k := Gaussian{Scale: 8}
	var off [2]float64
	for seed := range uint64(draws) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := rows(r, 2, dim)
		for l := range dim { // near each other
			x[dim+l] = x[l] + x[dim+l]/2
		}
		a, b := make([]float64, dim), make([]float64, dim)
		for l := range dim {
			a[l], b[l] = float64(x[l]), float64(x[dim+l])
		}
		for sampling := range off {
			bank := NewBank(Map{Kernel: k, Dim: dim, BlockSize: dim, Seed: seed, Sampling: Sampling(sampling)})
			bank.Grow(1)
			phi := make([]float32, 2*2*dim)
			bank.Features(phi, 0, x)
			s := 0.0
			for l := range 2 * dim {
				s += float64(phi[l]) * float64(phi[2*dim+l])
			}
			d := s/dim - k.Eval(a, b)
			off[sampling] += d * d / draws
		}
	}
	if t.Logf("mean square error %.2g independent, %.2g orthogonal", off[IID], off[SORF]); off[SORF] > off[IID]/2 {
		t.Errorf("mean square error %.2g independent, %.2g orthogonal", off[IID], off[SORF])
	}
}
