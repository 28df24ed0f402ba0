package features

import (
	"math"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Independent is a Kernel whose frequencies have independent coordinates of the same
// distribution: the condition for QMC.
type Independent interface {
	Kernel

	// Quantile returns the number below which a coordinate is with the probability u, of
	// (0, 1).
	Quantile(u float64) float64
}

func (k Gaussian) Quantile(u float64) float64   { return normalQuantile(u) / k.Scale }
func (k Laplacian) Quantile(u float64) float64  { return cauchyQuantile(u) / k.Scale }
func (k Cauchy) Quantile(u float64) float64     { return laplaceQuantile(u) / k.Scale }
func (k SkewedChi2) Quantile(u float64) float64 { return sechQuantile(u) / k.Scale }
func (k SkewedIntersection) Quantile(u float64) float64 {
	return cauchyQuantile(u) / (2 * k.Scale)
}

// quasi sets dst to the frequencies of a block: quantiles at the points of Halton's
// sequence, whose coordinates reverse the digits of the number of the frequency in the
// bases 2, 3, 5, 7, …, after a random shift (quasi-Monte Carlo features: Yang, Sindhwani,
// Avron and Mahoney 2014; the shift, which makes the estimate unbiased, is that of Cranley
// and Patterson 1976). Digits are multiplied by a random number, because without that large
// bases are in step with each other.
func (m Map) quasi(dst []float32, block int) {
	k := m.Kernel.(Independent)
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

// next adds the next one and returns it.
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

// prime reports whether p, which is above all primes so far, is one.
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

// normalQuantile inverts the normal distribution function to about 16 digits (algorithm
// AS 241: Wichura 1988).
func normalQuantile(u float64) float64 {
	q := u - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * horner(r, 2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.387132872796366608) /
			horner(r, 5.226495278852545925e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1)
	}
	r := math.Sqrt(-vec.Log(min(u, 1-u)))
	var z float64
	if r <= 5 {
		r -= 1.6
		z = horner(r, 7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734) /
			horner(r, 1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940, 2.05319162663775882187, 1)
	} else {
		r -= 5
		z = horner(r, 2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720) /
			horner(r, 2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1)
	}
	return math.Copysign(z, q)
}

// horner returns the polynomial of these coefficients, the highest first.
func horner(x float64, coefficients ...float64) float64 {
	p := 0.0
	for _, c := range coefficients {
		p = float64(p*x) + c
	}
	return p
}
