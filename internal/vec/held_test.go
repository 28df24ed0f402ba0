package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// heldProblem is a problem of at most a group of frequencies, with its features.
type heldProblem struct {
	*problem
	panels, rowPanels int
	f                 []float32 // [panels][panels of rows][2][Panel][Lanes]
}

func newHeldProblem(r *rand.Rand, dim, rows, m, scores int) heldProblem {
	p := heldProblem{problem: newProblem(r, dim, rows, m, scores), panels: Panels(m, Panel), rowPanels: Panels(rows, Lanes)}
	const size = 2 * Panel * Lanes
	p.f = make([]float32, p.panels*p.rowPanels*size)
	var s Scratch
	for q := range p.panels {
		for i := range p.rowPanels {
			Features(p.f[(q*p.rowPanels+i)*size:][:size], p.px[i*Lanes*dim:(i+1)*Lanes*dim], p.pw[q*Panel*dim:(q+1)*Panel*dim], dim, &s)
		}
	}
	return p
}

func TestProductsWithHeldFeaturesAreTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, scores := range []int{1, 2, 4, 5, 8, 11} {
		p := newHeldProblem(r, 1+r.IntN(9), 1+r.IntN(Run), 1+r.IntN(Group), scores)
		const size = 2 * Panel * Lanes
		eachISA(func(name string) {
			var s Scratch
			a := make([]float32, p.panels*2*Panel*HeldColumns)
			for from := 0; from < scores; from += HeldColumns {
				n := min(HeldColumns, scores-from)
				clear(a)
				for j := range p.panels * 2 * Panel { // [panels][2][scores][Panel]
					q, h, l := j/(2*Panel), j/Panel%2, j%Panel
					for c := range n {
						a[j*HeldColumns+c] = p.pc[((2*q+h)*scores+from+c)*Panel+l]
					}
				}
				for i := range p.rowPanels {
					want, got := make([]float64, scores*Lanes), make([]float64, HeldColumns*Lanes)
					Sum(want, p.px[i*Lanes*p.dim:(i+1)*Lanes*p.dim], p.pw, p.pc, p.dim, scores, Lanes, &s)
					HeldSum(got, p.f[i*size:], p.rowPanels*size, a, n)
					if !slices.Equal(got[:n*Lanes], want[from*Lanes:(from+n)*Lanes]) {
						t.Errorf("%s, %d scores: the sums differ from those of Sum", name, scores)
					}
				}
			}
			acc := make([]float32, ChainsLen(p.panels*Panel, scores))
			Gradient(acc, p.px, p.pw, p.pg, p.dim, scores, &s)
			want := make([]float64, 2*Panel*p.panels*scores)
			AddChains(want, acc, 0, scores)
			got := make([]float64, len(want))
			for q := range p.panels {
				Spread(got[q*2*Panel*scores:(q+1)*2*Panel*scores], p.f[q*p.rowPanels*size:(q+1)*p.rowPanels*size], p.pg, scores, scores, &s)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d scores: the gradient differs from that of Gradient", name, scores)
			}
			// Scores without factors can be left out.
			if scores > 1 {
				for i := range p.rowPanels {
					clear(p.pg[(i*scores+scores-1)*Lanes : (i+1)*scores*Lanes])
				}
				all, most := make([]float64, 2*Panel*scores), make([]float64, 2*Panel*scores)
				Spread(all, p.f[:p.rowPanels*size], p.pg, scores, scores, &s)
				Spread(most, p.f[:p.rowPanels*size], p.pg, scores-1, scores, &s)
				if !slices.Equal(all, most) {
					t.Errorf("%s, %d scores: without the last one the gradient differs", name, scores)
				}
			}
		})
	}
}

func TestLinesAreLoopsOverRows(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	numbers := func(n int, scale float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = scale * r.NormFloat64()
		}
		return x
	}
	for _, n := range []int{1, 2, 8, 26} {
		f, d, curvature := numbers(n*Lanes, 3), numbers(n*Lanes, 1), numbers(n*Lanes, 1)
		share, divisor, shift, size := numbers(Lanes, 1), numbers(Lanes, 1), numbers(n, 1), numbers(n, 1)
		share[3], divisor[3] = 0, 1
		p := Parabola{0.5, 2, 0.01}
		shifted, shares, sums := make([]float64, n*Lanes), slices.Clone(d), make([]float64, 8*Panels(n, 8))
		g, c, factors, q, stepped := slices.Clone(f), make([]float64, n*Lanes), make([]float32, n*Lanes), make([]float64, n*Lanes), slices.Clone(f)
		for i := range Lanes {
			top, sum := math.Inf(-1), 0.0
			for l := range n {
				top, sum = max(top, f[l*Lanes+i]), sum+d[l*Lanes+i]
			}
			for l := range n {
				at := l*Lanes + i
				shifted[at], shares[at] = f[at]-top, d[at]/sum
				g[at] = share[i] * max(-2, min(2, f[at]))
				factors[at] = float32(g[at])
				u := math.Abs(g[at]) / divisor[i]
				c[at] = min(0.5, float64(float64(2*u)*(1-u))+0.01)
				q[at] = share[i] * float64(curvature[at]*float64(d[at]*d[at]))
				stepped[at] = f[at] - shift[l] - float64(size[l]*d[at])
			}
		}
		unit, above, aboveC := slices.Clone(f), make([]float64, n*Lanes), make([]float64, n*Lanes)
		for at := range unit {
			special := []float64{0, math.Copysign(0, -1), 1, -1, 1 - 1e-16, 1e300}
			if unit[at] /= 9; r.IntN(3) == 0 {
				unit[at] = special[r.IntN(len(special))]
			}
			if share[at%Lanes] == 0 {
				unit[at] = math.NaN()
			}
			if i := at % Lanes; share[i] != 0 {
				u := math.Abs(unit[at])
				above[at] = share[i] * max(-2, min(2, unit[at]))
				aboveC[at] = share[i] * min(0.5, float64(0.5*math.Sqrt(2*math.Sqrt(max(0, u*(1-u)))))+0.02)
			}
		}
		lines := append(slices.Clone(f), make([]float64, len(sums)*Lanes-len(f))...)
		for l := range sums {
			sums[l] = float64(l)
			for i := range Lanes {
				sums[l] += lines[l*Lanes+i]
			}
		}
		eachISA(func(name string) {
			check := func(what string, got, want []float64) {
				if !slices.Equal(got, want) {
					t.Errorf("%s, %d lines: the %s differ", name, n, what)
				}
			}
			got, gotC, gotF := make([]float64, n*Lanes), make([]float64, n*Lanes), make([]float32, n*Lanes)
			ShiftLines(got, f)
			check("shifted lines", got, shifted)
			copy(got, d)
			ShareLines(got)
			check("shares", got, shares)
			copy(got, f)
			GradientLines(got, share, divisor, 2, p, gotC, gotF)
			check("gradients", got, g)
			check("curvatures", gotC, c)
			if !slices.Equal(gotF, factors) {
				t.Errorf("%s, %d lines: the factors differ", name, n)
			}
			copy(got, unit)
			MajorantLines(got, share, 2, 0.5, 0.02, gotC)
			check("gradients below parabolas", got, above)
			check("parabolas above losses", gotC, aboveC)
			CurvatureLines(got, d, curvature, share)
			check("weighted squares", got, q)
			copy(got, f)
			StepLines(got, d, shift, size)
			check("steps", got, stepped)
			s := make([]float64, len(sums))
			for l := range s {
				s[l] = float64(l)
			}
			SumLines(s, lines)
			check("sums", s, sums)
		})
	}
}
