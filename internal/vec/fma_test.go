package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// fmaBig is x*y+z for finite numbers, by exact arithmetic and one rounding.
func fmaBig(x, y, z float32) float32 {
	b := func(v float32) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(float64(v)) }
	p := new(big.Float).SetPrec(1000).Mul(b(x), b(y))
	s := new(big.Float).SetPrec(1000).Add(p, b(z))
	if s.Sign() == 0 {
		return float32(float64(x)*float64(y) + float64(z)) // the sign of a zero
	}
	r, _ := s.Float32()
	return r
}

func same32(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func TestFMARoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	finite := func(bits uint32) float32 {
		if bits>>23&0xff == 0xff {
			bits ^= 1 << 30
		}
		return math.Float32frombits(bits)
	}
	check := func(x, y, z float32) {
		t.Helper()
		if got, want := FMA(x, y, z), fmaBig(x, y, z); !same32(got, want) {
			t.Fatalf("FMA(%x, %x, %x) = %x, want %x", x, y, z, got, want)
		}
	}
	n := 200000
	if testing.Short() {
		n = 20000
	}
	fixed := 0
	for i := range n {
		x, y, z := finite(r.Uint32()), finite(r.Uint32()), finite(r.Uint32())
		switch i % 5 {
		case 1: // exponents close together
			x, y, z = float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64())
		case 2: // few bits, so that sums end half way
			x = float32(r.IntN(1<<13)|1) * float32(math.Ldexp(1, r.IntN(20)-40))
			y = float32(r.IntN(1<<13)|1) * float32(math.Ldexp(1, r.IntN(20)-10))
			z = float32(r.IntN(1<<24)) * float32(math.Ldexp(1, r.IntN(40)-20))
		case 3: // around the least normal number and below
			x = finite(r.Uint32()&0x807fffff | uint32(r.IntN(60)+30)<<23)
			y = finite(r.Uint32()&0x807fffff | uint32(r.IntN(60)+30)<<23)
			z = finite(r.Uint32()&0x807fffff | uint32(r.IntN(26))<<23)
			if i%2 == 0 { // a subnormal and just short of half its last place
				x, y, z = 0x1p-75*(1+0x1p-23), 0x1p-75*(1-0x1p-23), finite(r.Uint32()&0x807fffff)
			}
		case 4: // a tie but for a product far below
			z = finite(r.Uint32()&0x807fffff | uint32(r.IntN(100)+100)<<23)
			ulp := math.Ldexp(1, int(math.Float32bits(z)>>23&0xff)-127-24)
			x, y = float32(ulp), 1
			if i%10 != 4 {
				x, y = float32(ulp)*(1+0x1p-23), 1-0x1p-23 // just short of half an ulp
			}
			if i%4 == 0 {
				x = -x
			}
		}
		check(x, y, z)
		p, zz := float64(x)*float64(y), float64(z)
		if same32(float32(p+zz), fmaBig(x, y, z)) == false {
			fixed++
		}
	}
	if fixed < n/100 {
		t.Errorf("rounding twice went wrong only %d times in %d: the test is too easy", fixed, n)
	}
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	max := float32(math.MaxFloat32)
	negZero := float32(math.Copysign(0, -1))
	for _, c := range [][4]float32{
		{inf, 1, -max, inf}, {max, max, -inf, -inf}, {inf, 0, 1, nan}, {inf, 1, -inf, nan}, {nan, 0, 0, nan}, {0, 0, nan, nan},
		{max, 2, -max, max}, {max, max, 0, inf}, {negZero, 0, 0, 0}, {negZero, 0, negZero, negZero}, {0x1p-149, 0x1p-149, 0, 0},
		{0x1p-100, 0x1p-50, 0, 0}, {0x1.000002p-100, 0x1p-50, 0, 0x1p-149}, {-0x1.000002p-100, 0x1p-50, 0, -0x1p-149},
		{-0x1p-149, 0x1p-149, 0, negZero}, {0x1p-100, 0x1p-50, 0x1p-149, 0x1p-148}, {0x1.8p-100, 0x1p-50, 0x1p-127, 0x1p-127 + 0x1p-149},
	} {
		if got := FMA(c[0], c[1], c[2]); !same32(got, c[3]) {
			t.Errorf("FMA(%x, %x, %x) = %x, want %x", c[0], c[1], c[2], got, c[3])
		}
	}
}
