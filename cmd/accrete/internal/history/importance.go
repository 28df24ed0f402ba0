package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// importance is how much a column matters, see learner.Model.Importance.
type importance struct {
	Name  string  `json:"name"`
	Index float64 `json:"total_effect"`
}

// importanceOf returns the importances of the input fields of a snapshot, the largest first.
func importanceOf(s *snapshot.Snapshot) ([]importance, error) {
	if s == nil {
		return nil, exit.Refuse(errors.New("there is no snapshot yet"))
	}
	m, err := learner.NewModel(s.State.Serving)
	if err != nil {
		return nil, exit.Refuse(err)
	}
	schema, err := record.ReadSchema(s.Schema)
	if err != nil {
		return nil, exit.Refuse(err)
	}
	if err := record.CheckModel(m, decode.Config{}, &schema); err != nil {
		return nil, exit.Refuse(fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err))
	}
	indices, err := inputs.Importances(&schema, m)
	if err != nil {
		return nil, exit.Refuse(err)
	}
	all := make([]importance, len(indices))
	for i, f := range schema.Fields() {
		all[i] = importance{f.Name, indices[i]}
	}
	slices.SortStableFunc(all, func(a, b importance) int { return cmp.Compare(b.Index, a.Index) })
	return all, nil
}

func importanceText(all []importance) string {
	var b strings.Builder
	for _, v := range all {
		fmt.Fprintf(&b, "importance   %.3f  %s\n", v.Index, v.Name)
	}
	return b.String()
}
