package history

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/pipeline/audit"
)

// Conditions that fit no record are most likely wrong: the report of what to forget says so.
func TestConditionsThatFitNothingAreReported(t *testing.T) {
	for removed, want := range map[int64]bool{0: true, 1: false} {
		text := rebuiltText(audit.Rebuilt{Model: "m", Without: []string{"key=1", "topic=a"}, Records: 5, Removed: removed})
		if got := strings.Contains(text, "no record of the history fits key=1 or topic=a"); got != want {
			t.Errorf("%d left out: %s", removed, text)
		}
	}
}
