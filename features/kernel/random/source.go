// Package random has the random numbers from which kernels draw frequencies.
package random

import (
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Source is a source of random numbers, which are the same on every machine. It has two sequences:
// normal numbers and random words. Each is determined by the seed and the index, and does not
// depend on how many numbers of the other have been taken.
//
// The sequences are a format: the frequencies of every stored model come from them. Package
// internal/vec defines the normal numbers to the last bit; the words are those of chacha8rand
// (C2SP).
//
// As a rand.Source it can be used with math/rand/v2 and gonum. Their distributions may change with
// their versions, so that a Kernel computes its own.
type Source struct {
	seed, index uint64
	normals     vec.Normals
	words       rand.ChaCha8
	seeded      bool // the words have been seeded
}

var _ rand.Source = (*Source)(nil)

// New returns the source for the frequencies of a block, given its index and the seed of its
// features.Map.
func New(seed, index uint64) *Source {
	s := new(Source)
	s.Reset(seed, index)
	return s
}

// Reset makes s the source that New returns for the same arguments.
func (s *Source) Reset(seed, index uint64) {
	s.seed, s.index, s.seeded = seed, index, false
	s.normals.Reset(vec.Key("frequencies", seed, index))
}

// FillNormal sets dst to the next standard normal numbers.
func (s *Source) FillNormal(dst []float32) { s.normals.Fill(dst) }

// Uint64 returns the next word.
func (s *Source) Uint64() uint64 {
	if !s.seeded {
		s.words.Seed(vec.Key("uniform", s.seed, s.index))
		s.seeded = true
	}
	return s.words.Uint64()
}

// Float64 returns a uniform number in the open interval (0, 1), from the next word. It is an odd
// multiple of 2^-53, so that its logarithm and its quantile in any distribution are finite.
func (s *Source) Float64() float64 { return float64((float64(s.Uint64()>>12) + 0.5) * 0x1p-52) }
