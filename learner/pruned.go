package learner

import (
	"errors"
	"math/bits"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// ErrPruned is the error of a model that has some of its random features only.
var ErrPruned = errors.New("the model is pruned: its coefficients can be fitted again from the model that it was pruned from")

// A selection is the random features that a pruned model has, of the first blocks of a
// map: one bit each, from the least significant bit of the first byte on.
type selection []byte

// pruned is what a model was pruned from.
type pruned struct {
	features.Map
	blocks int
	kept   selection
}

func (s selection) has(i int) bool { return s[i/8]>>(i%8)&1 == 1 }

// count returns the number of features selected.
func (s selection) count() int {
	n := 0
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return n
}

func (s selection) all(features int) []bool {
	selected := make([]bool, features)
	for i := range selected {
		selected[i] = s.has(i)
	}
	return selected
}

// Pruned returns m without the random features whose coefficients are all 0. It predicts
// and is saved in proportion to those that are left. It returns m itself if that has no
// such features, or features that are made together: see features.Map.AllowsSelection.
func (m *Model) Pruned() (*Model, error) {
	if m.bank == nil || m.pruned != nil || !m.bank.Map().AllowsSelection() {
		return m, nil
	}
	per := 2 * m.head.Scores()
	kept, coef := make(selection, (len(m.coef)/per+7)/8), []float32(nil)
	for i := range len(m.coef) / per {
		for _, c := range m.coef[i*per : (i+1)*per] {
			if c != 0 {
				kept[i/8] |= 1 << (i % 8)
				coef = append(coef, m.coef[i*per:(i+1)*per]...)
				break
			}
		}
	}
	if len(coef) == len(m.coef) {
		return m, nil
	}
	v := m.serving()
	v.kept, v.Coef = kept, coef
	var a state.Arrays
	v.save(&a)
	return NewModel(a)
}

// RandomFeatures returns the number of random features that m predicts with.
func (m *Model) RandomFeatures() int {
	if m.bank == nil {
		return 0
	}
	return m.bank.Blocks() * m.bank.Map().BlockSize
}

// loadSelection reads the selection of a pruned model, and returns nil if s has none.
func (v *serving) loadSelection(s *state.Reader) {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "kept" {
		return
	}
	v.kept = state.TakeRow[byte](s, "kept")
	if s.Err != nil {
		return
	}
	n := v.Blocks * v.config.BlockSize
	s.Require(len(v.kept) > 0 && len(v.kept) == (n+7)/8 && (n%8 == 0 || v.kept[n/8]>>(n%8) == 0), "a selection of %d bytes for %d random features", len(v.kept), n)
	s.Require(v.fit != nil && v.featureMap().AllowsSelection(), "a selection of random features that are made together")
}

// featureMap returns the map of the features, of which a pruned model has a selection.
func (v *serving) featureMap() features.Map {
	m := v.config.options().FeatureMap(v.fit.Width(v.dim))
	m.Kernel, m.Second = v.fit.Kernel, v.fit.Second
	return m
}

// served returns the number of random features with coefficients.
func (v *serving) served() int {
	if v.kept != nil {
		return v.kept.count()
	}
	return v.Blocks * v.config.BlockSize
}
