package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// inspect says how many random features a model has, and what it does at its maximum.
func TestInspectShowsTheMaximumOfFeatures(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("x,y\n")
	for i := range 395 { // of which the last mini-batch is incomplete
		fmt.Fprintf(&rows, "%d,%d.5\n", i%17, i%17*i%5)
	}
	file, saved := filepath.Join(dir, "a.csv"), filepath.Join(dir, "m.snap")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		most, atCap, text string
		reached           bool
	}{
		{"64", "stop", "features     64 of at most 64: no more steps\n", true},
		{"4096", "all", " of at most 4,096\n", false},
	} {
		r := fitted(t, file, "--algorithm", "dsg", "--direction", "rate", "--minibatch", "16", "--block-size", "32", "--max-features", test.most, "--at-cap", test.atCap, "--save", saved)
		var got struct {
			Capacity struct {
				Features    int
				MaxFeatures int    `json:"max_features"`
				AtCap       string `json:"at_cap"`
				Reached     bool
			}
		}
		code, stdout, stderr := call(t, nil, "inspect", saved, "--json")
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exit.Done {
			t.Fatalf("exit code %d, %v: %s", code, err, stderr)
		}
		if s := got.Capacity; s.Features != r.Features || fmt.Sprint(s.MaxFeatures) != test.most || s.AtCap != test.atCap || s.Reached != test.reached {
			t.Errorf("at most %s: %+v, fit has %d features", test.most, s, r.Features)
		}
		if _, stdout, _ = call(t, nil, "inspect", saved); !strings.Contains(stdout, test.text) {
			t.Errorf("no %q:\n%s", test.text, stdout)
		}
	}
}

// A flag that is given with the value of its default is given.
func TestPresetKeepsFlagsThatAreGiven(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(file, []byte("x,y\n1,2.5\n2,3.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`"max_features":65536`: {"--preset", "dsg-paper"},
		`"max_features":4096`:  {"--preset", "dsg-paper", "--max-features", "4096"},
		`"at_cap":"all"`:       {"--preset", "dsg-paper", "--at-cap", "auto"},
		`"at_cap":"revisit"`:   {"--preset", "dsg-paper", "--direction", "auto", "--minibatch", "0", "--at-cap", "auto"},
	} {
		if code, stdout, stderr := call(t, nil, append([]string{"fit", file, "--json"}, args...)...); code != exit.Done || !strings.Contains(stdout, want) {
			t.Errorf("%v: exit code %d, want %s:\n%s%s", args, code, want, stdout, stderr)
		}
	}
}

// An algorithm that is named itself must be that of the preset.
func TestContradictoryPresetIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(file, []byte("x,y\n1,2.5\n2,3.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range []string{"newton", "udsg"} {
		if code, _, stderr := call(t, nil, "fit", file, "--algorithm", algorithm, "--preset", "dsg-paper"); code != exit.Misused || !strings.Contains(stderr, "preset dsg-paper is for algorithm dsg, not for "+algorithm) {
			t.Errorf("%s: exit code %d: %s", algorithm, code, stderr)
		}
	}
	for _, args := range [][]string{{"--preset", "dsg-paper", "--algorithm", "dsg"}, {"--preset", "dsg-paper"}, {"--algorithm", "udsg"}} {
		if code, _, stderr := call(t, nil, append([]string{"fit", file}, args...)...); code != exit.Done {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
}
