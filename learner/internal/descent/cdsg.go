package descent

import (
	"cmp"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// CDSG takes a step in an existing block if that is as good as a new one, because it
// undoes earlier steps there, and in a new block otherwise (Li and Póczos 2016,
// algorithm 4). The criterion is the variance of the function that comes from its
// random features. The paper's test, equation 9, judges a block by its trace and not
// by its features; with Alpha the test compares coefficients and their gradients, which
// distinguishes blocks better if there are many classes, and takes longer.
type CDSG struct {
	Alpha bool
	Cap   float64 // largest step size, as a multiple of that of a new block; 0 selects defaultCap
}

const (
	// featureVariance bounds the variance of the product of a feature at two points,
	// for features of norm 1 (Li and Póczos 2016, equation 9).
	featureVariance = 2

	// defaultCap is the default of CDSG.Cap. Chosen by trial, see docs/constants.md.
	defaultCap = 2

	// tolerance allows for the rounding of step sizes that are equal.
	tolerance = 1e-9
)

func (c CDSG) Choose(s *Situation) (from, to int, rate float64) {
	if s.Newton && !c.Alpha {
		return c.steepest(s)
	}
	lengths := make([]float64, s.Blocks)
	if c.Alpha {
		c.sloped(lengths, s)
	} else {
		c.traced(lengths, s)
	}
	k, rate := -1, 0.0
	for block, length := range lengths {
		if k < 0 || length > rate {
			k, rate = block, length
		}
	}
	switch admissible := k >= 0 && rate > s.Rate*(1+tolerance); {
	case !admissible && s.Blocks < s.MaxBlocks:
		return s.Blocks, s.Blocks + 1, s.Rate
	case !admissible: // no block is better than another
		return s.atCap(anyBlock, s.Rate)
	}
	rate = max(s.Rate, min(rate, cmp.Or(c.Cap, defaultCap)*s.Rate, s.Ceiling))
	if s.Blocks == s.MaxBlocks {
		return s.atCap(k, rate)
	}
	return k, k + 1, rate
}

// steepest is the rule for Newton steps, for which equation 9 is no bound. The descent that a new
// block allows and that of the steepest existing block differ by only a few percent, in either
// direction. So some steps are in that block (Nutini et al. 2015): every other one if a step there
// may be longer than in a new block, up to a whole Newton step, because the curvature is less than
// its bound; otherwise every fourth.
func (c CDSG) steepest(s *Situation) (from, to int, rate float64) {
	rate = max(s.Rate, min(cmp.Or(c.Cap, defaultCap)*s.Rate, s.Ceiling))
	interval := int64(4)
	if rate > s.Rate {
		interval = 2
	}
	if s.Blocks == 0 || s.Step%interval != 0 && s.Blocks < s.MaxBlocks {
		return s.Blocks, s.Blocks + 1, s.Rate
	}
	if s.Blocks == s.MaxBlocks && s.AtCap != capRevisit {
		return s.atCap(anyBlock, rate)
	}
	_, squares := s.Slopes()
	k := 0
	for b, g := range squares {
		if g > squares[k] {
			k = b
		}
	}
	return k, k + 1, rate
}

// traced sets dst to the longest step that equation 9 allows in each block, or 0 if it
// allows none.
func (c CDSG) traced(dst []float64, s *Situation) {
	n := len(s.Mean)
	noise := s.Squares * featureVariance / (float64(s.Rows) * float64(s.Rows))
	for k := range dst {
		dst[k] = longestStep(s.Traces[k*n:(k+1)*n], s.Mean, s.Rate, noise)
	}
}

// longestStep returns the largest h with 2‖trace - h·mean‖² + 2h²·noise ≤ ‖trace‖² +
// rate²‖mean‖², or 0 if there is none.
func longestStep(trace, mean []float64, rate, noise float64) float64 {
	squares := vec.Dot(mean, mean)
	a, c := squares+noise, vec.Dot(trace, mean)
	d := float64(c*c) - float64(a*(vec.Dot(trace, trace)-float64(float64(rate*rate)*squares))/2)
	if d < 0 || a == 0 {
		return 0
	}
	return max(0, (c+math.Sqrt(d))/a)
}

// sloped sets dst to the longest step in each block that does not make the norm of its coefficients
// greater than they would be together with those of a new block, after a step of s.Rate there.
func (c CDSG) sloped(dst []float64, s *Situation) {
	products, squares := s.Slopes()
	mean := 0.0
	for _, g := range squares {
		mean += g / float64(len(squares))
	}
	for k, p := range products {
		if g := squares[k]; g > 0 {
			dst[k] = (p + math.Sqrt(float64(p*p)+float64(g*(float64(s.Rate*s.Rate)*mean)))) / g
		}
	}
}

// Traces implements Tracer.
func (CDSG) Traces() {}

func (c CDSG) String() string {
	if c.Alpha {
		return "cdsg:alpha"
	}
	return "cdsg"
}

// Help implements Rule.
func (c CDSG) Help() string {
	if c.Alpha {
		return "cdsg that compares blocks by their coefficients; for many classes"
	}
	return "dsg with steps in existing blocks as well, where they undo earlier steps (Li and Póczos 2016); needs fewer features"
}
