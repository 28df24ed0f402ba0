package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// Values that would not take effect, and output files that could not be
// written, are rejected before any row is learned.
func TestFitRefusesAtOnce(t *testing.T) {
	for flags, want := range map[string]string{
		"--minibatch=-1":         "fit: --minibatch -1: want at least 0",
		"--max-features 0":       "fit: --max-features 0: want at least 1",
		"--lambda=-1":            "fit: --lambda -1: want 0 or more",
		"--precision 0":          "fit: --precision 0: want more than 0 and at most 1",
		"--precision 1.5":        "fit: --precision 1.5: want more than 0 and at most 1",
		"--seed 0":               "fit: --seed 0: want at least 1",
		"--test none.csv":        "no such file: none.csv",
		"--save none/model.snap": "--save: stat none: ",
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"fit", "-"}, strings.Fields(flags)...)
		code := run(t.Context(), args, nil, strings.NewReader("a,y\n1,p\n"), &stdout, &stderr)
		if code != exit.Misused || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "accrete: "+want) {
			t.Errorf("%s: exit code %d, %q and %q, want %q", flags, code, &stdout, &stderr, want)
		}
	}
}

// The advice in error messages about a file can be followed.
func TestFitTakesTheAdviceItGives(t *testing.T) {
	const rows = "a,b,y\n1,far,p\n2,near,q\n,far,p\n"
	fit := func(flags string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"fit", "-"}, strings.Fields(flags)...), nil, strings.NewReader(rows), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	const advice = "fit --missing zero"
	if code, _, why := fit("--missing refuse"); code != exit.Failed || !strings.Contains(why, advice) {
		t.Errorf("exit code %d, %q, want advice to %s", code, why, advice)
	}
	for flags, inputs := range map[string]string{"": "2 inputs", "--columns a": "1 input", "--missing zero": "2 inputs"} {
		code, said, why := fit(flags)
		if code != exit.Done || !strings.HasPrefix(said, "classification of 2 classes from "+inputs+" (") {
			t.Errorf("fit %s: exit code %d, %q, %q", flags, code, said, why)
		}
	}
}

// A row outside the domain of the kernel is an error that names the row.
func TestFitRefusesRowsOutsideTheKernelsDomain(t *testing.T) {
	const rows = "a,b,y\n1,0,p\n2,-0.5,q\n0,3,p\n"
	for kernel, want := range map[string]string{
		"skewed-chi2:0.5": `line 3: limits: "b" is -0.5, but the kernel requires inputs above -0.5`,
		"skewed-chi2":     "",
		"chi2":            `line 3: limits: "b" is -0.5, but the kernel requires inputs of 0 or more`,
		"auto":            "",
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"fit", "-", "--kernel", kernel}, nil, strings.NewReader(rows), &stdout, &stderr)
		if (code == exit.Done) != (want == "") || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, %q and %q, want %q", kernel, code, &stdout, &stderr, want)
		}
	}
}

func TestFitOfOneClassWarns(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"fit", "-"}, nil, strings.NewReader("a,y\n1,p\n2,p\n"), &stdout, &stderr)
	if code != exit.Done || !strings.HasPrefix(stdout.String(), "classification of 1 class from 1 input (") || !strings.Contains(stderr.String(), "all labels are equal") {
		t.Errorf("exit code %d, %q, %q", code, &stdout, &stderr)
	}
}
