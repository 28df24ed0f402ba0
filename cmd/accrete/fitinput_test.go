package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// Values that would not take effect, and output files that could not be
// written, are rejected before any row is learned.
func TestFitRefusesAtOnce(t *testing.T) {
	for flags, want := range map[string]string{
		"--minibatch=-1":         "fit: --minibatch is -1: want 0 or more",
		"--max-features 0":       "fit: --max-features is 0: want 1 or more",
		"--max-classes 1":        "fit: --max-classes is 1: want 2 to 65536",
		"--lambda=-1":            "fit: --lambda is -1: want 0 to 1",
		"--precision 0":          "fit: --precision is 0: want more than 0 and at most 1",
		"--precision 1.5":        "fit: --precision is 1.5: want more than 0 and at most 1",
		"--seed 0":               "fit: --seed is 0: want 1 or more",
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
	if code != exit.Done || !strings.HasPrefix(stdout.String(), "classification of 1 class from 1 input (") || !strings.Contains(stderr.String(), "all labels are equal") || strings.Contains(stderr.String(), "too few labelled rows") {
		t.Errorf("exit code %d, %q, %q", code, &stdout, &stderr)
	}
}

// JSON has no header in which a label could be looked for before the rows are read: the error comes
// after them, and names the label field that they lack.
// Before the first fit, at 64 rows, nothing is decided about the columns, and fit says so.
func TestFitOfTooFewRowsWarns(t *testing.T) {
	for rows, few := range map[int]bool{60: true, 80: false} {
		text := "a,b,y\n"
		for i := range rows {
			text += fmt.Sprintf("%d,v%d,c%d\n", i%7, i%3, i%2)
		}
		file := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := call(t, nil, "fit", file)
		if code != exit.Done || strings.Contains(stdout, "decided in the warm-up") != few || strings.Contains(stderr, "too few labelled rows for the first fit") != few {
			t.Errorf("%d rows: exit code %d, %s%s", rows, code, stdout, stderr)
		}
	}
}

func TestAMissingLabelFieldIsNamed(t *testing.T) {
	const flat, listed = `{"a":1,"price":2}` + "\n" + `{"a":2,"price":3}` + "\n", `{"x":[1]}` + "\n"
	for _, test := range []struct{ rows, args, want string }{
		{flat, "fit - --label prise", `standard input has no labelled row, so nothing was learned: there is no field "prise", which is configured as the label (did you mean "price"?); the fields of the first row are a, price` + "\n"},
		{flat, "fit - --label price,other", `there is no field "other", which is configured as the label; the fields of the first row are a, price` + "\n"},
		{listed, "fit -", "there is no field y or label; the fields of the first row are x: set the label field with --label (input.label)\n"},
		{`{"a":1,"price":null}` + "\n", "fit - --label price", "standard input has no labelled row, so nothing was learned\n"},
		{flat, "fit train.csv --label y --test rows.jsonl", `rows.jsonl has no labelled row, so nothing was tested: there is no field "y"`},
		{flat, "metric - --label prise", `standard input has no labelled row: there is no field "prise", which is configured as the label (did you mean "price"?)`},
	} {
		inDir(t, "")
		for name, text := range map[string]string{"train.csv": "a,price,y\n1,2,p\n2,3,q\n", "rows.jsonl": test.rows} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(test.args), nil, strings.NewReader(test.rows), &stdout, &stderr)
		if code == exit.Done || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%s: exit code %d, %q, want %q", test.args, code, &stderr, test.want)
		}
	}
}

// fit learns more classes than 256 if it is asked to, and its models predict all of them.
func TestFitLearnsMoreClasses(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := "a,y\n"
	for i := range 600 {
		rows += fmt.Sprintf("%d,k%d\n", i%300, i%300)
	}
	if err := os.WriteFile("rows.csv", []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"fit", "rows.csv", "--algorithm", "dsg", "--max-features", "64", "--forest", "0", "--save", "m.snap"}
	if code, _, stderr := call(t, nil, args...); code != exit.Failed || !strings.Contains(stderr, `"k256" would be class 257, but max_classes is 256 (fit --max-classes`) {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if code, _, stderr := call(t, nil, append(args, "--max-classes", "300")...); code != exit.Done {
		t.Fatalf("exit code %d, %q", code, stderr)
	}
	_, predicted, _ := call(t, nil, "predict", "rows.csv", "--model", "m.snap")
	if header, _, _ := strings.Cut(predicted, "\n"); strings.Count(header, "probability.") != 300 {
		t.Errorf("%.100s", header)
	}
}

// Fields of --key and --weight that no row has are reported: JSON lines have no header to miss them in.
func TestFitWarnsOfFieldsThatNoRowHas(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := ""
	for i := range 40 {
		rows += fmt.Sprintf(`{"a":%d,"k":"k%d","w":%d,"y":"%c"}`+"\n", i%7, i%3, 1+i%2, 'p'+rune(i%2))
	}
	if err := os.WriteFile("rows.jsonl", []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[string]int{"--key k --weight w": 0, "--key kk --weight w": 1, "--key k --weight ww": 1, "--key kk --weight ww": 2} {
		code, _, stderr := call(t, nil, append([]string{"fit", "rows.jsonl", "--label", "y", "--lags", "1"}, strings.Fields(flags)...)...)
		if code != exit.Done || strings.Count(stderr, "no row has") != want {
			t.Errorf("%s: exit code %d, %q, want %d warnings", flags, code, stderr, want)
		}
	}
}
