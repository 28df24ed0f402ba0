package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot"
)

// importanceOf returns the importances of the input fields of a snapshot, the largest first.
func importanceOf(s *snapshot.Snapshot) ([]serve.Importance, error) {
	if s == nil {
		return nil, exit.Refuse(errors.New("there is no snapshot yet"))
	}
	var schema decode.Schema
	if err := json.Unmarshal(s.Schema, &schema); err != nil {
		return nil, exit.Refuse(fmt.Errorf("schema: %w", err))
	}
	m, err := learner.NewModel(s.State.Serving)
	if err != nil {
		return nil, exit.Refuse(err)
	}
	all, err := serve.ImportanceOf(&schema, m)
	if err != nil {
		return nil, exit.Refuse(err)
	}
	return all, nil
}

func importanceText(all []serve.Importance) string {
	var b strings.Builder
	for _, v := range all {
		fmt.Fprintf(&b, "importance   %.3f  %s\n", v.Index, v.Name)
	}
	return b.String()
}
