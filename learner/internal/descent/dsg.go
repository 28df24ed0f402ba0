package descent

// DSG grows the model by one block a step (Dai et al. 2014, algorithm 1). A
// model that may not grow any further changes all of its blocks at once
// instead, which converges like new ones: each block is an unbiased estimate of
// the kernel, and their mean a better one.
type DSG struct{}

func (DSG) Choose(s *Situation) (from, to int, rate float64) {
	if s.Blocks < s.Most {
		return s.Blocks, s.Blocks + 1, s.Rate
	}
	return 0, s.Blocks, s.Rate
}

func (DSG) String() string { return "dsg" }

// All changes all blocks at once, and takes a new one among them while it may.
// If Fixed, it takes all of them at the first step: that is a linear model on
// random features that do not grow, the yardstick of what growing is good for.
type All struct{ Fixed bool }

func (a All) Choose(s *Situation) (from, to int, rate float64) {
	if a.Fixed {
		return 0, s.Most, s.Rate
	}
	return 0, min(s.Blocks+1, s.Most), s.Rate
}

func (a All) String() string {
	if a.Fixed {
		return "fixed"
	}
	return "all"
}

// Help implements Rule.
func (DSG) Help() string {
	return "doubly stochastic gradients (Dai et al. 2014): a new block at each step"
}

// Help implements Rule.
func (a All) Help() string {
	if a.Fixed {
		return "gradient descent on random features that never grow: a linear model, for comparison"
	}
	return "gradient descent in all blocks at once, of which there is one more after each step"
}
