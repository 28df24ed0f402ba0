package history

import (
	"cmp"
	"fmt"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// description is what a snapshot holds, for inspect.
type description struct {
	columns []inputs.Column

	Columns  []inputs.Column `json:"columns,omitempty"`  // empty if all are numbers
	Inputs   *inputs.Changes `json:"inputs,omitempty"`   // null without a monitor
	Capacity *capacity       `json:"capacity,omitempty"` // null before the first snapshot
	Mixture  *float64        `json:"mixture,omitempty"`  // share of the algorithm in the mixture of a scorer

	Importance []importance `json:"importance,omitempty"` // with --importance, the largest first
}

// capacity is how many random features a model has, and how many it can have.
type capacity struct {
	Features int `json:"features"`
	learner.Cap
	Reached bool `json:"reached"` // the maximum
}

// newCapacity returns the capacity of s, or nil if the options of s are not those of a learner;
// inspect shows these options as they are.
func newCapacity(s *snapshot.Snapshot) (*capacity, error) {
	features, err := learner.ServedFeatures(s.State.Serving)
	if err != nil {
		return nil, err
	}
	c, err := record.ReadLearner(s.Config)
	if err != nil || c.Cap() == (learner.Cap{}) {
		return nil, nil
	}
	limit, err := c.CapOf(s.State.Serving)
	if err != nil {
		return nil, err
	}
	of := &capacity{Features: features, Cap: limit}
	of.Reached = of.MaxFeatures > 0 && features >= of.MaxFeatures
	return of, nil
}

func (s *capacity) String() string {
	text := fmt.Sprintf("features     %s of at most %s", display.Thousands(int64(s.Features)), display.Thousands(int64(s.MaxFeatures)))
	if s.Memory > 0 {
		text += fmt.Sprintf(" in %v of memory", config.Size(s.Memory))
	}
	if s.Reached && s.AtCap != "fixed" {
		text += ": " + s.Does()
	}
	return text + "\n"
}

// newModel describes s, which may be nil.
func newModel(s *snapshot.Snapshot) (*description, error) {
	columns, err := inputs.OfModel(s)
	changes, err2 := inputs.ChangesOf(s)
	m := &description{columns: columns, Columns: inputs.Typed(columns), Inputs: changes}
	if s != nil {
		var err3 error
		if m.Capacity, err3 = newCapacity(s); err3 != nil {
			return m, cmp.Or(err, err2, err3)
		}
		if share, ok := learner.MixtureShare(s.State.Serving); ok {
			m.Mixture = &share
		}
	}
	return m, cmp.Or(err, err2)
}

func (m *description) String() string {
	text := inputs.ModelText(m.columns) + m.Inputs.Line()
	if m.Capacity != nil {
		text = m.Capacity.String() + text
	}
	text += importanceText(m.Importance)
	if m.Mixture != nil {
		text = fmt.Sprintf("mixture      of scorers: a sum of the scores of its members, that of the algorithm times %.2f\n", *m.Mixture) + text
	}
	return text
}
