package features

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
)

func rows(r *rand.Rand, n, dim int) []float32 {
	x := make([]float32, n*dim)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// The features are the cosines and sines of the products with Frequencies.
func TestFeaturesAreOfTheFrequencies(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, sampling := range Samplings() {
		for _, dim := range []int{1, 3, 64, 70} {
			const n, blocks = 5, 4
			m := Map{Kernel: kernel.Gaussian{Scale: 2}, Dim: dim, BlockSize: 20, Seed: 3, Sampling: sampling}
			b := NewBank(m)
			b.Grow(blocks)
			x, phi, w := rows(r, n, dim), make([]float32, n*2*m.BlockSize), make([]float32, m.BlockSize*dim)
			for block := range blocks {
				b.Features(phi, block, x)
				m.Frequencies(w, block)
				for i := range n {
					for j := range m.BlockSize {
						phase := 0.0
						for l := range dim {
							phase += float64(w[j*dim+l]) * float64(x[i*dim+l])
						}
						sin, cos := math.Sincos(phase)
						got := phi[i*2*m.BlockSize+2*j:]
						if math.Abs(float64(got[0])-cos) > 2e-5 || math.Abs(float64(got[1])-sin) > 2e-5 {
							t.Fatalf("%v, dim %d: features %v of frequency %d of block %d, want %v and %v", sampling, dim, got[:2], j, block, cos, sin)
						}
					}
				}
			}
		}
	}
}

// plain returns the sums and the gradient, computed from the features in float64.
func plain(b *Bank, x, coef []float32, g []float64, scores int) (sum, gradient []float64) {
	n, m := len(x)/b.m.Dim, b.Blocks()*b.m.BlockSize
	phi := make([]float32, n*2*m)
	b.Features(phi, 0, x)
	sum, gradient = make([]float64, n*scores), make([]float64, 2*m*scores)
	for i := range n {
		for j := range 2 * m {
			v := float64(phi[i*2*m+j])
			for c := range scores {
				sum[i*scores+c] += v * float64(coef[j*scores+c])
				gradient[j*scores+c] += v * g[i*scores+c]
			}
		}
	}
	return sum, gradient
}

func TestSumAndGradientAgreeWithFeatures(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		dim, blockSize, blocks, rows, scores int
		sampling                             Sampling
	}{
		{3, 32, 5, 70, 1, IID}, {1, 5, 7, 1, 3, IID}, {20, 32, 8, 600, 2, IID}, {7, 12, 1, 33, 11, IID}, {2, 50, 3, 5, 1, IID},
		{3, 32, 5, 70, 1, SORF}, {1, 5, 7, 1, 3, SORF}, {70, 32, 8, 600, 2, SORF}, {100, 128, 3, 33, 1, SORF}, {64, 32, 14, 5, 1, SORF},
		{1, 32, 52, 33, 250, SORF},
	} {
		b := NewBank(Map{Kernel: kernel.Gaussian{Scale: math.Sqrt(float64(c.dim))}, Dim: c.dim, BlockSize: c.blockSize, Seed: 1, Sampling: c.sampling})
		for b.Blocks() < c.blocks {
			b.Grow(b.Blocks() + 1)
		}
		whole := NewBank(b.Map())
		whole.Grow(c.blocks)
		if !slices.Equal(whole.w, b.w) || !slices.Equal(whole.words, b.words) {
			t.Errorf("%v: a bank that grew block by block differs from one that grew at once", c)
		}
		x := rows(r, c.rows, c.dim)
		m := c.blocks * c.blockSize
		coef := rows(r, 2*m, c.scores)
		g := make([]float64, c.rows*c.scores)
		for i := range g {
			g[i] = r.NormFloat64()
		}
		sum, gradient := plain(b, x, coef, g, c.scores)
		got := make([]float64, len(sum))
		b.Sum(got, x, coef, c.scores)
		near(t, fmt.Sprint(c, " sum"), got, sum)
		grad := make([]float64, len(gradient))
		b.Gradient(grad, 0, x, g, c.scores)
		near(t, fmt.Sprint(c, " gradient"), grad, gradient)

		one := make([]float64, c.scores)
		for i := range c.rows {
			b.Sum(one, x[i*c.dim:(i+1)*c.dim], coef, c.scores)
			if !slices.Equal(one, got[i*c.scores:(i+1)*c.scores]) {
				t.Fatalf("%v: the sum of row %d depends on the rows beside it", c, i)
			}
		}
		size := 2 * c.blockSize * c.scores
		for i := range c.blocks {
			part := make([]float64, size)
			b.Gradient(part, i, x, g, c.scores)
			if !slices.Equal(part, grad[i*size:(i+1)*size]) {
				t.Errorf("%v: the gradient of block %d depends on the blocks beside it", c, i)
			}
		}
		phi := make([]float32, 2*c.blockSize*c.rows)
		all := make([]float32, 2*m*c.rows)
		b.Features(phi, c.blocks-1, x)
		b.Features(all, 0, x)
		for i := range c.rows {
			if !slices.Equal(phi[2*c.blockSize*i:2*c.blockSize*(i+1)], all[2*m*(i+1)-2*c.blockSize:2*m*(i+1)]) {
				t.Errorf("%v: the features of the last block depend on the blocks before it", c)
			}
		}
	}
}

