package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

func TestBenchWantsAFolderOrAPaper(t *testing.T) {
	if code, _, stderr := call(t, nil, "bench"); code != exit.Misused || !strings.Contains(stderr, "--paper") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := call(t, nil, "bench", t.TempDir(), "--paper", "dspdc"); code != exit.Misused || !strings.Contains(stderr, "letter.train.csv") {
		t.Errorf("a folder without letter: exit %d: %s", code, stderr)
	}
}

// A set that cannot be read costs the results of no other.
func TestBenchFinishesTheSetsThatItCanRead(t *testing.T) {
	dir := t.TempDir()
	var good, priced, kinds strings.Builder
	good.WriteString("x,y\n")
	priced.WriteString("x,price\n")
	kinds.WriteString("kind,y\n")
	for i := range 300 {
		fmt.Fprintf(&good, "%d,%d\n", i%7, i%7*2)
		fmt.Fprintf(&priced, "%d,%d.5\n", i%5, i%5)
		fmt.Fprintf(&kinds, "k%d,%d.5\n", i%5, i%5)
	}
	for name, text := range map[string]string{"a": priced.String(), "b": good.String(), "c": kinds.String()} {
		if err := os.WriteFile(filepath.Join(dir, name+".stream.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bench := func(args ...string) (code int, stdout, stderr string) {
		return call(t, nil, append([]string{"bench", dir, "--algorithms", "ridge"}, args...)...)
	}
	code, stdout, stderr := bench()
	if code != exit.Failed || !strings.HasPrefix(stdout, "b: ") || !strings.Contains(stdout, "\nc: regression") ||
		!strings.Contains(stderr, "a.stream.csv: no column is named y or label") || !strings.Contains(stderr, "sets.csv") || !strings.HasSuffix(stderr, "accrete: 1 data set skipped: see the warnings\n") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := bench("--sets", "a"); code != exit.Misused || stdout != "" || !strings.Contains(stderr, "sets.csv") {
		t.Errorf("no set: exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, _ := bench("--label", "price"); code != exit.Done || !strings.HasPrefix(stdout, "a: regression") {
		t.Errorf("with --label: exit code %d\n%s", code, stdout)
	}
	if err := os.WriteFile(filepath.Join(dir, "sets.csv"), []byte("set,label\na,price\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := bench(); code != exit.Done || !strings.HasPrefix(stdout, "a: regression") {
		t.Errorf("described: exit code %d\n%s%s", code, stdout, stderr)
	}
	code, _, stderr = bench("--sets", "c", "--paper", "cdsg")
	if code != exit.Misused || !strings.Contains(stderr, "these columns are not: kind") {
		t.Errorf("categories as numbers: exit code %d\n%s", code, stderr)
	}
}
