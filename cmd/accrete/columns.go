package main

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// columnReport describes an input column of a file.
type columnReport struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // empty if it had no value
	Missing  int64  `json:"missing"`
	Distinct int    `json:"distinct"` // in the first distinctRows rows
	Becomes  string `json:"becomes"`  // what the model sees of it
}

// distinctRows is the number of rows in which the distinct values are counted.
const distinctRows = 10_000

// columnTally counts the values of the columns of a file.
type columnTally struct {
	rows    int
	columns []valueCount
}

type valueCount struct {
	missing  int64
	distinct map[float64]struct{}
}

func (t *columnTally) add(x []float64) {
	if t.columns == nil {
		t.columns = make([]valueCount, len(x))
		for j := range t.columns {
			t.columns[j].distinct = map[float64]struct{}{}
		}
	}
	t.rows++
	for j, v := range x {
		c := &t.columns[j]
		if math.IsNaN(v) {
			c.missing++
		} else if t.rows <= distinctRows {
			c.distinct[v] = struct{}{}
		}
	}
}

// report describes the columns; nil if all are numeric and have no missing values.
func (t *columnTally) report(schema *decode.Schema, seen []learner.Column) []columnReport {
	plain := schema.Types == nil
	all := make([]columnReport, 0, len(schema.Columns))
	for j, name := range schema.Columns {
		if j >= len(t.columns) {
			return nil
		}
		c := columnReport{Name: name, Type: learner.NumericColumn.String(), Missing: t.columns[j].missing, Distinct: len(t.columns[j].distinct), Becomes: "number"}
		if schema.Types != nil {
			c.Type = schema.Types[j]
		}
		if j < len(seen) {
			c.Becomes = seen[j].Becomes
		}
		plain = plain && c.Missing == 0
		all = append(all, c)
	}
	if plain {
		return nil
	}
	return all
}

// columnsText returns a line for each column.
func columnsText(all []columnReport) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\ttype\tmissing\tdistinct\tbecomes")
	for _, c := range all {
		typ := c.Type
		if typ == "" {
			typ = "unknown"
		}
		fmt.Fprintf(w, "%.40s\t%s\t%s\t%s\t%s\n", c.Name, typ, display.Thousands(c.Missing), display.Thousands(int64(c.Distinct)), c.Becomes)
	}
	w.Flush()
	return b.String()
}
