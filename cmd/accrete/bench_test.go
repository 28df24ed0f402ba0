package main

import (
	"fmt"
	"os"
	"path/filepath"
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

// The mean cost is in the table and in the JSON, and sets without classes are skipped.
func TestBenchReportsCosts(t *testing.T) {
	dir := t.TempDir()
	classes, numbers := "x,y\n", "x,y\n"
	for i := range 300 {
		class := "ok"
		if i%7 == 0 || i%5 == 0 {
			class = "fraud"
		}
		classes += fmt.Sprintf("%d,%s\n", i%7, class)
		numbers += fmt.Sprintf("%d,%d.5\n", i%7, i%5)
	}
	for name, text := range map[string]string{"a.stream.csv": classes, "b.train.csv": classes, "b.test.csv": classes, "c.stream.csv": numbers} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bench := func(costs string, args ...string) (code int, stdout, stderr string) {
		return call(t, nil, append([]string{"bench", dir, "--algorithms", "ridge", "--costs", costs}, args...)...)
	}
	code, stdout, stderr := bench(`{"fraud": 20}`)
	if code != exit.Done || strings.Count(stdout, " mean cost  most prob.\n") != 2 || strings.Contains(stdout, "c: ") || !strings.Contains(stderr, "for classification") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	_, stdout, _ = bench(`{"fraud": 20}`, "--sets", "b", "--json")
	type result struct {
		Results []struct {
			Progressive, Test struct {
				Classes struct {
					Paid     float64 `json:"mean_cost"`
					Probable float64 `json:"mean_cost_most_probable"`
				}
			}
		}
	}
	r, err := objects[result](stdout)
	if err != nil || len(r) != 1 {
		t.Fatalf("%v, %s", err, stdout)
	}
	// Two thirds of the rows are ok, which cost 1 each if all are taken for fraud.
	for _, of := range []float64{r[0].Results[0].Test.Classes.Paid, r[0].Results[0].Progressive.Classes.Paid} {
		if !(of > 0.1 && of < 1) || !(of < r[0].Results[0].Test.Classes.Probable) {
			t.Errorf("mean costs: %s", stdout)
		}
	}
	if code, stdout, _ := bench("f1", "--sets", "a"); code != exit.Done || !strings.Contains(stdout, "best F1") {
		t.Errorf("f1: exit code %d\n%s", code, stdout)
	}
	for costs, want := range map[string]string{`{"other": 5}`: "none of the classes", "{": "--costs"} {
		if code, _, stderr := bench(costs); code != exit.Misused || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s", costs, code, stderr)
		}
	}
}

