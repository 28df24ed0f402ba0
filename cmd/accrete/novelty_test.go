package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/compare"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/fit"
)

// odd returns a CSV file of rows without labels, whose first column is moved from a row on.
func odd(t *testing.T, name string, rows, from int, seed uint64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("a,b,city\n")
	for i := range rows {
		a := rng.NormFloat64()
		if i >= from {
			a++
		}
		fmt.Fprintf(&b, "%v,%v,c%d\n", a, rng.NormFloat64(), rng.IntN(3))
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// calls returns what the program prints, which must exit with this code.
func calls(t *testing.T, want int, args ...string) string {
	t.Helper()
	code, stdout, stderr := call(t, nil, args...)
	if code != want {
		t.Fatalf("%v: exit code %d, want %d: %s", args, code, want, stderr)
	}
	return stdout
}

func TestFitFlagsNoveltiesAndPredictAgrees(t *testing.T) {
	file := odd(t, "odd.csv", 600, 1000, 1)
	model := filepath.Join(t.TempDir(), "m.snap")
	out := calls(t, 0, "fit", file, "--task", "novelty", "--nu", "0.1", "--max-features", "64", "--save", model, "--json")
	var r fit.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Task != "novelty" || r.Algorithm != "one-class" || r.Progressive.Flagged == nil || *r.Progressive.Flagged < 0.05 || *r.Progressive.Flagged > 0.15 || r.Baselines != nil {
		t.Errorf("%s", out)
	}
	lines := strings.Split(strings.TrimSpace(calls(t, 0, "predict", file, "--model", model)), "\n")
	flagged := 0
	for _, l := range lines[1:] {
		if strings.Contains(l, ",true,") {
			flagged++
		}
	}
	if !strings.HasSuffix(lines[0], ",prediction,score,threshold") || len(lines) != 601 || flagged < 30 || flagged > 120 {
		t.Errorf("%d lines, %d flagged, %s", len(lines), flagged, lines[0])
	}
	for _, args := range [][]string{{"--refit"}, {"--algorithm", "ridge"}, {"--nu", "0.9"}, {"--loss", "hinge"}} {
		calls(t, exit.Misused, append([]string{"fit", file, "--task", "novelty"}, args...)...)
	}
}

func TestCompareNamesWhatDiffers(t *testing.T) {
	moved, same := odd(t, "moved.csv", 400, 0, 1), odd(t, "same.csv", 400, 1000, 2)
	var r compare.Report
	if err := json.Unmarshal([]byte(calls(t, 0, "compare", moved, same, "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if r.Columns[0].Name != "a" || r.Columns[0].P > 1e-3 || r.Columns[1].P < 1e-3 || r.P > 0.01 || r.KL < 0.2 || r.KL > 0.8 {
		t.Errorf("%+v", r)
	}
	stream := odd(t, "stream.csv", 5000, 3000, 3)
	var s compare.ShiftReport
	if err := json.Unmarshal([]byte(calls(t, 0, "compare", stream, "--json")), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Alarms) != 1 || s.Alarms[0].Row <= 3000 || s.Alarms[0].Row > 5000 || strings.Join(s.Alarms[0].Columns, " ") != "a" {
		t.Errorf("%+v", s)
	}
	for n, code := range map[int]int{10: exit.Failed, 2499: exit.Failed, 2500: exit.Done} {
		got, stdout, stderr := call(t, nil, "compare", odd(t, "few.csv", n, n, 4))
		if got != code || code == exit.Failed && (stdout != "" || !strings.Contains(stderr, "too few to compare")) {
			t.Errorf("%d rows: exit code %d, %s%s", n, got, stdout, stderr)
		}
	}
	wider := filepath.Join(t.TempDir(), "wider.csv")
	if err := os.WriteFile(wider, []byte("zz,a\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, nil, "compare", wider, same); code != exit.Failed || !strings.Contains(stderr, `unknown field "zz", which `+same+" does not have") {
		t.Errorf("another column: exit code %d, %s", code, stderr)
	}
	if text := calls(t, 0, "compare", stream); !strings.Contains(text, "the inputs have changed") {
		t.Errorf("%s", text)
	}
}
