package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// TestFitWarnsOfALongTail unless the loss is one that large labels do not dominate.
func TestFitWarnsOfALongTail(t *testing.T) {
	text, r := "a,y\n", rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		text += fmt.Sprintf("%d,%v\n", i%20, math.Exp(3*r.NormFloat64()))
	}
	file := filepath.Join(t.TempDir(), "tail.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for loss, want := range map[string]bool{"auto": true, "square": true, "absolute:0.1": false} {
		code, _, stderr := call(t, nil, "fit", file, "--loss", loss, "--algorithm", "dsg", "--max-features", "32")
		if code != exit.Done || strings.Contains(stderr, "model of the logarithm") != want {
			t.Errorf("%s: exit code %d, want a warning: %t: %s", loss, code, want, stderr)
		}
	}
}
