package learner

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/constants"
)

// TestConstantsAreListed: docs/constants.md has a row, with the value, for each
// constant of the learner whose comment says that it was chosen by trial.
func TestConstantsAreListed(t *testing.T) {
	page, err := os.ReadFile("../docs/constants.md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := constants.Find("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if row := fmt.Sprintf("| `%s` | `%s` |", c.Name, c.Value); !strings.Contains(string(page), row) {
			t.Errorf("%s: docs/constants.md has no row %s", c.Path, row)
		}
	}
	if rows := strings.Count(string(page), "\n| `"); len(all) < 50 || rows != len(all) {
		t.Errorf("%d constants were chosen by trial, and docs/constants.md has %d rows", len(all), rows)
	}
}
