package display

import (
	"fmt"

	"github.com/accrete-ml/accrete/internal/deviation"
	"github.com/accrete-ml/accrete/learner"
)

// Figure is the error of a model: an error rate for classes, a normalised mean
// squared error for numbers, and for novelty the share of flagged rows.
type Figure struct {
	Error    *float64  `json:"error,omitempty"`
	NMSE     *float64  `json:"nmse,omitempty"`
	Flagged  *float64  `json:"flagged,omitempty"`
	Each     []float64 `json:"nmse_each,omitempty"` // with several labels
	Examples int64     `json:"examples"`
	Classes  *Classes  `json:"classes,omitempty"` // of a classification with at least two classes

	*deviation.Figures // nil for the square loss and for classes
}

// NewFigure returns the Figure of a model with the error v over n examples.
func NewFigure(task learner.Task, v float64, n int64) Figure {
	switch task {
	case learner.Regression:
		return Figure{NMSE: &v, Examples: n}
	case learner.Novelty:
		return Figure{Flagged: &v, Examples: n}
	}
	return Figure{Error: &v, Examples: n}
}

// Progressive returns the error of predictions that were made before their
// examples were learned.
func Progressive(task learner.Task, s learner.Scores) Figure {
	f := NewFigure(task, s.Model.Error, s.Rows)
	for _, one := range s.Each {
		f.Each = append(f.Each, one.Model.Error)
	}
	return f
}

// Value returns the number that the Figure has for its task.
func (f Figure) Value() float64 {
	if f.NMSE != nil {
		return *f.NMSE
	}
	if f.Flagged != nil {
		return *f.Flagged
	}
	return *f.Error
}

func (f Figure) String() string {
	switch {
	case f.NMSE != nil && f.Figures != nil:
		return fmt.Sprintf("%s, nMSE %.4f", f.Figures.Text(), *f.NMSE)
	case f.NMSE != nil:
		return fmt.Sprintf("nMSE %.4f", *f.NMSE)
	case f.Flagged != nil:
		return fmt.Sprintf("flagged %.4f", *f.Flagged)
	case f.Error != nil:
		return fmt.Sprintf("error %.4f", *f.Error)
	}
	return "none"
}
