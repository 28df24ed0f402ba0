package serve

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// Importance is how much an input field matters for the scores of a model.
type Importance struct {
	Name  string  `json:"name"`
	Index float64 `json:"total_effect"` // see learner.Model.Importance
}

// ErrTooWide is the error for a model whose importances would take too long.
var ErrTooWide = errors.New("the model has too many columns")

// mostWork bounds the multiplications of Served.Importance: about one second of a core.
const mostWork = 1e10

// Importance returns the importances of the input fields, the largest first. The error is
// learner.ErrUnexplained for a model that has made no fit yet, and ErrTooWide for one with
// several hundred columns.
func (s *Served) Importance() ([]Importance, error) {
	d := float64(s.model.Dim())
	if work := 256 * (d + 1) * d * float64(s.model.RandomFeatures()); work > mostWork {
		return nil, fmt.Errorf("%w, %v, for a page: use accrete inspect --importance", ErrTooWide, d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return ImportanceOf(&s.Schema, s.model)
}

// ImportanceOf returns the importances of the input fields of a model with this schema, the
// largest first. It must not be called while m is used.
func ImportanceOf(schema *decode.Schema, m *learner.Model) ([]Importance, error) {
	indices, err := m.Importance()
	if err != nil {
		return nil, err
	}
	fields := schema.Fields()
	all := make([]Importance, len(fields))
	for i, f := range fields {
		to := len(indices) // columns of a text, and the key of a time, belong to the field before them
		if i+1 < len(fields) {
			to = fields[i+1].At
		}
		all[i].Name = f.Name
		for _, v := range indices[f.At:to] {
			all[i].Index += v
		}
	}
	slices.SortStableFunc(all, func(a, b Importance) int { return cmp.Compare(b.Index, a.Index) })
	return all, nil
}
