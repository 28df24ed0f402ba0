package kernel_test

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
)

const defaultDraws = 20_000

var draws = flag.Int("draws", defaultDraws, "number of random features in the estimate of kernels that have features of their own; any other number doubles the features of the other kernels")

var update = flag.Bool("update", false, "add kernels that are not in testdata/frequencies to it")

// composites are sums and products with values and frequencies.
var composites = []string{
	"gaussian:2.5+laplacian:4", "0.7*gaussian:0.3+0.2*matern:1.5,2+1e-06*cauchy:1e+12", "gaussian:1*laplacian:5",
	"2*cauchy:0.5*matern:2.5,3+0.5*laplacian:1.5*gaussian:2",
	"polynomial:2,1+gaussian:2.5", "0.3*chi2:1+0.7*laplacian:4+0.2*arc-cosine:0,2",
}

// eachKernel runs f with every example of every family, and with composites.
func eachKernel(t *testing.T, f func(t *testing.T, k kernel.Kernel)) {
	for _, name := range composites {
		t.Run(name, func(t *testing.T) {
			k, err := kernel.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			f(t, k)
		})
	}
	for _, family := range kernel.All {
		if len(family.Examples) == 0 {
			t.Errorf("%s has no examples", family.Name)
		}
		for _, name := range family.Examples {
			t.Run(name, func(t *testing.T) {
				k, err := kernel.Parse(name)
				if err != nil {
					t.Fatal(err)
				}
				f(t, k)
			})
		}
	}
}

func rows(r *rand.Rand, n, dim int) []float32 {
	x := make([]float32, n*dim)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// inputs returns rows that are far from each other and rows that are near, in
// units of the kernel's scale.
func inputs(k kernel.Kernel, n, dim int) []float32 {
	x := rows(rand.New(rand.NewPCG(1, 2)), n, dim)
	unit := math.Sqrt(2 / float64(dim))
	if s, ok := k.(kernel.Scaled); ok {
		unit *= s.LengthScale()
	}
	_, positive := k.(kernel.Bounded)
	for i := range x {
		x[i] *= float32(math.Ldexp(unit, -(i / dim)))
		if positive {
			x[i] = float32(math.Abs(float64(x[i])))
		}
	}
	return x
}

// The mean over frequencies of cos cos + sin sin is the kernel: within four
// standard errors of 400,000 independent frequencies, and for orthogonal ones, of
// which there are fewer, with the bias that they have in few dimensions.
func TestFeaturesEstimateTheKernel(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		for _, sampling := range features.Samplings() {
			if sampling.CheckKernel(k) != nil {
				continue
			}
			n, dim, blocks, bias := 6, 5, 12_500, 1e-6 // of float32
			switch {
			case testing.Short():
				blocks /= 5
			case *draws == defaultDraws:
				blocks /= 2
			}
			if sampling.Check(dim) != nil {
				dim, blocks, bias = 64, 400, .5/64
			}
			b := features.NewBank(features.Map{Kernel: k, Dim: dim, Seed: 7, Sampling: sampling})
			if _, own := k.(kernel.Featured); own {
				b.Limit(1 << 20) // of which there are many more parameters
				blocks = *draws / features.DefaultBlockSize
			}
			b.Grow(blocks)
			worst := 0.0
			x, m := inputs(k, n, dim), blocks*b.Map().BlockSize
			phi := make([]float32, n*2*m)
			b.Features(phi, 0, x)
			for i := range n {
				for j := range i + 1 {
					sum, squares := 0.0, 0.0
					u, v := phi[i*2*m:(i+1)*2*m], phi[j*2*m:(j+1)*2*m]
					for l := 0; l < 2*m; l += 2 {
						e := float64(u[l])*float64(v[l]) + float64(u[l+1])*float64(v[l+1])
						sum, squares = sum+e, squares+e*e
					}
					got, want := sum/float64(m), k.Eval(doubles(x[i*dim:(i+1)*dim]), doubles(x[j*dim:(j+1)*dim]))
					deviation := math.Sqrt(max(0, squares/float64(m)-got*got))
					if j < i {
						worst = max(worst, math.Abs(got-want)/(deviation/math.Sqrt(float64(m))+bias/4))
					}
					if !(math.Abs(got-want) <= 4*deviation/math.Sqrt(float64(m))+bias) {
						t.Errorf("%v: %d frequencies estimate %v, want %v", sampling, m, got, want)
					}
				}
			}
			t.Logf("%v, %d random features: at most %.2f standard errors", sampling, m, worst)
		}
	})
}

