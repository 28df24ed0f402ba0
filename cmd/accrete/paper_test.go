package main

import (
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
