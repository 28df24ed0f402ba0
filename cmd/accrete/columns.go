package main

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// columnReport describes an input column of a file.
type columnReport struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // empty if it had no value
	Missing  int64  `json:"missing"`
	Distinct int    `json:"distinct"` // up to mostDistinct
	Becomes  string `json:"becomes"`  // what the model sees of it
}

// mostDistinct is the number of distinct values that are counted of a column.
const mostDistinct = 10_000

// columnTally counts the values of the columns of a file.
type columnTally []struct {
	missing  int64
	distinct map[float64]struct{}
}

func (t *columnTally) add(x []float64) {
	if *t == nil {
		*t = make(columnTally, len(x))
		for j := range *t {
			(*t)[j].distinct = map[float64]struct{}{}
		}
	}
	for j, v := range x {
		c := &(*t)[j]
		if math.IsNaN(v) {
			c.missing++
		} else if len(c.distinct) < mostDistinct {
			c.distinct[v] = struct{}{}
		}
	}
}

// report describes the columns; nil if all are numeric and have no missing values.
func (t columnTally) report(schema *decode.Schema, seen []learner.Column) []columnReport {
	plain := schema.Types == nil
	all := make([]columnReport, 0, len(schema.Columns))
	for j, name := range schema.Columns {
		if j >= len(t) {
			return nil
		}
		c := columnReport{Name: name, Type: learner.NumericColumn.String(), Missing: t[j].missing, Distinct: len(t[j].distinct), Becomes: "number"}
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
		distinct := thousands(int64(c.Distinct))
		if c.Distinct == mostDistinct {
			distinct += "+"
		}
		typ := c.Type
		if typ == "" {
			typ = "unknown"
		}
		fmt.Fprintf(w, "%.40s\t%s\t%s\t%s\t%s\n", c.Name, typ, thousands(c.Missing), distinct, c.Becomes)
	}
	w.Flush()
	return b.String()
}
