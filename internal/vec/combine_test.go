package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCombinationsAreSumsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for _, dim := range []int{1, 5, 8, 19} {
		const n = 37
		x, w := make([]float64, n*dim), make([]float64, (n+8)*8)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for i := range w {
			w[i] = r.NormFloat64()
		}
		want := make([]float64, 8*dim)
		for i := range n {
			for j := range 8 {
				for l := range dim {
					want[j*dim+l] += float64(w[i*8+j] * x[i*dim+l])
				}
			}
		}
		eachISA(func(name string) {
			c, got := NewColumns(x, dim), make([]float64, 8*dim)
			for range 2 {
				if c.Combine(got, w); !slices.Equal(got, want) {
					t.Errorf("%s, %d columns: the sums differ", name, dim)
				}
			}
		})
	}
}

func TestMixedRowsAreSumsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	numbers := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		return x
	}
	for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 9, 26} {
		for _, averages := range []int{0, 1, 3} {
			const rows, models = 5, 4
			n := (1 + models + averages) * k
			coef, average, shares := numbers(rows*models*k), numbers(rows*averages*k), numbers(n-k)
			want := make([]float32, rows*n)
			for i := range rows {
				all := append(slices.Clone(coef[i*models*k:(i+1)*models*k]), average[i*averages*k:(i+1)*averages*k]...)
				for j := range k {
					sum := 0.0
					for c := j; c < len(all); c += k {
						sum += float64(shares[c] * all[c])
					}
					want[i*n+j] = float32(sum)
				}
				for c, v := range all {
					want[i*n+k+c] = float32(v)
				}
			}
			moved, movedRows := slices.Clone(average), slices.Clone(average)
			for i, v := range movedRows {
				from := coef[i/(averages*k)*models*k+i%(averages*k)]
				movedRows[i] += float64(.3 * (from - v))
			}
			for i, v := range moved {
				moved[i] += float64(.3 * (coef[i] - v))
			}
			eachISA(func(name string) {
				got := make([]float32, rows*n)
				if MixRows(got, coef, average, shares, k, models, averages); !slices.Equal(got, want) {
					t.Errorf("%s, %d scores, %d averages: the mixture differs", name, k, averages)
				}
				to := slices.Clone(average)
				if Towards(to, coef, .3); !slices.Equal(to, moved) {
					t.Errorf("%s, %d numbers: the averages differ", name, len(to))
				}
				if averages == 0 {
					return
				}
				to = slices.Clone(average)
				if TowardsRows(to, coef, averages*k, models*k, .3); !slices.Equal(to, movedRows) {
					t.Errorf("%s, %d scores, %d averages: the averages of rows differ", name, k, averages)
				}
			})
		}
	}
}

// TestMixturesStayInside holds loops that end with a vector over others against the plain ones, where
// nothing outside of the arguments may be touched.
func TestMixturesStayInside(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 64))
	for n := 1; n < 30; n++ {
		for _, atEnd := range []bool{false, true} {
			numbers := func(n int) []float64 {
				x := make([]float64, n)
				for i := range x {
					x[i] = r.NormFloat64()
				}
				return guarded(t, x, atEnd)
			}
			const rows, models = 3, 2
			averages := n % 2
			coef, average, shares, to := numbers(rows*models*n), numbers(rows*averages*n), numbers((models+averages)*n), numbers(n)
			got := map[string][2]uint64{}
			eachISA(func(name string) {
				mixed := guarded(t, make([]float32, rows*(1+models+averages)*n), atEnd)
				MixRows(mixed, coef, average, shares, n, models, averages)
				moved := guarded(t, to, atEnd)
				Towards(moved, coef[:n], .3)
				got[name] = [2]uint64{digest32(mixed), digest64(moved)}
			})
			for name, g := range got {
				if g != got[generic.name] {
					t.Fatalf("%s: a mixture of rows of %d numbers differs from the plain loop's", name, n)
				}
			}
		}
	}
}

func BenchmarkMixRows(b *testing.B) {
	for _, k := range []int{1, 2, 10} {
		const rows, models, averages = 1024, 4, 3
		dst, coef, average, shares := make([]float32, rows*8*k), make([]float64, rows*models*k), make([]float64, rows*averages*k), make([]float64, 7*k)
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			for range b.N {
				TowardsRows(average, coef, averages*k, models*k, .001)
				MixRows(dst, coef, average, shares, k, models, averages)
			}
		})
	}
}

// TestAdaGradIsThePlainLoop holds all implementations against the plain loop, to the bit, also with
// gradients that are 0, too small or no numbers, and nothing outside of the arguments is touched.
func TestAdaGradIsThePlainLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	special := []float64{0, math.Copysign(0, -1), 1e-170, -1e-200, math.NaN(), math.Inf(1), 1e300}
	for n := range 70 {
		z, squares, coef := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			z[i], squares[i], coef[i] = r.NormFloat64(), r.ExpFloat64(), r.NormFloat64()
			if r.IntN(4) == 0 {
				z[i] = special[r.IntN(len(special))]
			}
			if r.IntN(3) == 0 {
				squares[i] = 0
			}
		}
		slope, atEnd := r.NormFloat64(), n%2 == 0
		if n%9 == 8 {
			slope = 0
		}
		wantSquares, wantCoef := slices.Clone(squares), slices.Clone(coef)
		for i, v := range z {
			g := slope * v
			sum := squares[i] + float64(g*g)
			if g == 0 || !(sum > 0) {
				continue
			}
			wantSquares[i] = sum
			wantCoef[i] = coef[i] - float64(0.02*g)/math.Sqrt(sum)
		}
		inputs := guarded(t, z, atEnd)
		eachISA(func(name string) {
			w, q := guarded(t, coef, atEnd), guarded(t, squares, atEnd)
			AdaGrad(w, q, inputs, 0.02, slope)
			if digest64(w) != digest64(wantCoef) || digest64(q) != digest64(wantSquares) {
				t.Fatalf("%s: of %d numbers: coefficients %v, want %v, squares %v, want %v", name, n, w, wantCoef, q, wantSquares)
			}
		})
	}
}
