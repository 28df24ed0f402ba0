// Package synth makes the stream that the demo learns: endless, nonlinear, with
// drift, and with an error rate known beforehand that nobody can beat.
package synth

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

const (
	Dim    = 10     // inputs of an example
	Period = 50_000 // examples from one abrupt change of concept to the next

	// Bayes is the error rate of the best classifier there is. It is exact: the
	// class is a function of the inputs, and then wrong with this probability.
	Bayes = 0.05
)

// Stream is a sequence of examples of two classes. Two of the ten inputs, u and
// v, matter. They lie in the four squares where both are .6 to 1.4 away from 0,
// to either side, turned by an angle that swings slowly between an eighth of π
// to the left and to the right. The class is 1 where, before the turn, u·v > 0,
// and then wrong with probability Bayes. That is an exclusive or, of which a
// linear classifier can learn nothing. The other eight inputs are uniform in
// [-.75, .75] and say nothing.
//
// Every Period examples two other inputs matter. After the first pair, the other
// four take turns, and each time that they come back their classes have been
// exchanged.
type Stream struct{ Seed uint64 }

// At sets x, of Dim values, to the inputs of example i, and returns its class.
// It is a function of Seed and i, and the same on every machine.
func (s Stream) At(i int64, x []float64) (class int) {
	c, exchanged := concept(s.Seed, i/Period)
	r := random(s.Seed, uint64(i))
	for j := range x[:Dim] {
		x[j] = float64(1.5*r.uniform()) - 0.75
	}
	u, v := r.square(), r.square()
	one := u*v > 0 != exchanged
	sin, cos := vec.Sincos(turn(i))
	x[c[0]] = float64(cos*u) - float64(sin*v)
	x[c[1]] = float64(sin*u) + float64(cos*v)
	if one != (r.uniform() < Bayes) {
		return 1
	}
	return 0
}

// turn is the angle at example i.
func turn(i int64) float64 {
	const swing = 5 * Period
	return math.Pi / 8 * vec.Sin(2*math.Pi*float64(i%swing)/swing)
}

// concept returns the inputs that matter in a period, and whether their classes
// are exchanged. The seed shuffles the inputs.
func concept(seed uint64, period int64) (inputs [2]int, exchanged bool) {
	r := random(^seed, 0)
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

func random(seed, stream uint64) generator {
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

func (r *generator) uniform() float64 { return float64(r.next()>>11) / (1 << 53) }

// square is uniform in [-1.4, -.6] and [.6, 1.4].
func (r *generator) square() float64 {
	v := float64(0.8 * (2*r.uniform() - 1))
	return v + math.Copysign(0.6, v)
}
