package decode

import (
	"fmt"
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

// quote quotes text from a record, truncated to fit a message.
func quote[T string | []byte](s T) string {
	const most = 64
	b := []byte(s)
	if len(b) <= most {
		return fmt.Sprintf("%q", b)
	}
	b = b[:most]
	for len(b) > 0 && !utf8.Valid(b) && len(b) > most-utf8.UTFMax {
		b = b[:len(b)-1]
	}
	return fmt.Sprintf("%q…", b)
}
