package serving

import (
	"math/bits"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/machine"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// A Selection says which random features of the first blocks of a map a pruned model has: one bit
// for each, starting with the least significant bit of the first byte.
type Selection []byte

func (s Selection) has(i int) bool { return s[i/8]>>(i%8)&1 == 1 }

// count returns the number of features selected.
func (s Selection) count() int {
	n := 0
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return n
}

func (s Selection) all(features int) []bool {
	selected := make([]bool, features)
	for i := range selected {
		selected[i] = s.has(i)
	}
	return selected
}

// loadSelection reads the selection of a pruned model. It does nothing if the model is not pruned.
func (v *Part) loadSelection(s *state.Reader) {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "kept" {
		return
	}
	v.Kept = state.TakeRow[byte](s, "kept")
	if s.Err != nil {
		return
	}
	n := v.Blocks * v.BlockSize
	s.Require(len(v.Kept) > 0 && len(v.Kept) == (n+7)/8 && (n%8 == 0 || v.Kept[n/8]>>(n%8) == 0), "a selection of %d bytes for %d random features", len(v.Kept), n)
	s.Require(v.Fit != nil && v.FeatureMap().AllowsSelection(), "a selection of random features that are made together")
}

// FeatureMap returns the map of the features. A pruned model has only a selection of them.
func (v *Part) FeatureMap() features.Map {
	m := v.options().FeatureMap(v.Fit.Width(v.Dim))
	m.Kernel, m.Second, m.Leverage = v.Fit.Kernel, v.Fit.Second, v.Fit.Leverage
	return m
}

// served returns the number of random features with coefficients.
func (v *Part) served() int {
	if v.Kept != nil {
		return v.Kept.count()
	}
	return v.Blocks * v.BlockSize
}

// options returns the options of the features.
func (v *Part) options() engine.Options {
	return engine.Options{BlockSize: v.BlockSize, Seed: v.Seed, Sampling: v.Sampling}
}

// MachineBank returns the random features of the machines in the mixture, nil if there are none. It
// returns before if that has the same blocks.
func (v *Part) MachineBank(before *features.Bank) *features.Bank {
	if v.Fit == nil || v.Mixture == nil {
		return nil
	}
	o := v.options()
	o.BlockSize = machine.BlockSize(o.BlockSize)
	n := v.Mixture.Blocks(o.BlockSize)
	if n == 0 {
		return nil
	}
	return grown(v.Fit.Bank(o.FeatureMap(v.Fit.Width(v.Dim))), n, before)
}

// Bank returns the random features with coefficients, nil before the first fit. It returns before
// if that has the same blocks, unless the model is pruned.
func (v *Part) Bank(before *features.Bank) *features.Bank {
	if v.Fit == nil {
		return nil
	}
	if v.Kept != nil {
		m := v.FeatureMap()
		return features.NewSelection(m, v.Kept.all(v.Blocks*v.BlockSize))
	}
	return grown(v.Fit.Bank(v.options().FeatureMap(v.Fit.Width(v.Dim))), v.Blocks, before)
}

// grown adds a number of blocks to b, which is empty, and returns it. If before already has the
// same blocks, it returns before instead.
func grown(b *features.Bank, blocks int, before *features.Bank) *features.Bank {
	if before != nil && before.Blocks() == blocks && before.Map().Equal(b.Map()) {
		return before
	}
	b.Grow(blocks)
	return b
}
