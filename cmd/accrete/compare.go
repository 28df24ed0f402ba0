package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/divergence"
)

type compareCommand struct {
	jsonFlag
	File      string `arg:"" help:"File of rows: CSV with a header, LIBSVM, or JSON lines; plain or .gz; - for standard input."`
	Reference string `arg:"" optional:"" help:"File of rows to compare with. Without it, the rows of the first file are compared with its first 2,000, 500 at a time."`
	Label     string `placeholder:"COLUMN" help:"Column that is no input (default: y or label)."`
	Rows      int    `default:"5000" help:"Maximum number of rows of each of two files, the first ones (${default})."`
}

func (compareCommand) Help() string {
	return `Compares the inputs of two files, or of earlier and later rows of one file, without labels. For two files it prints the Kullback-Leibler divergence in nats, the Pearson divergence and its relative form, the p-value of a two-sample test, and the columns whose distributions differ. For one file it prints an alarm where the inputs have changed. The p-value of the two-sample test is at least 1/200. A category is compared by a hash of its values.`
}

func (compareCommand) Examples() string {
	return `
accrete compare today.csv.gz yesterday.csv.gz
accrete compare stream.csv --json`
}

// compareReport is the comparison of two files.
type compareReport struct {
	Rows      int             `json:"rows"`
	Reference int             `json:"reference_rows"`
	KL        float64         `json:"kl"`
	Pearson   float64         `json:"pearson"`
	Relative  float64         `json:"relative_pearson"`
	P         float64         `json:"p"`
	Columns   []compareColumn `json:"columns"` // the one that differs most first
}

type compareColumn struct {
	Name     string  `json:"name"`
	Distance float64 `json:"distance"` // between the distribution functions
	P        float64 `json:"p"`
}

// shiftReport is the comparison of the rows of a stream with its first rows.
type shiftReport struct {
	Rows   int64        `json:"rows"`
	Alarms []shiftAlarm `json:"alarms"`
	Last   float64      `json:"last"` // distance of the last 500 rows, relative to that of an alarm
}

type shiftAlarm struct {
	Row      int64    `json:"row"`
	Distance float64  `json:"distance"`
	Columns  []string `json:"columns"` // that have moved, the one that moved most first; none if only their dependence did
}

func (c *compareCommand) Run(ctx context.Context, e *env) error {
	if c.Rows < divergence.MinRows {
		return exit.Usage("--rows %d: want at least %d", c.Rows, divergence.MinRows)
	}
	if c.Reference == "" {
		return c.watch(ctx, e)
	}
	options := decode.Config{Label: c.Label, Task: learner.Novelty, Missing: "impute", Infer: true, Depth: decode.MaxDepth}
	q, schema, err := c.read(ctx, e, c.Reference, options, decode.Schema{})
	if err != nil {
		return err
	}
	p, schema, err := c.read(ctx, e, c.File, options, *schema)
	if err != nil {
		return err
	}
	dim := len(schema.Columns)
	d, err := divergence.Compare(p, q, dim)
	if err != nil {
		return exit.Usage("%w", err)
	}
	r := compareReport{Rows: len(p) / dim, Reference: len(q) / dim, KL: d.KL, Pearson: d.Direct, Relative: d.Relative, P: d.P}
	for j, one := range d.Columns {
		r.Columns = append(r.Columns, compareColumn{schema.Columns[j], one.Distance, one.P})
	}
	slices.SortStableFunc(r.Columns, func(a, b compareColumn) int {
		switch {
		case a.Distance > b.Distance:
			return -1
		case a.Distance < b.Distance:
			return 1
		}
		return 0
	})
	return e.print(c.JSON, r.String(), r)
}

// read returns the values of the first rows of a file.
func (c *compareCommand) read(ctx context.Context, e *env, path string, options decode.Config, s decode.Schema) (x []float64, schema *decode.Schema, err error) {
	file, err := openFile(ctx, e, path, options, s)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	for n := 0; n < c.Rows; n++ {
		row, err := file.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if x == nil {
			x = make([]float64, 0, min(c.Rows, 1<<16)*len(row.X))
		}
		x = append(x, row.X...)
	}
	if len(x) == 0 {
		return nil, nil, fmt.Errorf("%s has no rows", path)
	}
	return x, file.Schema(), nil
}

// watch compares the rows of one file with its first ones.
func (c *compareCommand) watch(ctx context.Context, e *env) error {
	options := decode.Config{Label: c.Label, Task: learner.Novelty, Missing: "impute", Infer: true, Depth: decode.MaxDepth}
	file, err := openFile(ctx, e, c.File, options, decode.Schema{})
	if err != nil {
		return err
	}
	defer file.Close()
	var m *divergence.Monitor
	r := shiftReport{Alarms: []shiftAlarm{}}
	for ctx.Err() == nil {
		row, err := file.Next()
		if errors.Is(err, io.EOF) {
			return e.print(c.JSON, r.String(), r)
		}
		if err != nil {
			return err
		}
		if m == nil {
			m = divergence.NewMonitor(len(row.X), divergence.BlockRows)
		}
		r.Rows++
		_, s := m.Add(row.X)
		if s == nil {
			continue
		}
		if r.Last = s.Distance; s.Alarm {
			a := shiftAlarm{Row: r.Rows, Distance: s.Distance, Columns: []string{}}
			for _, j := range s.Moved() {
				a.Columns = append(a.Columns, file.Schema().Columns[j])
			}
			r.Alarms = append(r.Alarms, a)
		}
	}
	return ctx.Err()
}

// String lists at most that many columns.
func (r compareReport) String() string {
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

func (r shiftReport) String() string {
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
