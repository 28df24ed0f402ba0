package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
	matters := map[string]string{} // how much each column does; the label is that of the carrier
	for _, line := range lines(stdout) {
		if f := strings.Fields(line); len(f) > 5 {
			matters[f[0]] = f[4]
		}
	}
	if v, err := strconv.ParseFloat(matters["carrier"], 64); err != nil || v < 0.5 || matters["carrier"] <= matters["late"] || matters["carrier"] <= matters["wind"] {
		t.Errorf("importances %v, want that of the carrier largest", matters)
	}
	text := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{
		"carrier category 0 3 " + matters["carrier"] + " one-hot of 3 values, target statistic of others",
		"tail category 0 31 " + matters["tail"] + " target statistic and log frequency",
		"late boolean 0 2 " + matters["late"] + " number",
		"at time 0 28 " + matters["at"] + " sine and cosine of day, week and year",
		"wind numeric 80 13 " + matters["wind"] + " number, missing as",
		"and an indicator of missing",
		"gone unknown 400 0 0.000 nothing yet: it had no value in the warm-up",
		"test error 0.0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the output has no %q:\n%s", want, stdout)
		}
	}
}

// flights writes a file whose columns id and flight tell its rows apart.
func flights(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,flight,carrier,late.min,gone,\"true\",y\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%d,f%d,c%d,%d,,%v,%d\n", 1000+7*i, i, i%3, i%13, i%2 == 0, i%3)
	}
	path := filepath.Join(dir, "flights.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Columns that look like identifiers are named and learned; those that are declared are
// no inputs. What was inferred is printed as configuration, which the configuration
// reads back.
func TestIdentifiersAreNamedAndColumnsPrinted(t *testing.T) {
	dir := t.TempDir()
	path, saved := flights(t, dir), filepath.Join(dir, "m.snap")
	code, stdout, stderr := call(t, nil, "fit", path, "--max-features", "64", "--mixture", "off", "--save", saved, "--print-columns")
	if code != exit.Done {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	const printed = `input:
  columns:
    carrier: category
    flight: category  # looks like an identifier: id if it is not an input
    gone: ignored  # no value so far
    id: numeric  # looks like an identifier: id if it is not an input
    late.min: numeric
    "true": boolean
`
	for _, want := range []string{"from 6 inputs", "flight looks like an identifier", "id looks like an identifier", "--columns 'NAME:TYPE,*'", printed} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output has no %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "late.min looks") || strings.Contains(stdout, "carrier looks") {
		t.Errorf("columns that are no identifiers are named:\n%s", stdout)
	}
	code, stdout, _ = call(t, nil, "inspect", saved)
	text := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{"column carrier category one-hot of 3 values, target statistic of others", "column flight category target statistic and log frequency of 400 values", "column gone unknown nothing"} {
		if code != exit.Done || !strings.Contains(text, want) {
			t.Errorf("inspect: exit %d, no %q:\n%s", code, want, stdout)
		}
	}
	if code, stdout, _ = call(t, nil, "inspect", saved, "--json"); code != exit.Done || !strings.Contains(stdout, `"columns":[{"name":"carrier","type":"category","becomes":"one-hot`) {
		t.Errorf("inspect --json: exit %d\n%s", code, stdout)
	}
	_, stdout, _ = call(t, nil, "inspect", saved, "--columns")
	if want := strings.ReplaceAll(printed, "  # looks like an identifier: id if it is not an input", ""); stdout != want {
		t.Errorf("inspect --columns:\n%s\nwant\n%s", stdout, want)
	}
	file := filepath.Join(dir, "accrete.yaml")
	if err := os.WriteFile(file, []byte("model: m\nkafka:\n  bootstrap.servers: x:9092\n"+strings.Replace(stdout, "input:\n", "input:\n  topics: [a]\n  label: y\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = call(t, nil, "lint", "-c", file)
	if code != exit.Done || !strings.Contains(stdout, "carrier:category") || !strings.Contains(stdout, "true:boolean") {
		t.Errorf("lint: exit %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = call(t, nil, "fit", path, "--max-features", "64", "--mixture", "off", "--columns", "id:id,flight:ignored,carrier:category", "--print-columns")
	if code != exit.Done || !strings.Contains(stdout, "from 1 input") || !strings.Contains(stdout, "    carrier: category\n    flight: ignored\n    id: id\n") {
		t.Errorf("fit with declared columns: exit %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = call(t, nil, "fit", path, "--max-features", "64", "--mixture", "off", "--columns", "id:id,flight:id")
	if code != exit.Done || !strings.Contains(stdout, "from 4 inputs") || strings.Contains(stdout, "identifier") {
		t.Errorf("fit without ids: exit %d\n%s%s", code, stdout, stderr)
	}
}

// Columns that --columns leaves out without saying so would be missed: the report counts them.
func TestColumnsThatAreLeftOutAreCounted(t *testing.T) {
	path := flights(t, t.TempDir())
	for columns, want := range map[string]string{
		"carrier:category":   "left out     5 columns that --columns does not name: --columns 'carrier:category,*' keeps them\n",
		"id,carrier":         "left out     4 columns that --columns does not name\n",
		"carrier:category,*": "",
		"id:id":              "",
	} {
		code, stdout, stderr := call(t, nil, "fit", path, "--max-features", "64", "--mixture", "off", "--columns", columns)
		if code != exit.Done || !strings.Contains(stdout, want) || want == "" && strings.Contains(stdout, "left out") {
			t.Errorf("--columns %s: exit code %d, want %q in\n%s%s", columns, code, want, stdout, stderr)
		}
	}
}
