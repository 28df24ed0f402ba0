//go:build linux

package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// guarded copies v to memory that ends, or begins, at a page that must not be
// touched.
func guarded[T any](t *testing.T, v []T, atEnd bool) []T {
	if len(v) == 0 {
		return v
	}
	page := syscall.Getpagesize()
	size := len(v) * int(unsafe.Sizeof(v[0]))
	whole := (size + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, whole+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	for _, guard := range [][]byte{m[:page], m[page+whole:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := page
	if atEnd {
		at += whole - size
	}
	g := unsafe.Slice((*T)(unsafe.Pointer(&m[at])), len(v))
	copy(g, v)
	return g
}

// trialProblem returns a problem of a random shape, which is extreme in one
// direction in four trials of ten. Every third has extreme values.
func trialProblem(r *rand.Rand, trial int) *problem {
	dim, m, rows, scores := 1+r.IntN(40), 1+r.IntN(200), 1+r.IntN(70), 1+r.IntN(6)
	switch trial % 10 {
	case 0:
		dim, m, rows = 1+r.IntN(1100), 1+r.IntN(30), 1+r.IntN(33)
	case 3:
		m, dim, rows, scores = 700+r.IntN(1200), 1+r.IntN(20), 2, 1+r.IntN(3)
	case 1:
		scores, m = 1+r.IntN(40), 1+r.IntN(110)
	case 2:
		rows, m, dim = 250+r.IntN(300), 1+r.IntN(13), 1+r.IntN(12)
	}
	p := newProblem(r, dim, rows, m, scores)
	if trial%3 == 0 { // the ends of the range, and phases without a fraction
		for range 1 + len(p.x)/5 {
			p.x[r.IntN(len(p.x))] = float32(math.Copysign(math.Exp2(r.Float64()*220-120), r.NormFloat64()))
		}
		for range 1 + len(p.coef)/9 {
			p.coef[r.IntN(len(p.coef))] = math.Float32frombits(r.Uint32() &^ (1 << 30)) // below 2
		}
		p.pack()
	}
	return p
}

// Every implementation gives the bits of the plain loops, for every shape, and
// touches nothing but its arguments.
func TestImplementationsAgree(t *testing.T) {
	if len(available) == 1 {
		t.Skip("this machine has the plain loops only")
	}
	trials := 300
	if testing.Short() {
		trials = 30
	}
	r := rand.New(rand.NewPCG(11, 12))
	var s Scratch
	for trial := range trials {
		p := trialProblem(r, trial)
		dim, rows, m, scores := p.dim, p.rows, p.m, p.scores
		atEnd := trial%2 == 0
		p.px, p.pw, p.pc, p.pg = guarded(t, p.px, atEnd), guarded(t, p.pw, atEnd), guarded(t, p.pc, atEnd), guarded(t, p.pg, atEnd)
		panels := Panels(m, Panel)
		type result struct {
			sum, gradient []float64
			features      []float32
		}
		got := map[string]result{}
		eachISA(func(name string) {
			dst := guarded(t, make([]float64, scores*Lanes), atEnd)
			acc := guarded(t, make([]float32, ChainsLen(panels*Panel, scores)), atEnd)
			phi := guarded(t, make([]float32, panels*2*Panel*Lanes), atEnd)
			var g result
			for i := 0; i < rows; i += Lanes {
				x := p.px[i*dim : (i+Lanes)*dim]
				Sum(dst, x, p.pw, p.pc, dim, scores, Lanes, &s)
				if i%Run == 0 {
					to := min(i+Run, len(p.px)/dim)
					Gradient(acc, p.px[i*dim:to*dim], p.pw, p.pg[i*scores:to*scores], dim, scores, &s)
				}
				Features(phi, x, p.pw, dim, &s)
				g.sum = append(g.sum, dst...)
				if active.sumRow != nil && i == 0 {
					coef := guarded(t, p.coef, atEnd)
					single := guarded(t, make([]float64, Panels(m, Group)*scores), atEnd)
					for l := range min(2, rows) {
						SumRow(single, p.x[l*dim:(l+1)*dim], p.pw, coef, dim, scores, &s)
						for c := range scores {
							sum := 0.0
							for j := c; j < len(single); j += scores {
								sum += single[j]
							}
							if sum != dst[c*Lanes+l] {
								t.Fatalf("%s: row %d alone has output %d %v, in a panel %v", name, l, c, sum, dst[c*Lanes+l])
							}
						}
					}
				}
				g.features = append(g.features, phi...)
			}
			g.gradient = make([]float64, 2*m*scores)
			AddChains(g.gradient, acc, 0, scores)
			got[name] = g
		})
		want := got[generic.name]
		for name, g := range got {
			if digest64(g.sum) != digest64(want.sum) || digest64(g.gradient) != digest64(want.gradient) || digest32(g.features) != digest32(want.features) {
				t.Fatalf("%s: sum, gradient or features differ from the plain loops' at dim %d, %d rows, %d frequencies, %d scores", name, dim, rows, m, scores)
			}
		}
	}
}

func TestNormalsStayInside(t *testing.T) {
	eachISA(func(name string) {
		for _, n := range []int{1, 8, 248, 249, 3 * 248} {
			for _, atEnd := range []bool{false, true} {
				NewNormals(Key("guard", 0, 0)).Fill(guarded(t, make([]float32, n), atEnd))
			}
		}
	})
}

func TestPackingAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for trial := range 200 {
		dim, rows, m, from := 1+r.IntN(70), 1+r.IntN(70), 1+r.IntN(40), r.IntN(13)
		x, w := random(r, rows*dim, 1), random(r, m*dim, 1)
		for i := range x {
			if r.IntN(3) == 0 {
				x[i] = math.Float32frombits(r.Uint32())
			}
		}
		for i := range w {
			if r.IntN(3) == 0 {
				w[i] = math.Float32frombits(r.Uint32())
			}
		}
		atEnd := trial%2 == 0
		x, w = guarded(t, x, atEnd), guarded(t, w, atEnd)
		coef := guarded(t, random(r, m/2*2*dim, 1), atEnd)
		got := map[string][3]uint64{}
		eachISA(func(name string) {
			px := guarded(t, make([]float32, Panels(rows, Lanes)*Lanes*dim), atEnd)
			pw := guarded(t, make([]float32, Panels(from+m, Panel)*Panel*dim), atEnd)
			PackRows(px, x, dim)
			PackFrequencies(pw, w, from, dim)
			pc := guarded(t, make([]float32, Panels(m/2, Panel)*2*Panel*dim), atEnd)
			PackCoefficients(pc, coef, dim)
			got[name] = [3]uint64{digest32(px), digest32(pw), digest32(pc)}
		})
		for name, g := range got {
			if g != got[generic.name] {
				t.Fatalf("%s: packing differs from the plain loops' at dim %d, %d rows, %d frequencies from %d", name, dim, rows, m, from)
			}
		}
	}
}

// The same for phases in memory, those of transforms.
func TestTransformsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	var s Scratch
	for trial := range 60 {
		n := 1 << r.IntN(9)
		if trial%20 == 0 {
			n = 1024
		}
		dim, scores := 1+r.IntN(n), 1+r.IntN(5)
		atEnd := trial%2 == 0
		signs := make([]uint32, 3*n)
		Signs(signs, Key("test", uint64(trial), 0))
		signs = guarded(t, signs, atEnd)
		px := make([]float32, dim*Lanes)
		PackRows(px, random(r, 30*dim, 1), dim)
		px = guarded(t, px, atEnd)
		panels := n / Panel
		a, g := guarded(t, random(r, panels*2*scores*Panel, 1), atEnd), guarded(t, random(r, scores*Lanes, 1), atEnd)
		got := map[string][]float64{}
		eachISA(func(name string) {
			p := guarded(t, make([]float32, n*Lanes), atEnd)
			Orthogonal(p, px, signs, n, dim)
			p = guarded(t, p[:panels*Panel*Lanes], atEnd)
			dst, acc, phi := guarded(t, make([]float64, scores*Lanes), atEnd), guarded(t, make([]float32, ChainsLen(panels*Panel, scores)), atEnd), guarded(t, make([]float32, panels*2*Panel*Lanes), atEnd)
			SumPhases(dst, .37, p, a, scores, Lanes, &s)
			GradientPhases(acc, .37, p, g, scores, &s)
			FeaturesPhases(phi, .37, p, &s)
			all := append([]float64(nil), dst...)
			for _, v := range [][]float32{p, acc, phi} {
				for _, x := range v {
					all = append(all, float64(x))
				}
			}
			got[name] = all
		})
		want := digest64(got[generic.name])
		for name, v := range got {
			if digest64(v) != want {
				t.Fatalf("%s: phases of a transform of %d, or what is made of them, differ from the plain loops'", name, n)
			}
		}
	}
}

// Rows with few numbers have the bits of others, whether a loop reads past the frequencies or not.
func TestRowsOfFewNumbersHaveTheSameFeatures(t *testing.T) {
	r := rand.New(rand.NewPCG(87, 88))
	eachISA(func(name string) {
		var s Scratch
		used := false
		for trial := range 40 {
			const panels, scores = 9, 5 // a group and one more panel
			dim, atEnd := 40+r.IntN(90), trial%2 == 0
			x := guarded(t, indicators(r, dim, dim/(1+trial%3), r.IntN(12)), atEnd)
			x[r.IntN(dim)*Lanes+1] = float32(math.Copysign(0, -1))
			w, a := guarded(t, make([]float32, panels*Panel*dim), atEnd), make([]float32, panels*2*scores*Panel)
			for i := range w {
				w[i] = float32(r.NormFloat64())
			}
			for i := range a {
				a[i] = float32(r.NormFloat64())
			}
			of := s.Coordinates(x, dim)
			used = used || len(of.few) > 0
			want, got := make([]float32, panels*2*Panel*Lanes), guarded(t, make([]float32, panels*2*Panel*Lanes), atEnd)
			Features(want, x, w, dim, &s)
			if FeaturesOf(got, x, w, dim, of, &s); !slices.Equal(got, want) {
				t.Fatalf("%s: %d coordinates, %d numbers a row: the features differ", name, dim, len(of.few))
			}
			if featuresOfPhases(got, x, w, dim, of, &s); !slices.Equal(got, want) {
				t.Fatalf("%s: %d coordinates, %d numbers a row: the features of the phases differ", name, dim, len(of.few))
			}
			sums, wanted := make([]float64, scores*Lanes), make([]float64, scores*Lanes)
			Sum(wanted, x, w, a, dim, scores, Lanes, &s)
			if SumOf(sums, x, w, a, dim, scores, Lanes, of, &s); !slices.Equal(sums, wanted) {
				t.Fatalf("%s: %d coordinates, %d numbers a row: the sums differ", name, dim, len(of.few))
			}
		}
		if used != (active.few != nil) {
			t.Errorf("%s: rows of few numbers are used: %v", name, used)
		}
	})
}