// A million frequencies add up as in float64, with the same frequencies, inputs
// and coefficients. The test takes a second.
func TestSumsOfManyFeaturesAreAccurate(t *testing.T) {
	if testing.Short() {
		t.Skip("a million frequencies")
	}
	const dim, n, blocks = 10, 6, 31250
	b := NewBank(Map{Kernel: kernel.Gaussian{Scale: math.Sqrt(dim)}, Dim: dim, Seed: 5})
	b.Limit(0)
	b.Grow(blocks)
	r := rand.New(rand.NewPCG(11, 12))
	x, coef := rows(r, n, dim), rows(r, 2*blocks*DefaultBlockSize, 1)
	got, want := make([]float64, n), make([]float64, n)
	b.Sum(got, x, coef, 1)
	w := make([]float32, DefaultBlockSize*dim)
	for block := range blocks {
		b.Map().Frequencies(w, block)
		for j := range DefaultBlockSize {
			a := coef[2*(block*DefaultBlockSize+j):]
			for i := range n {
				phase := 0.0
				for k := range dim {
					phase += float64(w[j*dim+k]) * float64(x[i*dim+k])
				}
				sin, cos := math.Sincos(phase)
				want[i] += float64(a[0])*cos + float64(a[1])*sin
			}
		}
	}
	var off, norm float64
	for i, v := range want {
		off += (got[i] - v) * (got[i] - v)
		norm += v * v
	}
	t.Logf("relative error, root mean square: %.2g", math.Sqrt(off/norm))
	if !(off <= 2e-6*2e-6*norm) {
		t.Errorf("the relative error is %.2g, root mean square", math.Sqrt(off/norm))
	}
}

