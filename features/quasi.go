package features

import (
	"math/rand/v2"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// quasi sets dst to the frequencies of a block: quantiles at the points of Halton's sequence, whose
// coordinates reverse the digits of the number of the frequency in the bases 2, 3, 5, 7, …, after a
// random shift (quasi-Monte Carlo features: Yang, Sindhwani, Avron and Mahoney 2014; the shift,
// which makes the estimate unbiased, is that of Cranley and Patterson 1976). For each base, the
// digits are multiplied by a random factor, because otherwise the coordinates of large bases
// advance in step.
func (m Map) quasi(dst []float32, block int) {
	k := m.Kernel.(kernel.Independent)
	random := rand.NewChaCha8(vec.Key("quasi", m.Seed, 0))
	var bases primes
	for j := range m.Dim {
		base, shift := bases.next(), random.Uint64()
		factor := 1 + random.Uint64()%(base-1)
		for i := range m.blockSize() {
			at := shift + uint64(reversed(uint64(block*m.blockSize()+i), base, factor)*0x1p64)
			dst[i*m.Dim+j] = float32(k.Quantile((float64(at>>12) + 0.5) * 0x1p-52))
		}
	}
}

// reversed returns the number of [0, 1) whose digits after the point are those of i in
// reverse order, times a factor modulo the base.
func reversed(i, base, factor uint64) float64 {
	top, bottom := 0.0, 1.0
	for ; i > 0; i /= base {
		top = float64(top*float64(base)) + float64(i%base*factor%base)
		bottom *= float64(base)
	}
	return min(top/bottom, 1-0x1p-53)
}

// primes are the first prime numbers.
type primes []uint64

// next appends the next prime number and returns it.
func (f *primes) next() uint64 {
	p := uint64(2)
	if n := len(*f); n > 0 {
		p = (*f)[n-1] + 1
	}
	for !f.prime(p) {
		p++
	}
	*f = append(*f, p)
	return p
}

// prime reports whether p, which is above all primes so far, is a prime number.
func (f *primes) prime(p uint64) bool {
	for _, q := range *f {
		if q*q > p {
			break
		}
		if p%q == 0 {
			return false
		}
	}
	return true
}
