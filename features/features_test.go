package features

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

func rows(r *rand.Rand, n, dim int) []float32 {
	x := make([]float32, n*dim)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func TestParseSamplingReadsWhatStringWrites(t *testing.T) {
	for _, s := range Samplings() {
		if got, err := ParseSampling(s.String()); err != nil || got != s || !s.Valid() || s.Help() == "" {
			t.Errorf("ParseSampling(%q) = %v, %v", s.String(), got, err)
		}
	}
	if _, err := ParseSampling("SORF"); err == nil || err.Error() != `no sampling is named "SORF": want iid or sorf; did you mean "sorf"?` {
		t.Errorf("ParseSampling(SORF): %v", err)
	}
	if Sampling(-1).Valid() || Sampling(len(samplings)).Valid() {
		t.Error("a number without a sampling is valid")
	}
}

// With a second kernel the features estimate the mean of two, and the first's
// frequencies are as they were.
func TestTwoKernelsAreTheirMean(t *testing.T) {
	const blocks, n, dim = 600, 10, 4
	k := Gaussian{Scale: 1.5}
	second := []float32{2, 0.25, 1, 0}
	one := Map{Kernel: k, Dim: dim, Width: 5, Seed: 7}
	two := one
	two.Second = second
	b := NewBank(two)
	b.Grow(blocks)
	x := rows(rand.New(rand.NewPCG(3, 4)), n, dim)
	m := blocks * two.Width
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
			bank := NewBank(Map{Kernel: k, Dim: dim, Width: dim, Seed: seed, Sampling: Sampling(sampling)})
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

// The features are the cosines and sines of the products with Frequencies.
func TestFeaturesAreOfTheFrequencies(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, sampling := range []Sampling{IID, SORF} {
		for _, dim := range []int{1, 3, 64, 70} {
			const n, blocks = 5, 4
			m := Map{Kernel: Gaussian{Scale: 2}, Dim: dim, Width: 20, Seed: 3, Sampling: sampling}
			b := NewBank(m)
			b.Grow(blocks)
			x, phi, w := rows(r, n, dim), make([]float32, n*2*m.Width), make([]float32, m.Width*dim)
			for block := range blocks {
				b.Features(phi, block, x)
				m.Frequencies(w, block)
				for i := range n {
					for j := range m.Width {
						phase := 0.0
						for l := range dim {
							phase += float64(w[j*dim+l]) * float64(x[i*dim+l])
						}
						sin, cos := math.Sincos(phase)
						got := phi[i*2*m.Width+2*j:]
						if math.Abs(float64(got[0])-cos) > 2e-5 || math.Abs(float64(got[1])-sin) > 2e-5 {
							t.Fatalf("%v, dim %d: features %v of frequency %d of block %d, want %v and %v", sampling, dim, got[:2], j, block, cos, sin)
						}
					}
				}
			}
		}
	}
}

// The frequencies of a seed are a format: these values may never change.
func TestFrequenciesAreGolden(t *testing.T) {
	m := Map{Kernel: Gaussian{Scale: 2.5}, Dim: 3, Width: 2, Seed: 42}
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

// plain has the sums and the gradient from the features, in float64.
func plain(b *Bank, x, coef []float32, g []float64, outputs int) (sum, gradient []float64) {
	n, m := len(x)/b.m.Dim, b.Blocks()*b.m.Width
	phi := make([]float32, n*2*m)
	b.Features(phi, 0, x)
	sum, gradient = make([]float64, n*outputs), make([]float64, 2*m*outputs)
	for i := range n {
		for j := range 2 * m {
			v := float64(phi[i*2*m+j])
			for c := range outputs {
				sum[i*outputs+c] += v * float64(coef[j*outputs+c])
				gradient[j*outputs+c] += v * g[i*outputs+c]
			}
		}
	}
	return sum, gradient
}

func TestSumAndGradientAgreeWithFeatures(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		dim, width, blocks, rows, outputs int
		sampling                          Sampling
	}{
		{3, 32, 5, 70, 1, IID}, {1, 5, 7, 1, 3, IID}, {20, 32, 8, 600, 2, IID}, {7, 12, 1, 33, 11, IID}, {2, 50, 3, 5, 1, IID},
		{3, 32, 5, 70, 1, SORF}, {1, 5, 7, 1, 3, SORF}, {70, 32, 8, 600, 2, SORF}, {100, 128, 3, 33, 1, SORF}, {64, 32, 14, 5, 1, SORF},
		{1, 32, 52, 33, 250, SORF},
	} {
		b := NewBank(Map{Kernel: Gaussian{Scale: math.Sqrt(float64(c.dim))}, Dim: c.dim, Width: c.width, Seed: 1, Sampling: c.sampling})
		for b.Blocks() < c.blocks {
			b.Grow(b.Blocks() + 1)
		}
		whole := NewBank(b.Map())
		whole.Grow(c.blocks)
		if !slices.Equal(whole.w, b.w) || !slices.Equal(whole.signs, b.signs) {
			t.Errorf("%v: a bank that grew block by block differs from one that grew at once", c)
		}
		x := rows(r, c.rows, c.dim)
		m := c.blocks * c.width
		coef := rows(r, 2*m, c.outputs)
		g := make([]float64, c.rows*c.outputs)
		for i := range g {
			g[i] = r.NormFloat64()
		}
		sum, gradient := plain(b, x, coef, g, c.outputs)
		got := make([]float64, len(sum))
		b.Sum(got, x, coef, c.outputs)
		near(t, fmt.Sprint(c, " sum"), got, sum)
		grad := make([]float64, len(gradient))
		b.Gradient(grad, 0, x, g, c.outputs)
		near(t, fmt.Sprint(c, " gradient"), grad, gradient)

		one := make([]float64, c.outputs)
		for i := range c.rows {
			b.Sum(one, x[i*c.dim:(i+1)*c.dim], coef, c.outputs)
			if !slices.Equal(one, got[i*c.outputs:(i+1)*c.outputs]) {
				t.Fatalf("%v: the sum of row %d depends on the rows beside it", c, i)
			}
		}
		size := 2 * c.width * c.outputs
		for i := range c.blocks {
			part := make([]float64, size)
			b.Gradient(part, i, x, g, c.outputs)
			if !slices.Equal(part, grad[i*size:(i+1)*size]) {
				t.Errorf("%v: the gradient of block %d depends on the blocks beside it", c, i)
			}
		}
		phi := make([]float32, 2*c.width*c.rows)
		all := make([]float32, 2*m*c.rows)
		b.Features(phi, c.blocks-1, x)
		b.Features(all, 0, x)
		for i := range c.rows {
			if !slices.Equal(phi[2*c.width*i:2*c.width*(i+1)], all[2*m*(i+1)-2*c.width:2*m*(i+1)]) {
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
	b := NewBank(Map{Kernel: Gaussian{Scale: math.Sqrt(dim)}, Dim: dim, Seed: 5})
	b.Limit(0)
	b.Grow(blocks)
	r := rand.New(rand.NewPCG(11, 12))
	x, coef := rows(r, n, dim), rows(r, 2*blocks*DefaultWidth, 1)
	got, want := make([]float64, n), make([]float64, n)
	b.Sum(got, x, coef, 1)
	w := make([]float32, DefaultWidth*dim)
	for block := range blocks {
		b.Map().Frequencies(w, block)
		for j := range DefaultWidth {
			a := coef[2*(block*DefaultWidth+j):]
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

// Frequencies that are made again for each call are those that are kept.
func TestLimitChangesNoBits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, c := range []struct{ dim, width, blocks, limit int }{
		{600, 32, 160, 0}, {600, 32, 160, 3 << 20}, {3, 7, 100, 0}, {3, 7, 100, 9 * 12 * 3 * 4}, {1, 12, 100, 95 * 12 * 4}, {50, 100, 3, 40000},
	} {
		if testing.Short() && c.dim > 100 {
			continue // megabytes
		}
		m := Map{Kernel: Gaussian{Scale: 5}, Dim: c.dim, Width: c.width, Seed: 1}
		whole, part := NewBank(m), NewBank(m)
		part.Limit(c.limit)
		whole.Grow(c.blocks)
		for i := range c.blocks {
			part.Grow(i + 1)
		}
		if 4*len(part.w) > c.limit {
			t.Fatalf("%v: %d bytes are kept", c, 4*len(part.w))
		}
		const n, outputs = 40, 2
		f := 2 * c.width * c.blocks
		x, coef := rows(r, n, c.dim), rows(r, f, outputs)
		g := make([]float64, n*outputs)
		for i := range g {
			g[i] = r.NormFloat64()
		}
		var sum [2][]float64
		var gradient [2][]float64
		var phi [2][]float32
		for i, b := range []*Bank{whole, part} {
			sum[i], gradient[i], phi[i] = make([]float64, n*outputs), make([]float64, (f-2*c.width)*outputs), make([]float32, n*(f-2*c.width))
			b.Sum(sum[i], x, coef, outputs)
			b.Gradient(gradient[i], 1, x, g, outputs)
			b.Features(phi[i], 1, x)
			part := make([]float64, n*outputs)
			b.SumBlocks(part, 1, x, coef[2*c.width*outputs:], outputs)
			sum[i] = append(sum[i], part...)
		}
		if !slices.Equal(sum[0], sum[1]) || !slices.Equal(gradient[0], gradient[1]) || !slices.Equal(phi[0], phi[1]) {
			t.Errorf("%v: other bits", c)
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
	const dim, outputs, blocks = 30, 2, 24
	n := 1000
	if testing.Short() {
		n = 300
	}
	x := rows(r, n, dim)
	var coef []float32
	g := make([]float64, n*outputs)
	for i := range g {
		g[i] = r.NormFloat64()
	}
	var wantSum, wantGradient []float64
	for i, procs := range []int{1, 2, 8} {
		old := runtime.GOMAXPROCS(procs)
		b := NewBank(Map{Kernel: Gaussian{Scale: 4}, Dim: dim, Seed: 3})
		b.Grow(blocks)
		m := 2 * blocks * b.Map().Width
		if coef == nil {
			coef = rows(r, m, outputs)
		}
		sum, gradient := make([]float64, n*outputs), make([]float64, m*outputs)
		b.Sum(sum, x, coef, outputs)
		b.Gradient(gradient, 0, x, g, outputs)
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
	b := NewBank(Map{Kernel: Gaussian{Scale: 4}, Dim: 10, Seed: 3})
	b.Grow(4)
	m := 2 * 4 * b.Map().Width
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
