package features

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/features/kernel/random"
)

// curve returns rows on a curve with noise around it, so that some frequencies matter more
// than others.
func curve(r *rand.Rand, n, dim int) []float32 {
	x := make([]float32, n*dim)
	for i := range n {
		t := 2 * r.NormFloat64()
		for j := range dim {
			x[i*dim+j] = float32(2*math.Sin(t+float64(j)) + 0.1*r.NormFloat64())
		}
	}
	return x
}

func leveragedMap(t *testing.T, x []float32, dim int, lambda float64, seed uint64) Map {
	t.Helper()
	m := Map{Kernel: kernel.Gaussian{Scale: 1}, Dim: dim, BlockSize: 64, Seed: seed, Sampling: Leveraged}
	var err error
	if m.Leverage, err = NewLeverage(m.Kernel, x, dim, lambda); err != nil {
		t.Fatal(err)
	}
	return m
}

// kernelMatrix returns that of the rows of x.
func kernelMatrix(k kernel.Kernel, x []float32, dim int) *mat.SymDense {
	n := len(x) / dim
	z := make([]float64, len(x))
	for i, v := range x {
		z[i] = float64(v)
	}
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, k.Eval(z[i*dim:(i+1)*dim], z[j*dim:(j+1)*dim]))
		}
	}
	return a
}

// The scores are those of the definition, and their mean over the spectral density is the
// trace of K(K + λnI)⁻¹, within four standard errors.
func TestLeverageScoresAreThoseOfTheDefinition(t *testing.T) {
	const n, dim, lambda, draws = 60, 2, 1e-3, 4000
	x := curve(rand.New(rand.NewPCG(1, 1)), n, dim)
	m := leveragedMap(t, x, dim, lambda, 1)
	k := kernelMatrix(m.Kernel, x, dim)
	var a, inverse, product mat.Dense
	a.CloneFrom(k)
	for i := range n {
		a.Set(i, i, 1+lambda*n)
	}
	if err := inverse.Inverse(&a); err != nil {
		t.Fatal(err)
	}
	product.Mul(k, &inverse)
	w := make([]float32, draws*dim)
	m.Kernel.Sample(w, dim, random.New(7, 7))
	sum, squares := 0.0, 0.0
	c, s := make([]float64, n), make([]float64, n)
	for i := range draws {
		got, want := m.Leverage.score(w[i*dim:(i+1)*dim], c, s), 0.0
		sum += got
		squares += got * got
		if i >= 20 {
			continue
		}
		for _, f := range []func(float64) float64{math.Cos, math.Sin} {
			v := mat.NewVecDense(n, nil)
			for j := range n {
				v.SetVec(j, f(float64(w[i*dim])*float64(x[j*dim])+float64(w[i*dim+1])*float64(x[j*dim+1])))
			}
			want += mat.Inner(v, &inverse, v)
		}
		if math.Abs(got-want) > 1e-7*want {
			t.Errorf("frequency %d has the score %v, want %v", i, got, want)
		}
	}
	mean := sum / draws
	err := math.Sqrt((squares/draws - mean*mean) / draws)
	if want := mat.Trace(&product); math.Abs(mean-want) > 4*err {
		t.Errorf("the mean score is %v ± %v, the effective dimension %v", mean, err, want)
	}
}

// The weights undo the choice: the estimate has no bias.
func TestLeverageEstimatesAreUnbiased(t *testing.T) {
	const dim, seeds = 2, 500
	r := rand.New(rand.NewPCG(2, 2))
	x := curve(r, 40, dim)
	want := kernelMatrix(kernel.Gaussian{Scale: 1}, x[:3*dim], dim)
	sum, squares := [3]float64{}, [3]float64{}
	for seed := range uint64(seeds) {
		m := leveragedMap(t, x, dim, 1e-4, seed)
		m.BlockSize = 16
		b := NewBank(m)
		b.Grow(1)
		phi := make([]float32, 3*2*16)
		b.Features(phi, 0, x[:3*dim])
		for p, at := range [3][2]int{{0, 0}, {0, 1}, {1, 2}} {
			v := 0.0
			for l := range 32 {
				v += float64(phi[at[0]*32+l]) * float64(phi[at[1]*32+l]) / 16
			}
			sum[p] += v
			squares[p] += v * v
		}
	}
	for p, at := range [3][2]int{{0, 0}, {0, 1}, {1, 2}} {
		mean := sum[p] / seeds
		err := math.Sqrt((squares[p]/seeds - mean*mean) / seeds)
		if v := want.At(at[0], at[1]); at[0] != at[1] && math.Abs(mean-v) > 4*err || at[0] == at[1] && math.Abs(mean-1) > 4*err {
			t.Errorf("rows %v: the mean estimate is %v ± %v, the kernel %v", at, mean, err, v)
		}
	}
}

// Every method of Bank, and a selection, has the same weights: those of Features.
func TestLeverageWeightsAreThoseOfEveryMethod(t *testing.T) {
	for _, limit := range []int{0, 200, 1} { // of the memory for frequencies, in bytes
		testLeverageWeights(t, limit)
	}
}

