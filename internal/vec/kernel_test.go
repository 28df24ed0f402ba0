package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(r *rand.Rand, n int, scale float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(scale * r.NormFloat64())
	}
	return v
}

// problem is one input of the kernels, plain and packed.
type problem struct {
	dim, rows, m, scores int
	x, w, coef           []float32
	g                    []float64
	px, pw, pc, pg       []float32
}

func newProblem(r *rand.Rand, dim, rows, m, scores int) *problem {
	p := &problem{dim: dim, rows: rows, m: m, scores: scores}
	p.x, p.w = random(r, rows*dim, 1), random(r, m*dim, 3/math.Sqrt(float64(dim)))
	p.coef = random(r, 2*m*scores, 1/math.Sqrt(float64(m)))
	p.g = make([]float64, rows*scores)
	for i := range p.g {
		p.g[i] = r.NormFloat64()
	}
	p.pack()
	return p
}

func (p *problem) pack() {
	np, mp := Panels(p.rows, Lanes)*Lanes, Panels(p.m, Panel)*Panel
	p.px, p.pw = make([]float32, np*p.dim), make([]float32, mp*p.dim)
	p.pc, p.pg = make([]float32, 2*mp*p.scores), make([]float32, np*p.scores)
	PackRows(p.px, p.x, p.dim)
	PackFrequencies(p.pw, p.w, 0, p.dim)
	PackCoefficients(p.pc, p.coef, p.scores)
	PackFactors(p.pg, p.g, p.scores)
}

func (p *problem) sum(s *Scratch) []float64 {
	out := make([]float64, p.rows*p.scores)
	dst := make([]float64, p.scores*Lanes)
	for i := 0; i < p.rows; i += Lanes {
		clear(dst)
		n := min(Lanes, p.rows-i)
		Sum(dst, p.px[i*p.dim:(i+Lanes)*p.dim], p.pw, p.pc, p.dim, p.scores, n, s)
		for l := range n {
			for c := range p.scores {
				out[(i+l)*p.scores+c] = dst[c*Lanes+l]
			}
		}
	}
	return out
}

func (p *problem) gradient(s *Scratch) []float64 {
	out := make([]float64, 2*p.m*p.scores)
	acc := make([]float32, ChainsLen(len(p.pw)/p.dim, p.scores))
	for i := 0; i < p.rows; i += Run {
		clear(acc)
		for l := i; l < min(i+Run, p.rows); l += Lanes {
			Gradient(acc, p.px[l*p.dim:(l+Lanes)*p.dim], p.pw, p.pg[l*p.scores:(l+Lanes)*p.scores], p.dim, p.scores, s)
		}
		AddChains(out, acc, 0, p.scores)
	}
	return out
}

// feature is the definition of package doc, word for word.
func (p *problem) feature(row, j int) (cos, sin float32) {
	t := float32(0)
	for k := range p.dim {
		t = FMA(clamp(p.w[j*p.dim+k]*halfTurn), clamp(p.x[row*p.dim+k]), t)
	}
	n := math.RoundToEven(float64(t))
	r := t - float32(n)
	s := float32(r * r)
	cos, sin = cosine[4], sine[4]
	for k := 3; k >= 0; k-- {
		cos, sin = FMA(cos, s, cosine[k]), FMA(sin, s, sine[k])
	}
	sin = float32(sin * r)
	if math.Mod(n, 2) != 0 {
		return -cos, -sin
	}
	return cos, sin
}

func (p *problem) sumByDefinition() []float64 {
	out := make([]float64, p.rows*p.scores)
	for i := range p.rows {
		for c := range p.scores {
			for j := 0; j < p.m; j += Group {
				var a, b float32
				for q := j; q < min(j+Group, p.m); q++ {
					cos, sin := p.feature(i, q)
					a = FMA(p.coef[2*q*p.scores+c], cos, a)
					b = FMA(p.coef[(2*q+1)*p.scores+c], sin, b)
				}
				out[i*p.scores+c] += float64(a) + float64(b)
			}
		}
	}
	return out
}

func (p *problem) gradientByDefinition() []float64 {
	out := make([]float64, 2*p.m*p.scores)
	for j := range p.m {
		for c := range p.scores {
			for i := 0; i < p.rows; i += Run {
				var a, b [16]float32
				for l := i; l < min(i+Run, p.rows); l++ {
					cos, sin := p.feature(l, j)
					g := float32(p.g[l*p.scores+c])
					a[l%16], b[l%16] = FMA(cos, g, a[l%16]), FMA(sin, g, b[l%16])
				}
				for h, v := range [][16]float32{a, b} {
					var w [16]float64
					for l := range v {
						w[l] = float64(v[l])
					}
					for n := 8; n > 0; n /= 2 {
						for l := range n {
							w[l] += w[l+n]
						}
					}
					out[(2*j+h)*p.scores+c] += w[0]
				}
			}
		}
	}
	return out
}

