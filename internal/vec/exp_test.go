package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

const prec = 1600

func exact(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

// series is the sum of terms t, where next(t, n) is term n from the one before.
func series(t *big.Float, next func(t *big.Float, n int64)) *big.Float {
	sum := exact(0)
	for n := int64(1); t.Sign() != 0 && (n == 1 || t.MantExp(nil) > sum.MantExp(nil)-300); n++ {
		sum.Add(sum, t)
		next(t, n)
	}
	return sum
}

func expBig(x *big.Float) *big.Float {
	y := new(big.Float).SetMantExp(x, -20) // exp(x) = exp(x/2^20)^(2^20)
	e := series(exact(1), func(t *big.Float, n int64) { t.Mul(t, y).Quo(t, exact(float64(n))) }).SetPrec(400)
	for range 20 {
		e.Mul(e, e)
	}
	return e
}

func piBig() *big.Float { // Machin 1706
	arctan := func(inverse float64) *big.Float {
		t := new(big.Float).SetPrec(prec).Quo(exact(1), exact(inverse))
		sum, square := exact(0), exact(inverse*inverse)
		for n := 1; t.MantExp(nil) > -prec; n += 2 {
			term := new(big.Float).Quo(t, exact(float64(n)))
			if n&2 != 0 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			t.Quo(t, square)
		}
		return sum
	}
	pi := arctan(5)
	pi.Mul(pi, exact(4)).Sub(pi, arctan(239))
	return pi.Mul(pi, exact(4))
}

// sinBig is the sine of x + quarters pi/2.
func sinBig(x float64, quarters float64, pi *big.Float) *big.Float {
	half := new(big.Float).SetMantExp(pi, -1)
	y := new(big.Float).Quo(exact(x), new(big.Float).SetMantExp(pi, 1))
	n, _ := y.Int(nil)
	y.Mul(new(big.Float).SetPrec(prec).SetInt(n), new(big.Float).SetMantExp(pi, 1))
	y.Sub(exact(x), y)
	y.Add(y, new(big.Float).Mul(half, exact(quarters)))
	square := new(big.Float).Mul(y, y)
	return series(y, func(t *big.Float, n int64) {
		t.Mul(t, square).Quo(t, exact(-float64(2*n*(2*n+1))))
	})
}

// ulps is how far got is from want, in the last places of want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if w == got {
		return .5
	}
	d, _ := new(big.Float).Sub(exact(got), want).Float64()
	return math.Abs(d) / (math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w))
}

func TestFunctionsAreAccurate(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 200
	}
	r := rand.New(rand.NewPCG(1, 2))
	pi := piBig()
	worst := map[string]float64{}
	see := func(name string, x, got float64, want *big.Float, limit float64) {
		e := ulps(got, want)
		worst[name] = max(worst[name], e)
		if !(e <= limit) {
			w, _ := want.Float64()
			t.Errorf("%s(%x) = %x, want %x: off by %.2f ulp", name, x, got, w, e)
		}
	}
	anywhere := func() float64 { return math.Float64frombits(r.Uint64() &^ (1 << 63) % (0x7fe << 52)) }
	for i := range n {
		x := r.NormFloat64()
		switch i % 4 {
		case 1:
			x *= 200
		case 2:
			x *= .01
		}
		if math.Abs(x) < 700 {
			e := expBig(exact(x))
			see("Exp", x, Exp(x), e, .85)
			see("Expm1", x, Expm1(x), new(big.Float).Sub(e, exact(1)), 1.8)
		}
		// If y is ln z but for a little, that is exp(y)/z - 1.
		logIs := func(name string, x, y float64, z *big.Float) {
			off := new(big.Float).Quo(expBig(exact(y)), z)
			off.Sub(off, exact(1))
			see(name, x, y, new(big.Float).Sub(exact(y), off), .95)
		}
		z := math.Exp(x)
		if i%4 == 3 {
			z = anywhere()
		}
		logIs("Log", z, Log(z), exact(z))
		near := math.Exp(x / 1e4)
		logIs("Log", near, Log(near), exact(near))
		if z > 0x1p-60 {
			logIs("Log1p", z, Log1p(z), new(big.Float).Add(exact(1), exact(z)))
		}
		if u := math.Expm1(x); u > -1 {
			logIs("Log1p", u, Log1p(u), new(big.Float).Add(exact(1), exact(u)))
		}
		v := x
		switch i % 4 {
		case 1:
			v = x * 1000
		case 2:
			v = anywhere()
		case 3:
			v = math.RoundToEven(x*1e6) * (math.Pi / 2) // next to a zero
		}
		s, c := Sincos(v)
		see("Sin", v, s, sinBig(v, 0, pi), .85)
		see("Cos", v, c, sinBig(v, 1, pi), .85)
	}
	t.Logf("the worst, in ulp: %.3v", worst)
}

func TestFunctionsAtTheEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name      string
		f         func(float64) float64
		x, result float64
	}{
		{"Exp", Exp, inf, inf}, {"Exp", Exp, -inf, 0}, {"Exp", Exp, nan, nan}, {"Exp", Exp, 0, 1}, {"Exp", Exp, 710, inf}, {"Exp", Exp, -746, 0},
		{"Exp", Exp, -745.13, 0x1p-1074}, {"Exp", Exp, 709.78, 0x1.fe9ce5c4c52b4p+1023},
		{"Expm1", Expm1, inf, inf}, {"Expm1", Expm1, -inf, -1}, {"Expm1", Expm1, nan, nan}, {"Expm1", Expm1, 0, 0}, {"Expm1", Expm1, 710, inf}, {"Expm1", Expm1, 1e-300, 1e-300},
		{"Log", Log, inf, inf}, {"Log", Log, -1, nan}, {"Log", Log, nan, nan}, {"Log", Log, 1, 0}, {"Log", Log, 0, -inf}, {"Log", Log, 0x1p-1074, -1074 * math.Ln2},
		{"Log1p", Log1p, inf, inf}, {"Log1p", Log1p, -2, nan}, {"Log1p", Log1p, -1, -inf}, {"Log1p", Log1p, nan, nan}, {"Log1p", Log1p, 1e-300, 1e-300},
		{"Sin", Sin, inf, nan}, {"Sin", Sin, 0, 0},
	} {
		if got := c.f(c.x); got != c.result && !(got != got && c.result != c.result) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.x, got, c.result)
		}
	}
}

// The bits of these functions are a format: these values may never change.
func TestFunctionsAreGolden(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var v [6][]float64
	for range 100000 {
		x := (r.Float64() - .5) * 60
		v[0] = append(v[0], Exp(x))
		v[1] = append(v[1], Expm1(x))
		v[2] = append(v[2], Log(math.Abs(x)))
		v[3] = append(v[3], Log1p(math.Abs(x)))
		s, c := Sincos(x)
		v[4] = append(v[4], s, c)
		s, c = Sincos(x * 1e200)
		v[5] = append(v[5], s, c)
	}
	var got [6]uint64
	for i := range v {
		got[i] = digest64(v[i])
	}
	if want := [6]uint64{0x7c6536f4970688bb, 0xd2c9d53bf0557fb6, 0x48ed27a18d7353e4, 0x85a66ca360c4280e, 0x956c0826b47c8d2c, 0x17886f7d28595d74}; got != want {
		t.Errorf("digests %#x, want %#x", got, want)
	}
}

func BenchmarkFunctions(b *testing.B) {
	for _, f := range []struct {
		name string
		f    func(float64) float64
	}{{"Exp", Exp}, {"Log", Log}, {"Sin", Sin}, {"math.Exp", math.Exp}, {"math.Log", math.Log}, {"math.Sin", math.Sin}} {
		b.Run(f.name, func(b *testing.B) {
			x := 1.0
			for b.Loop() {
				f.f(x)
				x += .01
				if x > 10 {
					x = 1
				}
			}
		})
	}
}

func TestExpsIsExp(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 2000 {
		x := make([]float64, 1+r.IntN(70))
		for i := range x {
			x[i] = r.NormFloat64() * math.Ldexp(1, r.IntN(8))
			if trial%3 == 0 && r.IntN(10) == 0 {
				x[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 707, -707, 708, -708, 709.9, -745.2, 1e300, -1e-300, 5e-324}[r.IntN(14)]
			}
		}
		eachISA(func(name string) {
			got := slices.Clone(x)
			Exps(got, got)
			for i, v := range x {
				if want := Exp(v); math.Float64bits(got[i]) != math.Float64bits(want) {
					t.Fatalf("%s: e^%v is %v, not %v", name, v, got[i], want)
				}
			}
		})
	}
}

func TestLogsIsLog(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for trial := range 3000 {
		x := make([]float64, 1+r.IntN(70))
		for i := range x {
			switch trial % 4 {
			case 0:
				x[i] = r.Float64()
			case 1:
				x[i] = math.Exp(r.NormFloat64() * math.Ldexp(1, r.IntN(10)))
			case 2:
				x[i] = math.Sqrt2*math.Ldexp(1, r.IntN(5)-2) + float64(0x1p-51*r.NormFloat64())
			case 3:
				x[i] = 1 + float64(r.NormFloat64()*math.Ldexp(1, -r.IntN(60)))
			}
			if trial%3 == 0 && r.IntN(10) == 0 {
				x[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), -1, 1, 2, 0.5, math.MaxFloat64, 0x1p-1022, 0x1.fffffp-1023, 5e-324, 1e-300, math.Sqrt2, math.Sqrt2 / 2}[r.IntN(16)]
			}
		}
		eachISA(func(name string) {
			got := slices.Clone(x)
			Logs(got, got)
			for i, v := range x {
				if want := Log(v); math.Float64bits(got[i]) != math.Float64bits(want) {
					t.Fatalf("%s: ln %v is %v, not %v", name, v, got[i], want)
				}
			}
			longer := append(slices.Clone(x), 7)
			Logs(longer[:len(x)], x)
			if longer[len(x)] != 7 {
				t.Fatalf("%s: Logs writes beyond %d numbers", name, len(x))
			}
		})
	}
}

func BenchmarkLogs(b *testing.B) {
	x, y := make([]float64, 20), make([]float64, 20)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range x {
		x[i] = r.Float64()
	}
	for range b.N {
		Logs(y, x)
	}
}

func BenchmarkLog(b *testing.B) {
	x, y := make([]float64, 20), make([]float64, 20)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range x {
		x[i] = r.Float64()
	}
	for range b.N {
		for i, v := range x {
			y[i] = Log(v)
		}
	}
}

func BenchmarkExps(b *testing.B) {
	x, y := make([]float64, 4096), make([]float64, 4096)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for range b.N {
		Exps(y, x)
	}
}
