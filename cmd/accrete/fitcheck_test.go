package main

import (
	"bytes"
	"strings"
	"testing"
)

// A value that would not be the one in effect, and a file that will not be
// there in the end, are refused before anything is learned.
func TestFitRefusesAtOnce(t *testing.T) {
	for flags, want := range map[string]string{
		"--minibatch 0":          "--minibatch 0: want at least 1",
		"--max-features 0":       "--max-features 0: want at least 1",
		"--lambda 0":             "--lambda 0: want more than 0",
		"--seed 0":               "--seed 0: want at least 1",
		"--test none.csv":        "there is no file none.csv",
		"--save none/model.snap": "--save: stat none: ",
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"fit", "-"}, strings.Fields(flags)...)
		code := run(t.Context(), args, nil, strings.NewReader("a,y\n1,p\n"), &stdout, &stderr)
		if code != misused || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "accrete: fit: "+want) {
			t.Errorf("%s: exit code %d, %q and %q, want %q", flags, code, &stdout, &stderr, want)
		}
	}
}