// eachISA runs f with every implementation, the definition last, and restores
// the one in use.
func eachISA(f func(name string)) {
	old := active
	defer func() { active = old }()
	for _, i := range available {
		active = i
		f(i.name)
	}
}

func TestKernelsAreTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var s Scratch
	for _, shape := range [][4]int{{1, 1, 1, 1}, {2, 3, 12, 1}, {7, 33, 13, 3}, {10, 65, 97, 2}, {54, 300, 32, 1}, {3, 31, 200, 40}, {123, 5, 24, 1}} {
		p := newProblem(r, shape[0], shape[1], shape[2], shape[3])
		sum, gradient := p.sumByDefinition(), p.gradientByDefinition()
		eachISA(func(name string) {
			if !slices.Equal(p.sum(&s), sum) {
				t.Errorf("%s: sum of dim, rows, frequencies, scores %v is not what the definition says", name, shape)
			}
			if !slices.Equal(p.gradient(&s), gradient) {
				t.Errorf("%s: gradient of dim, rows, frequencies, scores %v is not what the definition says", name, shape)
			}
		})
	}
}

// The bits of a sum and of a gradient are a format: these values may never change.
func TestKernelsAreGolden(t *testing.T) {
	n := NewNormals(Key("golden", 5, 6))
	p := &problem{dim: 11, rows: 300, m: 130, scores: 2}
	draw := func(k int) []float32 {
		v := make([]float32, k)
		n.Fill(v)
		return v
	}
	p.x, p.w, p.coef = draw(p.rows*p.dim), draw(p.m*p.dim), draw(2*p.m*p.scores)
	for _, v := range draw(p.rows * p.scores) {
		p.g = append(p.g, float64(v))
	}
	p.pack()
	var s Scratch
	eachISA(func(name string) {
		if got, want := digest64(p.sum(&s)), uint64(0x340d7f5ab92025d4); got != want {
			t.Errorf("%s: the sum has the digest %#x, want %#x", name, got, want)
		}
		if got, want := digest64(p.gradient(&s)), uint64(0x606f8bcecf27015a); got != want {
			t.Errorf("%s: the gradient has the digest %#x, want %#x", name, got, want)
		}
	})
}

func TestFeaturesAreAccurate(t *testing.T) {
	worst := 0.0
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 1 << 18 {
		v := float64(float32(r.Float64()*2 - 1))
		if i%4 == 0 {
			v = float64(float32(r.NormFloat64() * 1000))
		}
		var c, s [4]float32
		cosSin(&c, &s, &[4]float64{v})
		sin, cos := math.Sincos(math.Pi * (v - 2*math.RoundToEven(v/2)))
		worst = max(worst, math.Abs(cos-float64(c[0])), math.Abs(sin-float64(s[0])))
	}
	t.Logf("a feature is off by up to %.2e", worst)
	if worst > 2e-7 {
		t.Errorf("a feature is off by up to %.2e", worst)
	}
}

// Whatever the input, features and sums are numbers.
func TestAnyInputGivesNumbers(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, x := range []float32{0, 1e-45, 1e-38, -1e-20, 1e6, 1e15, -1e30, math.MaxFloat32, -math.MaxFloat32, inf, -inf, nan} {
		for _, w := range []float32{0, 1e-45, 1e-30, 1, 1e20, -math.MaxFloat32, inf, nan} {
			p := newProblem(rand.New(rand.NewPCG(7, 8)), 40, 2, 3, 1)
			for i := range p.x {
				p.x[i] = x
				if i%3 == 1 {
					p.x[i] = -x / 3
				}
			}
			for i := range p.w {
				p.w[i] = w
			}
			p.pack()
			var s Scratch
			eachISA(func(name string) {
				for _, v := range append(p.sum(&s), p.gradient(&s)...) {
					if math.IsNaN(v) || math.Abs(v) > 100 {
						t.Fatalf("%s: x = %v, w = %v: %v", name, x, w, v)
					}
				}
			})
		}
	}
}

// The matrix that Orthogonal multiplies by is n times an orthogonal one and the
// root of n: its rows are orthogonal, of length n to the power of 3/2.
func TestOrthogonalIsOrthogonal(t *testing.T) {
	const n = 64
	signs := make([]uint32, 3*n)
	Signs(signs, Key("orthogonal", 1, 2))
	var rows [n][n]float64
	for from := 0; from < n; from += Lanes {
		x, p := make([]float32, n*Lanes), make([]float32, n*Lanes)
		for l := range Lanes {
			x[(from+l)*Lanes+l] = 1
		}
		Orthogonal(p, x, signs, n, n)
		for i := range n {
			for l := range Lanes {
				rows[i][from+l] = float64(p[i*Lanes+l])
			}
		}
	}
	for i := range n {
		for j := range n {
			want := 0.0
			if i == j {
				want = n * n * n
			}
			if got := Dot(rows[i][:], rows[j][:]); got != want {
				t.Fatalf("the product of rows %d and %d is %v, want %v", i, j, got, want)
			}
		}
	}
}
