// Package excerpt formats parts of records for messages, so that messages stay short and
// printable whatever a record contains.
package excerpt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// quoteBytes is the number of bytes of a record that a message shows.
const quoteBytes = 64

// Quote quotes text from a record, truncated to fit a message.
func Quote[T string | []byte](s T) string {
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

// Literal returns a number or a boolean as the record has it, truncated to fit a message.
func Literal(b []byte) string {
	if len(b) <= quoteBytes {
		return string(b)
	}
	return string(b[:quoteBytes]) + "…"
}

// List returns some of a list of names, for a message.
func List(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(", … (%d in all)", len(names))
	}
	return strings.Join(names, ", ")
}