// Frequencies that are generated again in each call are those that are stored.
func TestLimitChangesNoBits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, c := range []struct{ dim, blockSize, blocks, limit int }{
		{600, 32, 160, 0}, {600, 32, 160, 3 << 20}, {3, 7, 100, 0}, {3, 7, 100, 9 * 12 * 3 * 4}, {1, 12, 100, 95 * 12 * 4}, {50, 100, 3, 40000},
	} {
		if testing.Short() && c.dim > 100 {
			continue // megabytes
		}
		m := Map{Kernel: kernel.Gaussian{Scale: 5}, Dim: c.dim, BlockSize: c.blockSize, Seed: 1}
		whole, part := NewBank(m), NewBank(m)
		part.Limit(c.limit)
		whole.Grow(c.blocks)
		for i := range c.blocks {
			part.Grow(i + 1)
		}
		if 4*len(part.w) > c.limit {
			t.Fatalf("%v: %d bytes are stored", c, 4*len(part.w))
		}
		const n, scores = 40, 2
		f := 2 * c.blockSize * c.blocks
		x, coef := rows(r, n, c.dim), rows(r, f, scores)
		g := make([]float64, n*scores)
		for i := range g {
			g[i] = r.NormFloat64()
		}
		var sum [2][]float64
		var gradient [2][]float64
		var phi [2][]float32
		for i, b := range []*Bank{whole, part} {
			sum[i], gradient[i], phi[i] = make([]float64, n*scores), make([]float64, (f-2*c.blockSize)*scores), make([]float32, n*(f-2*c.blockSize))
			b.Sum(sum[i], x, coef, scores)
			b.Gradient(gradient[i], 1, x, g, scores)
			b.Features(phi[i], 1, x)
			part := make([]float64, n*scores)
			b.SumBlocks(part, 1, x, coef[2*c.blockSize*scores:], scores)
			sum[i] = append(sum[i], part...)
		}
		if !slices.Equal(sum[0], sum[1]) || !slices.Equal(gradient[0], gradient[1]) || !slices.Equal(phi[0], phi[1]) {
			t.Errorf("%v: the results depend on the limit", c)
		}
	}
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	norm := 0.0
	for _, v := range want {
		norm = max(norm, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 3e-6*norm) {
			t.Errorf("%s: number %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

func TestResultsDoNotDependOnTheNumberOfCores(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const dim, scores, blocks = 30, 2, 24
	n := 1000
	if testing.Short() {
		n = 300
	}
	x := rows(r, n, dim)
	var coef []float32
	g := make([]float64, n*scores)
	for i := range g {
		g[i] = r.NormFloat64()
	}
	var wantSum, wantGradient []float64
	for i, procs := range []int{1, 2, 8} {
		old := runtime.GOMAXPROCS(procs)
		b := NewBank(Map{Kernel: kernel.Gaussian{Scale: 4}, Dim: dim, Seed: 3})
		b.Grow(blocks)
		m := 2 * blocks * b.Map().BlockSize
		if coef == nil {
			coef = rows(r, m, scores)
		}
		sum, gradient := make([]float64, n*scores), make([]float64, m*scores)
		b.Sum(sum, x, coef, scores)
		b.Gradient(gradient, 0, x, g, scores)
		runtime.GOMAXPROCS(old)
		if i == 0 {
			wantSum, wantGradient = sum, gradient
		}
		if !slices.Equal(sum, wantSum) || !slices.Equal(gradient, wantGradient) {
			t.Errorf("%d cores give other bits than one", procs)
		}
	}
}

func TestCallsDoNotAllocate(t *testing.T) {
	b := NewBank(Map{Kernel: kernel.Gaussian{Scale: 4}, Dim: 10, Seed: 3})
	b.Grow(4)
	m := 2 * 4 * b.Map().BlockSize
	const n = 128
	x := rows(rand.New(rand.NewPCG(5, 6)), n, 10)
	coef, sum, g, gradient, phi := make([]float32, m), make([]float64, n), make([]float64, n), make([]float64, m), make([]float32, n*m)
	for name, f := range map[string]func(){
		"Sum":      func() { b.Sum(sum, x, coef, 1) },
		"Gradient": func() { b.Gradient(gradient, 0, x, g, 1) },
		"Features": func() { b.Features(phi, 0, x) },
	} {
		if a := testing.AllocsPerRun(10, f); a > 0 {
			t.Errorf("%s allocates %v times a call", name, a)
		}
	}
}

// TestSumBlocksAddUpToSum: the sums of the blocks, one by one and in pairs, are
// those of all features but for rounding.
func TestSumBlocksAddUpToSum(t *testing.T) {
	for _, blockSize := range []int{1, 7, 12, 32, 64} {
		const dim, rows, scores, blocks = 5, 71, 3, 4
		b := NewBank(Map{Kernel: kernel.Gaussian{Scale: 2}, Dim: dim, BlockSize: blockSize, Seed: 3})
		b.Grow(blocks + 1)
		x, coef := make([]float32, rows*dim), make([]float32, 2*blocks*blockSize*scores)
		for i := range x {
			x[i] = float32(math.Sin(float64(i)))
		}
		for i := range coef {
			coef[i] = float32(math.Cos(float64(3 * i)))
		}
		want := make([]float64, rows*scores)
		b.Sum(want, x, coef, scores)
		for _, per := range []int{1, 2} {
			got, part := make([]float64, rows*scores), make([]float64, rows*scores)
			size := 2 * blockSize * scores
			for block := 0; block < blocks; block += per {
				b.SumBlocks(part, block, x, coef[block*size:(block+per)*size], scores)
				for i, v := range part {
					got[i] += v
				}
			}
			for i := range got {
				if math.Abs(got[i]-want[i]) > 1e-4 {
					t.Fatalf("block size %d, %d blocks at a time: sum %d is %v, want %v", blockSize, per, i, got[i], want[i])
				}
			}
		}
	}
}