// A set that cannot be read costs the results of no other.
func TestBenchFinishesTheSetsThatItCanRead(t *testing.T) {
	dir := t.TempDir()
	var good, priced, kinds strings.Builder
	good.WriteString("x,y\n")
	priced.WriteString("x,price\n")
	kinds.WriteString("kind,y\n")
	for i := range 300 {
		fmt.Fprintf(&good, "%d,%d\n", i%7, i%7*2)
		fmt.Fprintf(&priced, "%d,%d.5\n", i%5, i%5)
		fmt.Fprintf(&kinds, "k%d,%d.5\n", i%5, i%5)
	}
	for name, text := range map[string]string{"a": priced.String(), "b": good.String(), "c": kinds.String()} {
		if err := os.WriteFile(filepath.Join(dir, name+".stream.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bench := func(args ...string) (code int, stdout, stderr string) {
		return call(t, nil, append([]string{"bench", dir, "--algorithms", "dsg"}, args...)...)
	}
	code, stdout, stderr := bench()
	if code != exit.Failed || !strings.HasPrefix(stdout, "b: ") || !strings.Contains(stdout, "\nc: regression") ||
		!strings.Contains(stderr, "a.stream.csv: no column is named y or label") || !strings.Contains(stderr, "sets.csv") || !strings.HasSuffix(stderr, "accrete: 1 data set skipped: see the warnings\n") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := bench("--sets", "a"); code != exit.Misused || stdout != "" || !strings.Contains(stderr, "sets.csv") {
		t.Errorf("no set: exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, _ := bench("--label", "price"); code != exit.Done || !strings.HasPrefix(stdout, "a: regression") {
		t.Errorf("with --label: exit code %d\n%s", code, stdout)
	}
	for name, want := range map[string]string{"empty": "e.stream.csv is empty\"", "x,y\n": "e.stream.csv has no labelled row\"", "x,y\n1,\n2,\n": "e.stream.csv has no labelled row\""} {
		if err := os.WriteFile(filepath.Join(dir, "e.stream.csv"), []byte(strings.TrimPrefix(name, "empty")), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, stdout, stderr := bench("--sets", "b,e"); code != exit.Failed || !strings.HasPrefix(stdout, "b: ") || strings.Contains(stdout, "e: ") || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d\n%s%s", name, code, stdout, stderr)
		}
	}
	if err := os.Remove(filepath.Join(dir, "e.stream.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sets.csv"), []byte("set,label\na,price\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := bench(); code != exit.Done || !strings.HasPrefix(stdout, "a: regression") {
		t.Errorf("described: exit code %d\n%s%s", code, stdout, stderr)
	}
	code, _, stderr = bench("--sets", "c", "--paper", "cdsg")
	if code != exit.Misused || !strings.Contains(stderr, "these columns are not: kind") {
		t.Errorf("categories as numbers: exit code %d\n%s", code, stderr)
	}
}

// newton has a mixture by default, with its weights in the picture, and a row of its own without.
func TestBenchComparesTheMixture(t *testing.T) {
	dir := t.TempDir()
	rows := "x,y\n"
	for i := range 300 {
		rows += fmt.Sprintf("%d,%v\n", i%7, i%7 > 3 != (i > 200))
	}
	if err := os.WriteFile(filepath.Join(dir, "a.stream.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, nil, "bench", dir, "--algorithms", "newton/alone,newton", "--plots", dir, "--json")
	type result struct {
		Results []struct {
			Algorithm   string
			Progressive struct{ Error float64 }
		}
	}
	r, err := objects[result](stdout)
	if code != exit.Done || err != nil || len(r) != 1 || len(r[0].Results) != 2 {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	alone, mixed := r[0].Results[0], r[0].Results[1]
	if mixed.Algorithm != "newton" || !(mixed.Progressive.Error < alone.Progressive.Error) {
		t.Errorf("%+v, and alone %+v: a reversed stream should be easier for the mixture", mixed, alone)
	}
	if code, _, stderr := call(t, nil, "bench", dir, "--algorithms", "dsg/mixture", "--loss", "hinge"); code == exit.Done || !strings.Contains(stderr, "mixture is for the losses") {
		t.Errorf("a mixture of hinge losses: exit code %d, %s", code, stderr)
	}
}

// A set of one class is a classification of that class.
func TestBenchNamesASingleClass(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.stream.csv"), []byte("x,y\n"+strings.Repeat("1,no\n", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, nil, "bench", dir, "--algorithms", "ridge")
	if want := "a: classification of 1 class, 40 examples of 1 input\n"; code != exit.Done || !strings.HasPrefix(stdout, want) {
		t.Errorf("exit code %d, want %s%s%s", code, want, stdout, stderr)
	}
}

// Each set is one object on a line of its own.
func TestBenchPrintsAnObjectForEachSet(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name+".stream.csv"), []byte("x,y\n"+strings.Repeat("1,2.5\n2,3.5\n", 20)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := call(t, nil, "bench", dir, "--algorithms", "ridge", "--json")
	r, err := objects[struct{ Set string }](stdout)
	if code != exit.Done || err != nil || len(r) != 2 || r[0].Set != "a" || r[1].Set != "b" {
		t.Errorf("exit code %d, %v, %v\n%s%s", code, r, err, stdout, stderr)
	}
}

// Names of no algorithm are refused before any algorithm runs, with those to choose from.
func TestBenchChecksTheNamesOfAlgorithmsFirst(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.stream.csv"), []byte("x,y\n"+strings.Repeat("1,2.5\n2,3.5\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{"newton,foo": "newton, ", "ridge,dsg/foo": "adagrad"} {
		code, stdout, stderr := call(t, nil, "bench", dir, "--algorithms", names, "--plots", dir)
		if code != exit.Misused || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, no %q in\n%s%s", names, code, want, stdout, stderr)
		}
	}
	if drawn, _ := filepath.Glob(filepath.Join(dir, "*.png")); len(drawn) > 0 {
		t.Errorf("a set was run: %v", drawn)
	}
}
