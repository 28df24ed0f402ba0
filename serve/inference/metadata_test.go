package inference

import (
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// The key and the time of a window are named as text, which they usually are: a client that follows the
// metadata would otherwise send them as numbers.
func TestKeysAndTimesOfWindowsAreText(t *testing.T) {
	for typ, want := range map[learner.ColumnType]string{
		learner.NumericColumn: "FP64", learner.SourceColumn: "BYTES", learner.CategoryColumn: "BYTES", learner.TimeColumn: "BYTES", learner.BooleanColumn: "BOOL",
	} {
		if got := datatypeOf(typ.String()); got != want {
			t.Errorf("%v: %s, want %s", typ, got, want)
		}
	}
}
