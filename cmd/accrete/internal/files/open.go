// Package files opens and reads the files that commands are given. Its errors say what to do.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/avro"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/parquet"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/internal/outfile"
	"github.com/accrete-ml/accrete/learner/metric"
	"github.com/accrete-ml/accrete/snapshot"
)

// Open opens a file of rows, or standard input for "-". Its errors say what
// to do.
func Open(ctx context.Context, e *env.Env, path string, c decode.Config, s decode.Schema) (file *decode.File, err error) {
	kind := slices.IndexFunc(kinds, func(k kind) bool { return path != "-" && begins(path, k.magic) })
	switch {
	case kind >= 0:
		file, err = kinds[kind].lines(path, c, s)
	case path == "-":
		file, err = decode.Read(interruptible(ctx, e.Stdin), "standard input", c, s)
	case isPipe(path):
		file, err = openPipe(ctx, path, c, s)
	default:
		file, err = decode.Open(path, c, s)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, NotFound(path)
	case err != nil && ctx.Err() == nil:
		return nil, exit.Usage("%w", err)
	}
	return file, err
}

// kind is a kind of file whose rows are converted to JSON lines.
type kind struct {
	name  string
	magic string // its first bytes
	open  func(path string, c *decode.Config, s *decode.Schema) (io.Reader, error)
}

var kinds = []kind{
	{"a Parquet file", parquet.Magic, func(path string, c *decode.Config, s *decode.Schema) (io.Reader, error) {
		return parquet.Open(path, atTop(c, s), ignoredBy(c))
	}},
	{"an Avro file", avro.Magic, func(path string, c *decode.Config, _ *decode.Schema) (io.Reader, error) {
		return avro.Open(path, ignoredBy(c))
	}},
}

// ReadOtherwise reports whether earlier versions read a file in another way: in a Parquet file, fields
// of records were members of the row, and maps two lists.
func ReadOtherwise(path string) bool { return begins(path, parquet.Magic) }

