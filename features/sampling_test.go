package features

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
)

func TestParseSamplingReadsWhatStringWrites(t *testing.T) {
	for _, s := range Samplings() {
		if got, err := ParseSampling(s.String()); err != nil || got != s || !s.Valid() || s.Help() == "" {
			t.Errorf("ParseSampling(%q) = %v, %v", s.String(), got, err)
		}
	}
	if _, err := ParseSampling("SORF"); err == nil || err.Error() != `unknown sampling "SORF": want iid, sorf, orthogonal, qmc, fastfood or leverage; did you mean "sorf"?` {
		t.Errorf("ParseSampling(SORF): %v", err)
	}
	for _, s := range []Sampling{-1, Sampling(len(samplings))} {
		if s.Valid() || s.String() != "invalid" || s.Check(100) == nil || s.CheckKernel(kernel.Gaussian{Scale: 1}) == nil {
			t.Errorf("%d, a number without a sampling, is named %v", int(s), s)
		}
	}
}

// Samplings with structure estimate the kernel better than independent frequencies: the
// orthogonal ones between near rows, and quasi-Monte Carlo for few inputs. Fastfood is not
// much worse. docs/algorithms.md has the table that this test prints.
func TestSamplingsVaryLess(t *testing.T) {
	const draws = 150
	for _, test := range []struct {
		dim, frequencies int
		distance         float64 // in scales
		most             map[Sampling]float64
	}{
		{4, 64, 0.5, map[Sampling]float64{Orthogonal: 0.7, QMC: 0.6}},
		{4, 64, 1.5, map[Sampling]float64{Orthogonal: 1, QMC: 0.8}},
		{4, 1024, 0.5, map[Sampling]float64{Orthogonal: 0.7, QMC: 0.2}},
		{4, 1024, 1.5, map[Sampling]float64{Orthogonal: 1, QMC: 0.2}},
		{64, 256, 0.5, map[Sampling]float64{SORF: 0.3, Orthogonal: 0.3, Fastfood: 3}},
		{64, 256, 1.5, map[Sampling]float64{SORF: 1, Orthogonal: 1, Fastfood: 3}},
	} {
		var off []float64
		for _, sampling := range Samplings() {
			if sampling == Leveraged {
				continue // iid without rows: see TestLeverageApproximatesRidgeBetter
			}
			sum := 0.0
			for seed := range uint64(draws) {
				r := rand.New(rand.NewPCG(seed, 1))
				x := rows(r, 2, test.dim)
				apart := 0.0
				for _, v := range x[test.dim:] {
					apart += float64(v * v)
				}
				for l, v := range x[:test.dim] {
					x[test.dim+l] = v + x[test.dim+l]*float32(test.distance/math.Sqrt(apart))
				}
				bank := NewBank(Map{Kernel: kernel.Gaussian{Scale: 1}, Dim: test.dim, BlockSize: 64, Seed: seed, Sampling: sampling})
				bank.Grow(test.frequencies / 64)
				phi := make([]float32, 2*2*test.frequencies)
				bank.Features(phi, 0, x)
				s := 0.0
				for l := range 2 * test.frequencies {
					s += float64(phi[l]) * float64(phi[2*test.frequencies+l])
				}
				d := s/float64(test.frequencies) - math.Exp(-test.distance*test.distance/2)
				sum += d * d / draws
			}
			off = append(off, sum)
			most, ok := test.most[sampling]
			if t.Logf("%d inputs, %d frequencies, distance %v: %v has %.2f times the mean square error of iid", test.dim, test.frequencies, test.distance, sampling, sum/off[IID]); ok && sum > most*off[IID] {
				t.Errorf("want at most %v", most)
			}
		}
	}
}

// The frequencies of a sampling are a format like those of a kernel.
func TestFrequenciesOfEverySamplingAreGolden(t *testing.T) {
	want := []string{
		"[-0x1.3a48bcp+00 0x1.c4e8a6p-02 -0x1.0430bap-01 0x1.a021d2p-01 0x1.5531fcp-02]",
		"[0x0p+00 -0x1p+01 0x0p+00 0x0p+00 0x0p+00]",
		"[-0x1.24c956p+00 0x1.aed2a8p-02 0x1.5cbad8p-02 0x1.073334p+00 0x1.17a4eep-02]",
		"[-0x1.317e1cp+00 -0x1.e73fd6p+00 0x1.09f52p-01 0x1.4bbcfcp+00 -0x1.3d6118p+00]",
		"[-0x1.205db2p-03 0x1.438592p+00 -0x1.31a3a8p-01 -0x1.ea735p-01 -0x1.0bee6ep+00]",
		"[-0x1.3a48bcp+00 0x1.c4e8a6p-02 -0x1.0430bap-01 0x1.a021d2p-01 0x1.5531fcp-02]", // without a Leverage: iid
	}
	for i, s := range Samplings() {
		w := make([]float32, 3*5)
		Map{Kernel: kernel.Gaussian{Scale: 1}, Dim: 5, BlockSize: 3, Seed: 42, Sampling: s}.Frequencies(w, 1000)
		if got := fmt.Sprintf("%x", w[10:]); i >= len(want) || got != want[i] {
			t.Errorf("%v: %q", s, got)
		}
	}
}

// Orthogonal frequencies are so, and have the lengths of independent ones.
func TestOrthogonalFrequenciesAreOrthogonal(t *testing.T) {
	const dim = 7
	for _, k := range []kernel.Kernel{kernel.Gaussian{Scale: 2}, kernel.Matern{Nu: 1.5, Scale: 1}, kernel.Hierarchical{Width: 1.5, Scale: 1}} {
		m := Map{Kernel: k, Dim: dim, BlockSize: 2 * dim, Seed: 3}
		iid, w := make([]float32, 2*dim*dim), make([]float32, 2*dim*dim)
		m.Frequencies(iid, 4)
		m.Sampling = Orthogonal
		m.Frequencies(w, 4)
		product := func(w []float32, i, j int) (s float64) {
			for l := range dim {
				s += float64(w[i*dim+l]) * float64(w[j*dim+l])
			}
			return s
		}
		for i := range 2 * dim {
			if got, want := product(w, i, i), product(iid, i, i); math.Abs(got-want) > 1e-5*want {
				t.Errorf("%v: the squared length of frequency %d is %v, want %v", k, i, got, want)
			}
		}
		if _, ok := k.(kernel.Hierarchical); ok {
			continue // some frequencies are 0
		}
		for i := range dim {
			for j := range i {
				if p := product(w, i, j) / math.Sqrt(product(w, i, i)*product(w, j, j)); math.Abs(p) > 1e-6 {
					t.Errorf("%v: frequencies %d and %d have the cosine %v", k, i, j, p)
				}
			}
		}
	}
}
