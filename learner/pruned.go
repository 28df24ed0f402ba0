package learner

import (
	"errors"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/serving"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// ErrPruned is the error of a model that has some of its random features only.
var ErrPruned = errors.New("the model is pruned: its coefficients can be fitted again from the model that it was pruned from")

// pruned is what a model was pruned from.
type pruned struct {
	features.Map
	blocks int
	kept   serving.Selection
}

// Pruned returns m without the random features whose coefficients are all 0. It predicts
// and is saved in proportion to those that are left. It returns m itself if that has no
// such features, or features that are made together: see features.Map.AllowsSelection.
func (m *Model) Pruned() (*Model, error) {
	if m.bank == nil || m.pruned != nil || !m.bank.Map().AllowsSelection() {
		return m, nil
	}
	per := 2 * m.head.Scores()
	kept, coef := make(serving.Selection, (len(m.coef)/per+7)/8), []float32(nil)
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
	v := m.part()
	v.Kept, v.Coef = kept, coef
	var a state.Arrays
	v.Save(&a)
	return NewModel(a)
}

// RandomFeatures returns the number of random features that m predicts with.
func (m *Model) RandomFeatures() int {
	if m.bank == nil {
		return 0
	}
	return m.bank.Blocks() * m.bank.Map().BlockSize
}
