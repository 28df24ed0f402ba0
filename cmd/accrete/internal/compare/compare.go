// Package compare is the command that compares the inputs of files.
package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/divergence"
)

// Command is accrete compare.
type Command struct {
	env.JSONFlag
	File      string `arg:"" help:"File of rows: CSV with a header, LIBSVM, Vowpal Wabbit, .npy, JSON lines, plain or .gz, Parquet or Avro; - for standard input."`
	Reference string `arg:"" optional:"" help:"File of rows to compare with. Without it, the rows of the first file are compared with its first 2,000, 500 at a time."`
	Label     string `placeholder:"COLUMN" help:"Column that is no input (default: y or label)."`
	Rows      int    `default:"5000" help:"Maximum number of rows of each of two files, the first ones (${default})."`
}

func (Command) Help() string {
	return `Compares the inputs of two files, or of earlier and later rows of one file, without labels. For two files it prints the Kullback-Leibler divergence in nats, the Pearson divergence and its relative form, the p-value of a two-sample test, and the columns whose distributions differ. For one file it prints an alarm where the inputs have changed. The p-value of the two-sample test is at least 1/200. A category is compared by a hash of its values.`
}

func (Command) Examples() string {
	return `
accrete compare today.csv.gz yesterday.csv.gz
accrete compare stream.csv --json`
}

func (c *Command) Run(ctx context.Context, e *env.Env) error {
	if c.Rows < divergence.MinRows {
		return exit.Usage("--rows is %d: want %d or more", c.Rows, divergence.MinRows)
	}
	if c.Reference == "" {
		return c.watch(ctx, e)
	}
	options := decode.Config{Label: c.Label, Task: learner.Novelty, Missing: "impute", Infer: true, Depth: decode.MaxDepth, Zones: true}
	q, schema, err := c.read(ctx, e, c.Reference, options, decode.Schema{})
	if err != nil {
		return err
	}
	p, schema, err := c.read(ctx, e, c.File, options, *schema)
	var row *decode.LineError
	if errors.As(err, &row) && strings.HasPrefix(row.Err.Reason, "unknown field ") {
		return fmt.Errorf("%w, which %s does not have: compare files of the same columns", err, c.Reference)
	}
	if err != nil {
		return err
	}
	dim := len(schema.Columns)
	d, err := divergence.Compare(p, q, dim)
	if err != nil {
		return exit.Usage("%w", err)
	}
	r := Report{Rows: len(p) / dim, Reference: len(q) / dim, KL: d.KL, Pearson: d.Direct, Relative: d.Relative, P: d.P}
	for j, one := range d.Columns {
		r.Columns = append(r.Columns, Column{schema.Columns[j], one.Distance, one.P})
	}
	slices.SortStableFunc(r.Columns, func(a, b Column) int {
		switch {
		case a.Distance > b.Distance:
			return -1
		case a.Distance < b.Distance:
			return 1
		}
		return 0
	})
	return e.Print(c.JSON, r.String(), r)
}

// read returns the values of the first rows of a file.
func (c *Command) read(ctx context.Context, e *env.Env, path string, options decode.Config, s decode.Schema) (x []float64, schema *decode.Schema, err error) {
	file, err := files.Open(ctx, e, path, options, s)
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
func (c *Command) watch(ctx context.Context, e *env.Env) error {
	options := decode.Config{Label: c.Label, Task: learner.Novelty, Missing: "impute", Infer: true, Depth: decode.MaxDepth, Zones: true}
	file, err := files.Open(ctx, e, c.File, options, decode.Schema{})
	if err != nil {
		return err
	}
	defer file.Close()
	var m *divergence.Monitor
	r, compared := ShiftReport{Alarms: []shiftAlarm{}}, false
	for ctx.Err() == nil {
		row, err := file.Next()
		if errors.Is(err, io.EOF) && !compared {
			return fmt.Errorf("%s has %s, too few to compare: want %d more than the first 2,000, or name a second file", c.File, display.Count(r.Rows, "row"), divergence.BlockRows)
		}
		if errors.Is(err, io.EOF) {
			return e.Print(c.JSON, r.String(), r)
		}
		if err != nil {
			return err
		}
		if m == nil {
			m = divergence.NewMonitor(len(row.X), divergence.BlockRows)
		}
		r.Rows++
		if m.Starting() {
			m.Ignore(learner.Clocks(row.Types))
		}
		_, s := m.Add(row.X)
		if s == nil {
			continue
		}
		compared = true
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
