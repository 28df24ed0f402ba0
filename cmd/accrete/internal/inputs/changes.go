package inputs

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// Changes is what the monitor of the inputs has found.
type Changes struct {
	learner.Inputs
	Columns []string `json:"columns"` // columns that had moved at the last alarm
}

// NewChanges adds the names of columns to what the monitor has found. It returns nil if there is no
// monitor.
func NewChanges(in *learner.Inputs, columns []string) *Changes {
	if in == nil {
		return nil
	}
	c := &Changes{Inputs: *in, Columns: []string{}}
	for _, j := range in.Moved {
		if j < len(columns) {
			c.Columns = append(c.Columns, columns[j])
		}
	}
	return c
}

// ChangesOf returns the changes that the monitor of the model in s has found. It returns nil if s
// is nil or has no monitor.
func ChangesOf(s *snapshot.Snapshot) (*Changes, error) {
	if s == nil {
		return nil, nil
	}
	in, err := learner.SavedInputs(s.State.Resuming)
	if in == nil || err != nil {
		return nil, err
	}
	schema, err := record.ReadSchema(s.Schema)
	if err != nil {
		return nil, err
	}
	return NewChanges(in, schema.Columns), nil
}

// Line describes the last comparison and the last alarm. It is empty without a comparison.
func (c *Changes) Line() string {
	if c == nil || c.Compared == 0 {
		return ""
	}
	text := fmt.Sprintf("inputs       distance of the last rows %.2f of the threshold, %s\n", c.Distance, display.Count(c.Alarms, "change"))
	if c.Alarms == 0 {
		return text
	}
	what := "the dependence of the columns"
	if len(c.Columns) > 0 {
		what = strings.Join(c.Columns, ", ")
	}
	return text + fmt.Sprintf("             last one noticed at row %s, %.1f times the threshold: %s\n", display.Thousands(c.AlarmAt), c.Height, what)
}
