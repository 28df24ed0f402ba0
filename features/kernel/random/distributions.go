package random

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// The distributions that kernels sample from are part of the format of Source. They take words and
// normal numbers in a fixed order, and compute with package internal/vec and with operations that
// IEEE 754 defines to the last bit.

// Cauchy returns a standard Cauchy number, which is tan(π(u-½)) for a uniform number u.
func (s *Source) Cauchy() float64 { return CauchyQuantile(s.Float64()) }

// CauchyQuantile inverts the Cauchy distribution function.
func CauchyQuantile(u float64) float64 {
	sin, cos := vec.Sincos(math.Pi * min(u, 1-u))
	if u < 0.5 {
		return -cos / sin
	}
	return cos / sin
}

// Gamma returns a number of the gamma distribution with this shape and rate 1, by rejection from a
// cubed normal number (Marsaglia and Tsang 2000). For a shape below 1, it uses the shape plus 1,
// and multiplies the result by a power of a uniform number.
func (s *Source) Gamma(shape float64) float64 {
	factor := 1.0
	if shape < 1 {
		factor = vec.Exp(vec.Log(s.Float64()) / shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / (3 * math.Sqrt(d))
	var z [1]float32
	for {
		s.FillNormal(z[:])
		x := float64(z[0])
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		if vec.Log(s.Float64()) < float64(x*x/2)+float64(d*(1-v+vec.Log(v))) {
			return factor * d * v
		}
	}
}

// NormalQuantile inverts the normal distribution function to about 16 digits (algorithm
// AS 241: Wichura 1988).
func NormalQuantile(u float64) float64 {
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

// horner returns the value at x of the polynomial with these coefficients, the highest power first.
func horner(x float64, coefficients ...float64) float64 {
	p := 0.0
	for _, c := range coefficients {
		p = float64(p*x) + c
	}
	return p
}

// Sech returns a number with the density 1/cosh(πω).
func (s *Source) Sech() float64 { return SechQuantile(s.Float64()) }

// SechQuantile inverts the distribution function of Sech, (2/π) arctan(exp(πω)).
func SechQuantile(u float64) float64 {
	sin, cos := vec.Sincos(math.Pi / 2 * min(u, 1-u))
	v := vec.Log(sin/cos) / math.Pi
	if u > 0.5 {
		v = -v
	}
	return v
}

// Roots fills w with vectors of n complex numbers, each 1, i, -1 or -i. Of each vector it writes
// the real parts first, then the imaginary parts.
func (s *Source) Roots(w []float32, n int) {
	var word uint64
	left := 0
	for ; len(w) > 0; w = w[2*n:] {
		for i := range n {
			if left == 0 {
				word, left = s.Uint64(), 32
			}
			sign := float32(1 - int(word&2))
			if w[i], w[n+i] = sign, 0; word&1 == 1 {
				w[i], w[n+i] = 0, sign
			}
			word, left = word>>2, left-1
		}
	}
}
