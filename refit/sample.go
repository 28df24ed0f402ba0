package refit

import (
	"math/bits"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/vec"
)

// chance is the sequence of chacha8rand that belongs to a purpose and a seed.
func chance(tag string, seed uint64) *rand.ChaCha8 { return rand.NewChaCha8(vec.Key(tag, seed, 0)) }

// below is a number from 0 up to n, off from uniform by at most n 2⁻⁶⁴.
func below(c *rand.ChaCha8, n int) int {
	hi, _ := bits.Mul64(c.Uint64(), uint64(n))
	return int(hi)
}

// A sampler draws subsets, uniformly and without replacement.
type sampler struct {
	order   []int // a permutation
	size    int
	at      int  // where in order the next subset begins
	shuffle bool // take all of a permutation before the next: subsets depend on the ones before
	next    *rand.ChaCha8
}

func newSampler(tag string, seed uint64, n, size int) *sampler {
	s := &sampler{order: make([]int, n), size: size, next: chance(tag, seed)}
	for i := range s.order {
		s.order[i] = i
	}
	return s
}

// draw returns a subset, which holds until the next draw: everything, in order,
// where the size asks for that.
func (s *sampler) draw() []int {
	n := len(s.order)
	if s.size == n {
		return s.order
	}
	if !s.shuffle || s.at+s.size > n {
		s.at = 0
	}
	drawn := s.order[s.at : s.at+s.size]
	for i := s.at; i < s.at+s.size; i++ {
		j := i + below(s.next, n-i)
		s.order[i], s.order[j] = s.order[j], s.order[i]
	}
	s.at += s.size
	return drawn
}
