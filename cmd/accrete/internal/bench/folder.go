package bench

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/ingest/decode"
)

// descriptionFile is the file in a folder that names the label columns of sets where these are
// called neither y nor label. It is CSV with the header "set,label".
const descriptionFile = "sets.csv"

// folder is a folder of data sets.
type folder struct {
	dir    string
	names  []string          // sorted
	labels map[string]string // by set, from descriptionFile
	label  string            // --label
	rows   int               // --rows
	time   string            // --time
}

// folder finds the data sets of the folder, and checks that it has those of --sets.
func (c *Command) folder() (*folder, error) {
	f := &folder{dir: c.Dir, label: c.Label, rows: c.Rows, time: c.Time}
	for _, kind := range []string{"train", "stream"} {
		for _, ending := range endings {
			paths, err := filepath.Glob(filepath.Join(c.Dir, "*."+kind+ending))
			if err != nil {
				return nil, exit.Usage("%w", err)
			}
			for _, path := range paths {
				f.names = append(f.names, strings.TrimSuffix(filepath.Base(path), "."+kind+ending))
			}
		}
	}
	slices.Sort(f.names)
	f.names = slices.Compact(f.names)
	if len(f.names) == 0 {
		if len(c.Sets) > 0 {
			return nil, exit.Usage("%s", c.missing(c.Sets[0]))
		}
		return nil, exit.Usage("%s has no NAME.train.csv and no NAME.stream.csv, plain or .gz, and none of these with .libsvm, .jsonl, .parquet or .avro", c.Dir)
	}
	if err := f.describe(); err != nil {
		return nil, err
	}
	for _, want := range c.Sets {
		if !slices.Contains(f.names, want) {
			return nil, exit.Usage("%s", c.missing(want))
		}
	}
	if len(c.Sets) > 0 {
		f.names = slices.DeleteFunc(f.names, func(n string) bool { return !slices.Contains(c.Sets, n) })
	}
	return f, nil
}

// describe reads descriptionFile, if there is one.
func (f *folder) describe() error {
	path := filepath.Join(f.dir, descriptionFile)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return exit.Usage("%s: %w", path, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], []string{"set", "label"}) {
		return exit.Usage("%s: want the header set,label", path)
	}
	f.labels = map[string]string{}
	for i, line := range lines[1:] {
		name, label := line[0], line[1]
		switch {
		case !slices.Contains(f.names, name):
			return exit.Usage("%s line %d: the folder has no data set %q", path, i+2, name)
		case f.labels[name] != "":
			return exit.Usage("%s line %d: %s has a label already", path, i+2, name)
		case label == "":
			return exit.Usage("%s line %d: the label of %s is empty", path, i+2, name)
		}
		f.labels[name] = label
	}
	return nil
}

// path returns the file of a set and a kind, and whether it exists.
func (f *folder) path(name, kind string) (string, bool) {
	for _, ending := range endings {
		path := filepath.Join(f.dir, name+"."+kind+ending)
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
	}
	return "", false
}

// open opens a file of a set that has no schema yet. The label is the column that --label
// names if the set has it, or else that of descriptionFile, or else y or label.
func (f *folder) open(ctx context.Context, e *env.Env, name, path string) (file *decode.File, c decode.Config, err error) {
	c = decode.Config{Infer: true, Depth: decode.MaxDepth, Grams: true, Zones: true, Missing: "impute", Time: f.time}
	if f.label != "" {
		c.Labels = []string{f.label}
		if file, err = files.Open(ctx, e, path, c, decode.Schema{}); err == nil {
			return file, c, nil
		}
		c.Labels = nil // the set has another label
	}
	if label := f.labels[name]; label != "" {
		c.Labels = []string{label}
	}
	file, err = files.Open(ctx, e, path, c, decode.Schema{})
	if err != nil && c.Time != "" {
		untimed := c
		untimed.Time = ""
		if without, err := files.Open(ctx, e, path, untimed, decode.Schema{}); err == nil {
			return nil, c, errors.Join(fmt.Errorf("%w: it has no column %s with times", errUnfit, c.Time), without.Close())
		}
	}
	return file, c, f.nameable(err)
}

// nameable adds to an error that suggests --label that the label can also be named in
// descriptionFile.
func (f *folder) nameable(err error) error {
	if err == nil || !strings.Contains(err.Error(), "--label") {
		return err
	}
	return fmt.Errorf("%w, or name it in %s", err, filepath.Join(f.dir, descriptionFile))
}

// each calls use with one data set after another. It skips a set with a warning if the set cannot
// be read, so that the results of the others are not lost, or if it is unfit for the experiment
// (errUnfit). unread is the number of sets that could not be read. It is an error if no set was
// used.
func (c *Command) each(ctx context.Context, e *env.Env, use func(*set) error) (unread int, err error) {
	f, err := c.folder()
	if err != nil {
		return 0, err
	}
	var first error
	used := 0
	for i, name := range f.names {
		s, err := f.read(ctx, e, name, c.Shuffle)
		if err == nil {
			s.at, s.of = i, len(f.names)
		}
		if err != nil && !errors.Is(err, errUnfit) {
			unread++
		} else if err == nil {
			if err = use(s); err != nil && !errors.Is(err, errUnfit) {
				return unread, err
			}
		}
		if ctx.Err() != nil {
			return unread, ctx.Err()
		}
		if err == nil {
			used++
			continue
		}
		first = cmp.Or(first, err)
		e.Log.Warn().Str("set", name).Err(err).Msg("data set skipped")
	}
	if used == 0 {
		return unread, first
	}
	return unread, nil
}

// errUnfit is wrapped by errors that say why an experiment cannot use a data set.
var errUnfit = exit.Usage("unfit for this experiment")

// incomplete returns the error of a run that could not read all data sets, to be reported
// after its results.
func incomplete(unread int) error {
	if unread == 0 {
		return nil
	}
	return fmt.Errorf("%s skipped: see the warnings", display.Count(int64(unread), "data set"))
}
