package files

import (
	"errors"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// The advice for a field that the first row lacks is to declare it: without the rows that have the
// field, much of the file may be gone.
func TestAdviceForARow(t *testing.T) {
	for reason, want := range map[string]string{`unknown field "b"`: "declare it", `"a" is text "x", want a number`: "; correct the file"} {
		if err := Skippable(&decode.LineError{File: "f", Line: 2, Err: &decode.Error{Stage: "columns", Reason: reason}}, false); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	if err := Skippable(&decode.LineError{File: "f", Line: 1, Err: &decode.Error{Stage: "columns", Reason: "neither a list x nor an object features"}}, false); strings.Contains(err.Error(), "skip") {
		t.Errorf("advice to skip all rows: %v", err)
	}
	if other := errors.New("no row"); Skippable(other, false) != other {
		t.Error("an error of no row has advice for rows")
	}
}
