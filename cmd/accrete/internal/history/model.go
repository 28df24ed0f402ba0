package history

import (
	"cmp"
	"fmt"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// model describes what a snapshot holds, for inspect.
type model struct {
	columns []inputs.Column

	Columns []inputs.Column `json:"columns,omitempty"` // unless all are numbers
	Inputs  *inputs.Changes `json:"inputs,omitempty"`  // null without a monitor
	Mixture *float64        `json:"mixture,omitempty"` // share of the algorithm in the mixture of a scorer
}

// newModel describes s, which may be nil.
func newModel(s *snapshot.Snapshot) (*model, error) {
	columns, err := inputs.OfModel(s)
	changes, err2 := inputs.ChangesOf(s)
	m := &model{columns: columns, Columns: inputs.Typed(columns), Inputs: changes}
	if s != nil {
		if share, ok := learner.MixtureShare(s.State.Serving); ok {
			m.Mixture = &share
		}
	}
	return m, cmp.Or(err, err2)
}

func (m *model) String() string {
	text := inputs.ModelText(m.columns) + m.Inputs.Line()
	if m.Mixture != nil {
		text = fmt.Sprintf("mixture      a scorer has the algorithm with the share %.2f, linear members with the rest\n", *m.Mixture) + text
	}
	return text
}
