package optim

import (
	"math/bits"
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/vec"
)

// A sampler draws subsets, uniformly and without replacement.
type sampler struct {
	order []int // a permutation
	size  int
	at    int // where in order the next subset starts
	// shuffle uses up a permutation before the next one begins, so that a subset depends on those
	// before it.
	shuffle   bool
	generator *rand.ChaCha8
}

// newSampler returns a sampler whose subsets are a function of its arguments.
func newSampler(purpose string, seed uint64, n, size int) *sampler {
	s := &sampler{order: make([]int, n), size: size, generator: rand.NewChaCha8(vec.Key(purpose, seed, 0))}
	for i := range s.order {
		s.order[i] = i
	}
	return s
}

// draw returns a subset, which is valid until the next draw. If size is that of the whole set, the
// subset is everything, in order.
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
		j := i + uniformInt(s.generator, n-i)
		s.order[i], s.order[j] = s.order[j], s.order[i]
	}
	s.at += s.size
	return drawn
}

// uniformInt returns a number from 0 up to but not including n. Its distribution differs from the
// uniform one by at most n 2⁻⁶⁴.
func uniformInt(generator *rand.ChaCha8, n int) int {
	hi, _ := bits.Mul64(generator.Uint64(), uint64(n))
	return int(hi)
}
