package history

import (
	"cmp"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/snapshot"
)

// model describes what a snapshot holds, for inspect.
type model struct {
	columns []inputs.Column

	Columns []inputs.Column `json:"columns,omitempty"` // unless all are numbers
	Inputs  *inputs.Changes `json:"inputs,omitempty"`  // null without a monitor
}

// newModel describes s, which may be nil.
func newModel(s *snapshot.Snapshot) (*model, error) {
	columns, err := inputs.OfModel(s)
	changes, err2 := inputs.ChangesOf(s)
	return &model{columns: columns, Columns: inputs.Typed(columns), Inputs: changes}, cmp.Or(err, err2)
}

func (m *model) String() string { return inputs.ModelText(m.columns) + m.Inputs.Line() }
