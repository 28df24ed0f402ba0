package compare

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
)

// Report is the comparison of two files.
type Report struct {
	Rows      int      `json:"rows"`
	Reference int      `json:"reference_rows"`
	KL        float64  `json:"kl"`
	Pearson   float64  `json:"pearson"`
	Relative  float64  `json:"relative_pearson"`
	P         float64  `json:"p"`
	Columns   []Column `json:"columns"` // the one that differs most first
}

// Column is the comparison of the values of one column.
type Column struct {
	Name     string  `json:"name"`
	Distance float64 `json:"distance"` // between the distribution functions
	P        float64 `json:"p"`
}

// String returns the comparison as text, with the columns that differ most.
func (r Report) String() string {
	const most = 10
	var b strings.Builder
	fmt.Fprintf(&b, "%s against %s: KL %.4f nats, Pearson %.4f, relative %.4f\n", display.Count(int64(r.Rows), "row"), display.Count(int64(r.Reference), "row"), r.KL, r.Pearson, r.Relative)
	fmt.Fprintf(&b, "two-sample test: p = %.3f", r.P)
	for _, c := range r.Columns[:min(most, len(r.Columns))] {
		fmt.Fprintf(&b, "\n%-20s distance %.3f, p = %.2g", c.Name, c.Distance, c.P)
	}
	if n := len(r.Columns) - most; n > 0 {
		fmt.Fprintf(&b, "\nand %s that differ less", display.Count(int64(n), "column"))
	}
	return b.String()
}

// ShiftReport is the comparison of the rows of a stream with its first rows.
type ShiftReport struct {
	Rows   int64        `json:"rows"`
	Alarms []shiftAlarm `json:"alarms"`
	Last   float64      `json:"last"` // distance of the last 500 rows, relative to the threshold of an alarm
}

type shiftAlarm struct {
	Row      int64   `json:"row"`
	Distance float64 `json:"distance"`
	// Columns have moved, the one that moved most first. There are none if only the dependence
	// between columns has changed.
	Columns []string `json:"columns"`
}

func (r ShiftReport) String() string {
	var b strings.Builder
	for _, a := range r.Alarms {
		what := "the dependence of the columns"
		if len(a.Columns) > 0 {
			what = strings.Join(a.Columns, ", ")
		}
		fmt.Fprintf(&b, "row %s: the inputs have changed (%.1f times the threshold): %s\n", display.Thousands(a.Row), a.Distance, what)
	}
	fmt.Fprintf(&b, "%s, %s, distance of the last rows %.2f of the threshold", display.Count(r.Rows, "row"), display.Count(int64(len(r.Alarms)), "alarm"), r.Last)
	return b.String()
}
