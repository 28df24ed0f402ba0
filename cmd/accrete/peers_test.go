package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// The learners of other projects get the rows in the order of the others, and are in the
// same table; those that are not installed are named.
func TestBenchRunsPeersOnTheSameRows(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the interpreter is a shell script")
	}
	dir := t.TempDir()
	rows := "a,b,y\n" + strings.Repeat("1,2,7\n3,4.5,8\n", 80)
	seen := filepath.Join(dir, "seen")
	python := filepath.Join(dir, "python")
	fake := `#!/bin/sh
shift
{ echo "$@"; gzip -dc "$1"/set.stream.csv.gz; } > ` + seen + `
echo '{"set":"set","learner":"vw","version":"vowpalwabbit 9","pinned":false,"rows":160,"error":0.25,"seconds":2,"cpu_seconds":0.5}'
echo '{"set":"set","learner":"arf","skipped":"No module named river"}'
`
	for path, text := range map[string]string{filepath.Join(dir, "a.stream.csv"): rows, python: fake} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { // #nosec G306 -- it is run
			t.Fatal(err)
		}
	}
	code, stdout, stderr := call(t, nil, "bench", dir, "--algorithms", "ridge", "--peers", "vw,arf", "--python", python)
	for _, want := range []string{"vw                    0.2500 ", " 80 ", " 320  vowpalwabbit 9\n", "arf              skipped: No module named river"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, there is no %q in\n%s", code, want, stdout)
		}
	}
	for _, want := range []string{"No module named river", "not the version"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("there is no %q in %s", want, stderr)
		}
	}
	got, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	if want := "y,0,1\n0,1,2\n1,3,4.5\n0,1,2\n"; !strings.Contains(string(got), want) || !strings.Contains(string(got), "--ordered --classes 2 --learners vw,arf") {
		t.Errorf("the peers get %.200s, want %s", got, want)
	}
	if code, _, stderr := call(t, nil, "bench", dir, "--peers", "xgboost"); code != exit.Misused || !strings.Contains(stderr, "lightgbm") {
		t.Errorf("an unknown peer: exit code %d: %s", code, stderr)
	}
	if code, _, stderr := call(t, nil, "bench", dir, "--algorithms", "ridge", "--peers", "vw", "--python", filepath.Join(dir, "no")); code == exit.Done || !strings.Contains(stderr, "--peers") {
		t.Errorf("no interpreter: exit code %d: %s", code, stderr)
	}
}
