// Command sensitivity learns data sets of testdata with half and with twice the value of each
// constant of the learner that was chosen by trial. It writes the change of the error into
// docs/constants.md. The error is the progressive one unless ways.go says otherwise.
//
//	go run ./internal/constants/sensitivity
//	go run ./internal/constants/sensitivity -only newton,ridge.lossDecay
//
// It does not change any file of the source: the compiler reads one constant at a time from an
// overlay. It has to be run from the root of the module, and takes about an hour on one core.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/accrete-ml/accrete/internal/constants"
)

const page = "docs/constants.md"

func main() {
	only := flag.String("only", "", "comma-separated packages or constants; empty: all")
	of := flag.String("measure", "", "learn the sets of a constant, print the errors as JSON, and do nothing else")
	flag.Parse()
	var err error
	if *of != "" {
		err = printErrors(*of)
	} else {
		err = run(*only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sensitivity:", err)
		os.Exit(1)
	}
}

func run(only string) error {
	all, err := constants.Find(".")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sensitivity")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	usual := map[*way]errors{}
	for _, c := range all {
		if !wanted(only, c.Name) {
			continue
		}
		way := wayOf(c.Name)
		if usual[way] == nil {
			if usual[way], err = built(dir, c, c.Value); err != nil {
				return err
			}
		}
		var cells []string
		for _, factor := range []float64{0.5, 2} {
			cell := "does not run"
			if e, err := built(dir, c, c.Scaled(factor)); err == nil {
				cell = e.change(usual[way])
			}
			cells = append(cells, cell)
		}
		fmt.Printf("%s: %s, %s\n", c.Name, cells[0], cells[1])
		if err := write(c, cells); err != nil {
			return err
		}
	}
	return nil
}

func wanted(only, name string) bool {
	if only == "" {
		return true
	}
	for _, o := range strings.Split(only, ",") {
		if name == o || strings.HasPrefix(name, o+".") {
			return true
		}
	}
	return false
}

// printErrors learns the sets of the constant and prints their errors as JSON.
func printErrors(name string) error {
	e, err := wayOf(name).measured()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(e)
}

// built builds this program with a value of c, runs it, and returns the errors that it prints.
func built(dir string, c constants.Constant, value string) (e errors, err error) {
	source, err := c.Source(".", value)
	if err != nil {
		return nil, err
	}
	file, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, err
	}
	other := filepath.Join(dir, "other.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: other}})
	if err != nil {
		return nil, err
	}
	for path, text := range map[string][]byte{other: source, filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, err
		}
	}
	program := filepath.Join(dir, "sensitivity")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./internal/constants/sensitivity") // #nosec G204
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s = %s: %w\n%s", c.Name, value, err, text)
	}
	text, err := exec.Command(program, "-measure", c.Name).Output() // #nosec G204 -- the program built above
	if err != nil {
		return nil, fmt.Errorf("%s = %s: %w", c.Name, value, err)
	}
	return e, json.Unmarshal(text, &e)
}

// write sets the last two cells in the row of c.
func write(c constants.Constant, cells []string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	found := false
	for i, line := range lines {
		if !strings.HasPrefix(line, "| `"+c.Name+"` |") {
			continue
		}
		row := strings.Split(line, " | ")
		if len(row) != 6 {
			return fmt.Errorf("%s: %d columns, want 6: %s", page, len(row), line)
		}
		row[4], row[5] = cells[0], cells[1]+" |"
		lines[i], found = strings.Join(row, " | "), true
	}
	if !found {
		return fmt.Errorf("%s has no row for %s", page, c.Name)
	}
	return os.WriteFile(page, []byte(strings.Join(lines, "\n")), 0o600)
}
