package serve

import (
	"errors"
	"fmt"
)

// ErrTooWide is the error for a model with too many columns: computing their importance
// would take too long.
var ErrTooWide = errors.New("the model has too many columns")

// mostColumns limits the time that Served.Importance takes to about one second of CPU time.
const mostColumns = 4096

// Importance returns how much each column matters for the scores: see
// learner.Model.Importance. The error is learner.ErrUnexplained for a model that has made no
// fit yet, and ErrTooWide for a model with more than mostColumns columns.
func (s *Served) Importance() ([]float64, error) {
	if d := s.model.Dim(); d > mostColumns {
		return nil, fmt.Errorf("%w, %d, for a page: use accrete inspect --importance", ErrTooWide, d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model.Importance()
}
