package decode

import (
	"fmt"
	"strings"
)

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
