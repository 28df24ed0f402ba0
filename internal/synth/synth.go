// Package synth generates the stream of the demo: endless, nonlinear, with drift,
// and with a known Bayes error rate.
package synth

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

const (
	Dim    = 10     // number of inputs
	Period = 50_000 // examples between abrupt changes of concept

	// Bayes is the error rate of the best possible classifier. It is exact: the
	// class is a function of the inputs, and then flipped with this probability.
	Bayes = 0.05
)

// Stream is a sequence of examples of two classes. The class depends on two of
// the ten inputs, u and v. They lie in the four squares |u|, |v| in [.6, 1.4],
// rotated by an angle that oscillates slowly between -π/8 and π/8. The class is
// 1 if u·v > 0 before the rotation, and is then flipped with probability Bayes.
// This is an exclusive or, which no linear classifier can learn. The other
// eight inputs are uniform in [-.75, .75] and irrelevant.
//
// Every Period examples the relevant inputs change. After the first pair the
// other four pairs follow in turn, and in each round the classes are exchanged.
type Stream struct{ Seed uint64 }

// At sets x, of length Dim, to the inputs of example i, and returns its class.
// The result depends on Seed and i only, and is the same on every machine.
func (s Stream) At(i int64, x []float64) (class int) {
	c, exchanged := concept(s.Seed, i/Period)
	r := newGenerator(s.Seed, uint64(i))
	for j := range x[:Dim] {
		x[j] = float64(1.5*r.uniform()) - 0.75
	}
	u, v := r.square(), r.square()
	one := u*v > 0 != exchanged
	sin, cos := vec.Sincos(rotation(i))
	x[c[0]] = float64(cos*u) - float64(sin*v)
	x[c[1]] = float64(sin*u) + float64(cos*v)
	if one != (r.uniform() < Bayes) {
		return 1
	}
	return 0
}

// rotation returns the angle at example i.
func rotation(i int64) float64 {
	const swing = 5 * Period
	return math.Pi / 8 * vec.Sin(2*math.Pi*float64(i%swing)/swing)
}

// concept returns the relevant inputs of a period, and whether the classes are
// exchanged. The seed determines the order of the inputs.
func concept(seed uint64, period int64) (inputs [2]int, exchanged bool) {
	r := newGenerator(^seed, 0)
	var all [Dim]int
	for j := range all {
		k := int(r.next() % uint64(j+1))
		all[j], all[k] = all[k], j
	}
	pair := int64(0)
	if period > 0 {
		pair, exchanged = 1+(period-1)%4, (period-1)/4%2 == 1
	}
	return [2]int(all[2*pair:]), exchanged
}

// generator is SplitMix64 (Steele, Lea and Flood 2014).
type generator uint64

// newGenerator returns the generator of the given stream of random numbers of a
// seed.
func newGenerator(seed, stream uint64) generator {
	r := generator(seed)
	r = generator(r.next() ^ stream)
	return generator(r.next())
}

func (r *generator) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns a number in [0, 1).
func (r *generator) uniform() float64 { return float64(r.next()>>11) / (1 << 53) }

// square returns a uniform number in [-1.4, -.6] or [.6, 1.4].
func (r *generator) square() float64 {
	v := float64(0.8 * (2*r.uniform() - 1))
	return v + math.Copysign(0.6, v)
}
