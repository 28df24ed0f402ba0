package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fit warns of rows that are sorted by their label, where the progressive error is close to 0
// whatever the model is worth.
func TestFitWarnsOfSortedRows(t *testing.T) {
	for name, test := range map[string]struct {
		label func(i int) string
		flags []string
		want  bool
	}{
		"classes":  {func(i int) string { return "abc"[i/134 : i/134+1] }, nil, true},
		"shuffled": {func(i int) string { return "abc"[i/134 : i/134+1] }, []string{"--shuffle", "1"}, false},
		"numbers":  {func(i int) string { return fmt.Sprint(float64(i) + 0.5) }, nil, true},
		"lags":     {func(i int) string { return fmt.Sprint(float64(i) + 0.5) }, []string{"--lags", "1"}, false},
		"mixed":    {func(i int) string { return "abc"[i*7%3 : i*7%3+1] }, nil, false},
		"few runs": {func(i int) string { return "ab"[i/20%2 : i/20%2+1] }, nil, false},
	} {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range 400 {
			fmt.Fprintf(&b, "%d.5,%s\n", i*37%101, test.label(i))
		}
		file := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := call(t, nil, append([]string{"fit", file, "--label", "y", "--max-features", "64"}, test.flags...)...)
		if warned := strings.Contains(stderr, "sorted by the label"); code != 0 || warned != test.want {
			t.Errorf("%s: exit code %d, warned %v, want %v: %s", name, code, warned, test.want, stderr)
		}
	}
}
