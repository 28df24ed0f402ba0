package descent

import (
	"math/rand/v2"

	"github.com/accrete-ml/accrete/internal/vec"
)

// DSG adds a block per step (Dai et al. 2014, algorithm 1). A model that may not grow
// any further takes a step in an existing block instead, drawn at random, as the code
// published by the authors does, or in all blocks at once: each is an unbiased estimate
// of the kernel, and their mean a better one.
type DSG struct{}

func (DSG) Choose(s *Situation) (from, to int, rate float64) {
	if s.Blocks < s.MaxBlocks {
		return s.Blocks, s.Blocks + 1, s.Rate
	}
	return s.atCap(anyBlock, s.Rate)
}

// anyBlock stands for an existing block that is drawn at random.
const anyBlock = -1

// atCap returns the step of a model that may not grow any further: the configured one or, by
// default, a step in the given block.
func (s *Situation) atCap(block int, rate float64) (from, to int, _ float64) {
	switch s.AtCap {
	case capAll:
		return 0, s.Blocks, s.Rate
	case capStop:
		return 0, 0, 0
	}
	if block == anyBlock {
		block = s.random()
	}
	return block, block + 1, rate
}

// random draws an existing block. The purpose of the key, "udsg", is part of the format: it decides
// which blocks are drawn.
func (s *Situation) random() int {
	return int(rand.NewChaCha8(vec.Key("udsg", s.Seed, uint64(s.Step))).Uint64() % uint64(s.Blocks))
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