func testLeverageWeights(t *testing.T, limit int) {
	t.Helper()
	const dim, blocks, scores, n = 3, 3, 2, 37
	r := rand.New(rand.NewPCG(3, 3))
	x := curve(r, n, dim)
	m := leveragedMap(t, x, dim, 1e-3, 5)
	m.BlockSize = 20
	b, size := NewBank(m), 2*blocks*m.BlockSize
	if limit > 0 {
		b.Limit(limit)
	}
	b.Grow(1)
	b.Grow(blocks)
	for i := range blocks {
		if got := b.weights[i*m.BlockSize : (i+1)*m.BlockSize]; !slices.Equal(got, m.Weights(i)) {
			t.Errorf("block %d: weights %v", i, got)
		}
	}
	phi := make([]float32, n*size)
	b.Features(phi, 0, x)
	coef, g := make([]float32, size*scores), make([]float64, n*scores)
	for i := range coef {
		coef[i] = float32(r.NormFloat64())
	}
	for i := range g {
		g[i] = r.NormFloat64()
	}
	selected, kept := make([]bool, size/2), []float32(nil)
	for i := range selected {
		if selected[i] = i%3 > 0; selected[i] {
			kept = append(kept, coef[2*i*scores:2*(i+1)*scores]...)
		}
	}
	all, some, part := make([]float64, n*scores), make([]float64, n*scores), make([]float64, n*scores)
	b.Sum(all, x, coef, scores)
	NewSelection(m, selected).Sum(some, x, kept, scores)
	per := 2 * m.BlockSize * scores
	b.SumBlocks(part, 1, x, coef[per:], scores)
	slope := make([]float64, 2*per)
	b.Gradient(slope, 1, x, g, scores)
	for i := range n {
		for c := range scores {
			var want [3]float64
			for f := range size {
				v := float64(phi[i*size+f]) * float64(coef[f*scores+c])
				want[0] += v
				if selected[f/2] {
					want[1] += v
				}
				if f >= 2*m.BlockSize {
					want[2] += v
				}
			}
			for k, got := range [3]float64{all[i*scores+c], some[i*scores+c], part[i*scores+c]} {
				if math.Abs(got-want[k]) > 2e-4 {
					t.Errorf("row %d, score %d, sum %d: %v, want %v", i, c, k, got, want[k])
				}
			}
		}
	}
	for f := range 4 * m.BlockSize {
		want := 0.0
		for i := range n {
			want += float64(phi[i*size+2*m.BlockSize+f]) * g[i*scores]
		}
		if got := slope[f*scores]; math.Abs(got-want) > 1e-4 {
			t.Errorf("gradient %d is %v, want %v", f, got, want)
		}
	}
	weights := m.Weights(1)
	for f, w := range weights {
		if got := math.Hypot(float64(phi[2*(m.BlockSize+f)]), float64(phi[2*(m.BlockSize+f)+1])); math.Abs(got-float64(w)) > 1e-5 || w > math.Sqrt2 {
			t.Errorf("feature %d has the norm %v, weight %v", f, got, w)
		}
	}
}

// Frequencies with leverage approximate the regression better than independent ones, by
// the largest error of the matrix relative to K + λnI: the bound on which the error of the
// regression depends (Avron et al. 2017, definition 2). docs/algorithms.md has the figures
// that this test prints.
func TestLeverageApproximatesRidgeBetter(t *testing.T) {
	const dim, seeds = 2, 4
	n, sizes := 128, []int{2, 8}
	if testing.Short() {
		sizes = sizes[:1]
	}
	x := curve(rand.New(rand.NewPCG(4, 4)), n, dim)
	for _, lambda := range []float64{1e-2, 1e-4} {
		m := leveragedMap(t, x[:LeverageRows*dim], dim, lambda, 0)
		k := kernelMatrix(m.Kernel, x, dim)
		var e mat.EigenSym
		if !e.Factorize(k, true) {
			t.Fatal("no eigenvalues")
		}
		var q mat.Dense
		e.VectorsTo(&q)
		white := mat.NewDense(n, n, nil) // (K + λnI)^-1/2 up to a rotation
		for i, v := range e.Values(nil) {
			for j := range n {
				white.Set(i, j, q.At(j, i)/math.Sqrt(max(0, v)+lambda*float64(n)))
			}
		}
		for _, blocks := range sizes {
			var off, near [2]float64 // of the regression, and of the kernel
			for seed := range uint64(seeds) {
				for s, sampling := range []Sampling{IID, Leveraged} {
					of := m
					if of.Seed, of.Sampling = seed, sampling; sampling == IID {
						of.Leverage = nil
					}
					b := NewBank(of)
					b.Grow(blocks)
					size := 2 * blocks * of.BlockSize
					phi := make([]float32, n*size)
					b.Features(phi, 0, x)
					z := mat.NewDense(n, size, nil)
					for i, v := range phi {
						z.Set(i/size, i%size, float64(v)/math.Sqrt(float64(size/2)))
					}
					var d, half, whole mat.Dense
					d.Mul(z, z.T())
					d.Sub(&d, k)
					near[s] += math.Pow(mat.Norm(&d, 2), 2)
					half.Mul(white, &d)
					whole.Mul(&half, white.T())
					off[s] += mat.Norm(&whole, 2) / seeds // Frobenius, above the spectral norm
				}
			}
			t.Logf("λ %v, %d frequencies: error of the regression %.3f, of iid %.3f; squared error of the kernel relative to iid %.2f", lambda, 64*blocks, off[1], off[0], near[1]/near[0])
			if off[1] > off[0] {
				t.Errorf("λ %v, %d frequencies: the error is %v, of iid %v", lambda, 64*blocks, off[1], off[0])
			}
		}
	}
}

func TestBadLeverageIsRefused(t *testing.T) {
	k := kernel.Gaussian{Scale: 1}
	for _, bad := range []struct {
		x      []float32
		dim    int
		lambda float64
	}{{nil, 1, 1}, {[]float32{1, 2, 3}, 2, 1}, {[]float32{1}, 0, 1}, {[]float32{1}, 1, 0}, {[]float32{1}, 1, 2}, {[]float32{float32(math.NaN())}, 1, 1}, {[]float32{1}, 1, math.NaN()}} {
		if _, err := NewLeverage(k, bad.x, bad.dim, bad.lambda); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
