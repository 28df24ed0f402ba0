package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// A file with text, booleans, times and missing values is learned from one command,
// which says what became of each column.
func TestFitTakesColumnsAsTheyAre(t *testing.T) {
	var b strings.Builder
	b.WriteString("carrier,tail,late,at,wind,gone,y\n")
	for i := range 400 {
		wind := "NA"
		if i%5 > 0 {
			wind = fmt.Sprint(i % 13)
		}
		fmt.Fprintf(&b, "c%d,\"N, %d\",%v,2024-01-%02d,%s,,%d\n", i%3, i%31, i%2 == 0, 1+i%28, wind, i%3)
	}
	path := filepath.Join(t.TempDir(), "flights.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, nil, "fit", path, "--max-features", "64", "--test", path)
	if code != exit.Done {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	text := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{
		"carrier category 0 3 one-hot of 3 values and other",
		"tail category 0 31 target statistic and log frequency",
		"late boolean 0 2 number",
		"at time 0 28 sine and cosine of day, week and year",
		"wind numeric 80 13 number, missing as",
		"and an indicator of missing",
		"gone unknown 400 0 nothing: it had no value in the warm-up",
		"test error 0.0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the output has no %q:\n%s", want, stdout)
		}
	}
}
