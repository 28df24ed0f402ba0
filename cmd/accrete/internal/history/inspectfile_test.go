package history

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/accrete-ml/accrete/snapshot"
)

// A file of hundreds of arrays is summed up in a few lines, with the largest groups first.
func TestArraysAreSummedUp(t *testing.T) {
	sections := []snapshot.Section{{Kind: "config", Serving: true, Length: 10, Shape: [2]int{10, 1}}}
	for i := range 200 {
		sections = append(sections, snapshot.Section{Name: fmt.Sprintf("a%d.w", i%20), Length: int64(i), Shape: [2]int{i, 1}})
	}
	lines := strings.Split(strings.TrimSuffix(arraysText(sections), "\n"), "\n")
	if len(lines) != 1+mostGroups || !strings.HasPrefix(lines[0], "arrays       201,") || !strings.Contains(lines[1], "a19  resuming  1,090 bytes  10 arrays, a19.w 199 x 1 is the largest") {
		t.Errorf("%q", lines)
	}
}

// Names of classes reach a terminal without control characters, on one line.
func TestClassesArePrintable(t *testing.T) {
	got := schemaText([]byte(`{"columns":["a"],"task":"classification","classes":["b\u001b[2J\n","c"]}`))
	if strings.ContainsFunc(strings.TrimSuffix(got, "\n"), func(c rune) bool { return !unicode.IsPrint(c) }) || !strings.Contains(got, "classification from 1 column, 2 classes: ") {
		t.Errorf("%q", got)
	}
	if got := schemaText([]byte("{")); got != "" {
		t.Errorf("a schema that cannot be read: %q", got)
	}
}