func doubles(x []float32) []float64 {
	v := make([]float64, len(x))
	for i := range x {
		v[i] = float64(x[i])
	}
	return v
}

// A kernel is 1 at distance 0, symmetric, and depends on differences and, in
// units of its scale, on nothing else.
func TestKernelsAreShiftInvariant(t *testing.T) {
	const dim = 5
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		if _, own := k.(kernel.Featured); own {
			t.Skip("this is for kernels of differences")
		}
		x := inputs(k, 4, dim)
		for i := range 4 {
			for j := range 4 {
				u, v := doubles(x[i*dim:(i+1)*dim]), doubles(x[j*dim:(j+1)*dim])
				want := k.Eval(u, v)
				if i == j && want != 1 || k.Eval(v, u) != want {
					t.Errorf("k(x%d, x%d) = %v, and k(x%d, x%d) = %v", i, j, want, j, i, k.Eval(v, u))
				}
				moved, apart := make([]float64, dim), make([]float64, dim)
				squared := 0.0
				for l := range dim {
					apart[l] = u[l] - v[l]
					squared += apart[l] * apart[l]
				}
				if got := k.Eval(apart, moved); math.Abs(got-want) > 1e-12 {
					t.Errorf("k(x%d - x%d, 0) = %v, want %v", i, j, got, want)
				}
				s, ok := k.(kernel.Scaled)
				if !ok {
					continue
				}
				for l := range dim {
					u[l], v[l] = 3*u[l], 3*v[l]
				}
				if got := s.WithLengthScale(3*s.LengthScale()).Eval(u, v); math.Abs(got-want) > 1e-12 {
					t.Errorf("at three times the scale and the distance the kernel is %v, want %v", got, want)
				}
				if r, ok := k.(kernel.Radial); ok {
					got := []float64{squared}
					r.EvalSquared(got, got, s.LengthScale()*s.LengthScale())
					if math.Abs(got[0]-want) > 1e-12 {
						t.Errorf("at the squared distance %v the kernel is %v, want %v", squared, got[0], want)
					}
				}
			}
		}
	})
}

// The frequencies of a kernel and a seed are a format: what stands in
// testdata/frequencies may never change. -update adds the kernels that are not
// there yet.
func TestFrequenciesOfEveryKernelAreGolden(t *testing.T) {
	const path = "testdata/frequencies"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		name, values, _ := strings.Cut(lines.Text(), " ")
		golden[name] = values
	}
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		m := features.Map{Kernel: k, Dim: 3, BlockSize: 2, Seed: 42}
		w := make([]float32, 2*features.Parameters(k, 3))
		m.Frequencies(w, 1000)
		if _, own := k.(kernel.Featured); own { // the last parameters, and the features of a row
			b := features.NewBank(m)
			b.Grow(6)
			phi := make([]float32, 2*2)
			b.Features(phi, 5, []float32{0.5, 0, 2})
			w = append(w[max(0, len(w)-6):], phi...)
		}
		got := strings.Trim(fmt.Sprintf("%x", w), "[]")
		want, ok := golden[k.String()]
		switch {
		case !ok && *update:
			text = fmt.Appendf(text, "%s %s\n", k, got)
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Error(err)
			}
		case !ok:
			t.Errorf("%s has no line of %s: run this test with -update", k, path)
		case got != want:
			t.Errorf("frequencies %s, want %s", got, want)
		}
	})
}
