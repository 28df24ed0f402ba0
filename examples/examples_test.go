// Package examples holds small programs. This test runs them.
package examples

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"run"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("go run %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestTheExamplesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs four programs, 20 s")
	}
	if out := run(t, "./resume"); strings.Count(out, "equal true") != 8 {
		t.Errorf("resume prints\n%s", out)
	}
	model := filepath.Join(t.TempDir(), "spam.snap")
	run(t, "../cmd/accrete", "fit", "../testdata/spam.train.csv.gz", "--algorithm", "ridge", "--max-features", "64", "--save", model)
	if out := run(t, "./predict", model, "../testdata/spam.test.csv.gz"); !strings.Contains(out, "1150 rows") {
		t.Errorf("predict prints\n%s", out)
	}
}
