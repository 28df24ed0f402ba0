package descent

// DSG adds a block per step (Dai et al. 2014, algorithm 1). A model that may not grow
// any further takes steps in all of its blocks at once instead, which converges like
// new blocks: each is an unbiased estimate of the kernel, and their mean a better one.
type DSG struct{}

func (DSG) Choose(s *Situation) (from, to int, rate float64) {
	if s.Blocks < s.MaxBlocks {
		return s.Blocks, s.Blocks + 1, s.Rate
	}
	return 0, s.Blocks, s.Rate
}

func (DSG) String() string { return "dsg" }

// All takes a step in all blocks at once, and adds a new one while it may. If Fixed,
// it adds all blocks at the first step: a linear model on random features that do not
// grow, the baseline that growing is compared with.
type All struct{ Fixed bool }

func (a All) Choose(s *Situation) (from, to int, rate float64) {
	if a.Fixed {
		return 0, s.MaxBlocks, s.Rate
	}
	return 0, min(s.Blocks+1, s.MaxBlocks), s.Rate
}

func (a All) String() string {
	if a.Fixed {
		return "fixed"
	}
	return "all"
}

// Help implements Rule.
func (DSG) Help() string {
	return "doubly stochastic gradients (Dai et al. 2014), one block of new random features per mini-batch"
}

// Help implements Rule.
func (a All) Help() string {
	if a.Fixed {
		return "a step in every block per mini-batch, with all features from the start; a baseline"
	}
	return "a new block per mini-batch, and a step in every block"
}
