package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
)

// inputFlags select the cells that are inputs.
type inputFlags struct {
	Columns []string `placeholder:"COLUMN,..." help:"Input columns, each a name or name:type, for example code:category or note:text (default: all but label, key and weight). With the types id and ignored alone: columns that are no inputs."`
	Print   bool     `name:"print-columns" help:"Print the columns and their types as input.columns for the configuration of a model."`
	Missing string   `enum:"impute,refuse,zero" default:"impute" help:"Missing values: empty cells, NA and null. impute: the mean of a number, a category of its own. refuse: treat the row as unreadable. zero: read 0 (${default})."`
}

// decode returns how rows are read.
func (f *fitCommand) decode(task learner.Task) decode.Config {
	c := decode.Config{Labels: f.Label, Key: f.Key, Weight: f.Weight, Task: task, Depth: decode.MaxDepth, Above: learner.Config{Kernel: f.Kernel}.Above()}
	c.Infer = f.Metric == "" && c.Above == 0
	columns := config.Columns(f.Columns)
	if names := columns.Names(); names != nil {
		c.Columns, c.Unknown = names, "ignore"
	}
	c.Types = columns.Types()
	if f.Missing != "refuse" {
		c.Missing = f.Missing
	}
	return c
}

// Validate rejects values that the learner would interpret as "use the
// default". Kong calls it.
func (f *fitCommand) Validate() error {
	switch {
	case f.Minibatch < 0:
		return fmt.Errorf("--minibatch %d: want at least 0", f.Minibatch)
	case f.MaxFeatures < 1:
		return fmt.Errorf("--max-features %d: want at least 1", f.MaxFeatures)
	case !(f.Lambda >= 0):
		return fmt.Errorf("--lambda %v: want 0 or more", f.Lambda)
	case f.Seed == 0:
		return fmt.Errorf("--seed 0: want at least 1")
	}
	return f.classFlags.Validate()
}

// foresee reports errors that would otherwise occur only after the whole file
// has been learned.
func (f *fitCommand) foresee() error {
	if f.Test != "" {
		if _, err := os.Stat(f.Test); errors.Is(err, fs.ErrNotExist) {
			return noFile(f.Test)
		}
	}
	for flag, file := range map[string]string{"--save": f.Save, "--predictions": f.Predictions} {
		if file != "" {
			if _, err := os.Stat(filepath.Dir(file)); err != nil {
				return exit.Usage("%s: %w", flag, err)
			}
		}
	}
	if f.Predictions != "" && f.Shuffle != nil {
		return exit.Usage("--predictions are in the order of the file: omit --shuffle")
	}
	return nil
}
