package serve

import (
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/learner"
)

// ErrTooWide is the error for a model whose importances would take too long.
var ErrTooWide = errors.New("the model has too many columns")

// mostWork bounds the multiplications of Served.Importance: about one second of a core.
const mostWork = 1e10

// Importance returns how much each column matters for the scores: see
// learner.Model.Importance. The error is learner.ErrUnexplained for a model that has made no
// fit yet, and ErrTooWide for one with several hundred columns.
func (s *Served) Importance() ([]float64, error) {
	d := float64(s.model.Dim())
	if work := learner.LeastImportanceRows * d * d * float64(s.model.RandomFeatures()); work > mostWork {
		return nil, fmt.Errorf("%w, %v, for a page: use accrete inspect --importance", ErrTooWide, d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model.Importance()
}