// OpenEarlier opens a file of which ReadOtherwise is true as earlier versions did.
func OpenEarlier(path string, c decode.Config) (*decode.File, error) {
	lines, err := parquet.Open(path, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return decode.Read(lines, path, c, decode.Schema{})
}

// atTop returns which fields of records in a Parquet file are members of the row: label, key and
// weight, which are read from there. It returns nil, for all of them, for a model that does not look
// into objects, or has columns that no other reading gives: in a record that is ignored, or of a map.
func atTop(c *decode.Config, s *decode.Schema) func(path string) bool {
	for _, name := range s.Columns {
		if strings.Contains(name, ".key_value.") {
			return nil
		}
		for of, typ := range c.Types {
			if typ == "ignored" && strings.HasPrefix(name, of+".") {
				return nil
			}
		}
	}
	if c.Depth == 0 {
		return nil
	}
	return func(path string) bool {
		return path == c.Label || path == c.Key || path == c.Weight || slices.Contains(c.Labels, path)
	}
}

// ignoredBy returns which fields of a Parquet file are declared not to be columns, or are in an object
// that is.
func ignoredBy(c *decode.Config) func(path string) bool {
	return func(path string) bool {
		for name, typ := range c.Types {
			if schema.IsExcluded(typ) && (path == name || strings.HasPrefix(path, name+".")) {
				return true
			}
		}
		return false
	}
}

// begins reports whether the file at path begins with magic. It returns false for a pipe without
// reading from it, because the bytes would be missing for the next reader.
func begins(path, magic string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}

// lines opens a file of the kind.
func (k *kind) lines(path string, c decode.Config, s decode.Schema) (*decode.File, error) {
	if c.Format != "" && c.Format != "json" {
		return nil, fmt.Errorf("%s is %s, which is read as json: omit the format %s", path, k.name, c.Format)
	}
	lines, err := k.open(path, &c, &s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	file, err := decode.Read(lines, path, c, s)
	if err == nil {
		file.Table()
	}
	return file, err
}

// WarnOfDropped logs which fields of a file were ignored because the model has no such columns.
func WarnOfDropped(e *env.Env, file *decode.File, name string) {
	if n, field := file.Dropped(); n > 0 {
		e.Log.Warn().Str("file", name).Str("field", field).Int64("values", n).Msg("fields that are no columns of the model were ignored; the first of them is named")
	}
}

// interruptible returns a reader that fails once ctx is done, even while a Read
// of r blocks.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	return out
}

// isPipe reports whether path is a named pipe.
func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// openPipe opens a named pipe. Opening waits for a writer, and reading for its rows, until ctx is
// done.
func openPipe(ctx context.Context, path string, c decode.Config, s decode.Schema) (*decode.File, error) {
	in, err := await(ctx, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return nil, err
	}
	return decode.Read(interruptible(ctx, in), path, c, s)
}

// Create begins a file. With a named pipe, it waits for a reader until ctx is done.
func Create(ctx context.Context, path string) (*outfile.File, error) {
	if !isPipe(path) {
		return outfile.Create(path)
	}
	return await(ctx, func() (*outfile.File, error) { return outfile.Create(path) })
}

// await returns the results of open, or the error of ctx once that is done. Then open may go on
// waiting, as nothing ends the system call that opens a pipe.
func await[T any](ctx context.Context, open func() (T, error)) (file T, err error) {
	done := make(chan struct{})
	var opened T
	var failed error
	go func() {
		defer close(done)
		opened, failed = open()
	}()
	select {
	case <-done:
		return opened, failed
	case <-ctx.Done():
		return file, ctx.Err()
	}
}

// NotFound returns the error of a command for a file that does not exist.
func NotFound(path string) error {
	wd, _ := os.Getwd()
	return exit.Usage("no such file: %s (working directory: %s)", path, wd)
}

// ReadSnapshot reads a snapshot file, without decoding it.
func ReadSnapshot(path string) ([]byte, error) {
	b, err := snapshot.ReadFile(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NotFound(path)
	}
	if err != nil {
		return nil, exit.Usage("%w", err)
	}
	if !snapshot.Begins(b) {
		return nil, exit.Usage("%s is not a snapshot file: want one that accrete fit --save or accrete export --snapshot wrote", path)
	}
	return b, nil
}

// Skippable adds advice on how to skip bad rows, if err is the error of a row alone. fixed means that the
// columns are those of a model, and cannot be declared.
func Skippable(err error, fixed bool) error {
	var line *decode.LineError
	if errors.As(err, &line) {
		unknown := strings.HasPrefix(line.Err.Reason, "unknown field ")
		if strings.HasPrefix(line.Err.Reason, "neither a list x ") {
			return err // all rows lack the label
		}
		if unknown && fixed {
			return fmt.Errorf("%w, which the model does not have: leave it out, or skip such rows with --skip-bad", err)
		}
		if unknown {
			return fmt.Errorf("%w, which the first row does not have: declare it with its type or as ignored (fit --columns 'NAME:TYPE,*', or input.columns), correct the file, or skip such rows with --skip-bad", err)
		}
		return fmt.Errorf("%w; correct the file, or skip such rows with --skip-bad", err)
	}
	return err
}

// mostMetric is the maximum size of a metric file, in bytes.
const mostMetric = 1 << 30

// ReadMetric reads a file written by accrete metric --save.
func ReadMetric(path string) (*metric.Metric, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostMetric))
	if err != nil {
		return nil, err
	}
	m, err := metric.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Unlabelled returns the error for a file without a labelled row. consequence may be empty.
func Unlabelled(file *decode.File, path, consequence string) error {
	if path == "-" {
		path = "standard input"
	}
	if err := file.NoLabel(); err != nil {
		return exit.Usage("%s has no labelled row%s: %w", path, consequence, err)
	}
	return fmt.Errorf("%s has no labelled row%s", path, consequence)
}
