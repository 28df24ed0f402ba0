package decode

import (
	"fmt"
	"strings"
	"unicode/utf8"
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
func (e *Error) of(name []byte) *Error { return bad(e.Stage, "%s: %s", quote(name), e.Reason) }

// quoteBytes is the number of bytes of a record that a message shows.
const quoteBytes = 64

// quote quotes text from a record, truncated to fit a message.
func quote[T string | []byte](s T) string {
	b := []byte(s)
	if len(b) <= quoteBytes {
		return fmt.Sprintf("%q", b)
	}
	b = b[:quoteBytes]
	for len(b) > 0 && !utf8.Valid(b) && len(b) > quoteBytes-utf8.UTFMax {
		b = b[:len(b)-1]
	}
	return fmt.Sprintf("%q…", b)
}

// literal returns a number or a boolean as the record has it, truncated to fit a message.
func literal(b []byte) string {
	if len(b) <= quoteBytes {
		return string(b)
	}
	return string(b[:quoteBytes]) + "…"
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

// some of a list of names, for a message.
func some(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(", … (%d in all)", len(names))
	}
	return strings.Join(names, ", ")
}
