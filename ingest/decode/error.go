package decode

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/learner"
)

// Error is the reason why a record is not learned. The text is short and printable
// whatever the record holds.
type Error struct {
	Stage  string // what was being read: "json", "columns", "label", "weight", "key" or "limits"; in files also "csv" and "libsvm"
	Reason string
}

func (e *Error) Error() string { return e.Stage + ": " + e.Reason }

func bad(stage, format string, args ...any) *Error {
	return &Error{stage, fmt.Sprintf(format, args...)}
}

// of adds the name of the field in which the JSON is invalid.
func (e *Error) of(name []byte) *Error { return bad(e.Stage, "%s: %s", excerpt.Quote(name), e.Reason) }

// advise adds what a person with a file can do.
func advise(err *Error) *Error {
	if err.Stage != "columns" {
		return err
	}
	switch {
	case strings.Contains(err.Reason, "is text") && strings.HasSuffix(err.Reason, wanted[learner.NumericColumn]):
		return bad(err.Stage, "%s: convert it to numbers, or select the columns to use (fit --columns, or input.columns with input.unknown: ignore)", err.Reason)
	case strings.Contains(err.Reason, "is null"):
		return bad(err.Stage, "%s: fill the cell, or read it as 0 (fit --missing zero, or input.missing: zero)", err.Reason)
	}
	return err
}

// LineError is the error of one row of a file.
type LineError struct {
	File string
	Line int
	Err  *Error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s, line %d: %v", e.File, e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

func (f *File) lineError(err *Error) error { return &LineError{f.name, f.now.number, err} }
