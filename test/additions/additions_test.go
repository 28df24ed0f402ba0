// Package additions applies the diffs of CONTRIBUTING.md to the tree and runs the
// promises over them, with no other change.
package additions

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var suites = flag.Bool("suites", false, "compile the additions and run the promises over them, about a minute")

const root, module = "../..", "github.com/accrete-ml/accrete"

// runs are the tests that CONTRIBUTING.md names, where possible for the additions alone.
var runs = [][]string{
	{"./learner/loss", "./features/kernel", "./ingest/decode", "./learner/internal/encode", "-short", "-skip", "KernelsAreDocumented|FrequenciesOfEveryKernelAreGolden"}, // which the steps of the page change
	{"./learner", "-run", "(GoesOnExactly|CutOf|StateAlone|SharesNoMemory|Unlabelled|StepSays|NoLearnerWrote|KeepThePromises|EveryLossKeeps)/prior"},
	{"./learner", "-run", "EveryLossKeeps.*/.*/logcosh|EveryKernelKeeps.*/.*/sech"},
	{"./learner", "-run", "ColumnsKeepThePromises"},
	{"./learner", "-run", "FiniteRows", "-rapid.checks", "20"},
}

// TestDiffsOfContributingApply with -suites also compiles them and runs the promises.
func TestDiffsOfContributingApply(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{} // by path in the tree
	diffs := 0
	for _, block := range strings.Split(string(text), "```diff\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		apply(t, files, block)
		diffs++
	}
	if diffs < 5 {
		t.Fatalf("%d diffs, want one of a loss, a kernel, an algorithm, an input format and an encoder", diffs)
	}
	if !*suites {
		return
	}
	for name := range files {
		files[name] = imported(t, files, name)
	}
	overlay := overlayOf(t, files)
	arrows := exec.Command(".ci/run", "arrows")
	arrows.Dir, arrows.Env = root, append(os.Environ(), "GOFLAGS=-mod=readonly -overlay="+overlay)
	if out, err := arrows.CombinedOutput(); err != nil {
		t.Errorf(".ci/run arrows: %v\n%s", err, out)
	}
	for _, args := range runs {
		c := exec.Command("go", append([]string{"test", "-count=1", "-vet=off", "-overlay", overlay}, args...)...)
		c.Dir = root
		out, err := c.CombinedOutput()
		if t.Logf("go test %s\n%s", strings.Join(args, " "), out); err != nil {
			t.Errorf("go test %s: %v", strings.Join(args, " "), err)
		}
	}
}

// apply applies one diff, whose hunks have no positions: the lines before it must occur
// once in the file.
func apply(t *testing.T, files map[string]string, diff string) {
	for _, part := range strings.Split("\n"+diff, "\n--- ")[1:] {
		from, hunk, _ := strings.Cut(part, "\n")
		to, hunk, _ := strings.Cut(hunk, "\n")
		name := strings.TrimPrefix(to, "+++ b/")
		var before, after []string
		for _, line := range strings.Split(strings.TrimSuffix(hunk, "\n"), "\n") {
			switch {
			case strings.HasPrefix(line, "+"):
				after = append(after, line[1:])
			case strings.HasPrefix(line, "-"):
				before = append(before, line[1:])
			default:
				before, after = append(before, strings.TrimPrefix(line, " ")), append(after, strings.TrimPrefix(line, " "))
			}
		}
		if from == "/dev/null" {
			files[name] = strings.Join(after, "\n") + "\n"
			if clause := "package " + path.Base(path.Dir(name)) + "\n"; !strings.Contains(files[name], clause) {
				files[name] = clause + "\n" + files[name]
			}
			continue
		}
		if _, changed := files[name]; !changed {
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(text)
		}
		old := strings.Join(before, "\n") + "\n"
		if n := strings.Count(files[name], old); n != 1 {
			t.Fatalf("%s contains these lines of the diff %d times, want once:\n%s", name, n, old)
		}
		files[name] = strings.Replace(files[name], old, strings.Join(after, "\n")+"\n", 1)
	}
}

// imported returns a file with imports of the packages that it names without importing
// them, which the diffs leave out.
func imported(t *testing.T, files map[string]string, name string) string {
	text := files[name]
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, i := range file.Imports {
		have[path.Base(strings.Trim(i.Path.Value, `"`))] = true
	}
	missing := map[string]bool{}
	resolved, _ := parser.ParseFile(set, name, text, 0)
	for _, id := range resolved.Unresolved {
		ast.Inspect(resolved, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.X == ast.Expr(id) && !have[id.Name] {
				missing[id.Name] = true
			}
			return true
		})
	}
	var lines []string
	for _, p := range slices.Sorted(maps.Keys(missing)) {
		lines = append(lines, `import "`+pathOf(files, p)+`"`)
	}
	clause, rest, _ := strings.Cut(text, "\n")
	if i := strings.Index(text, "\npackage "); !strings.HasPrefix(text, "package ") && i >= 0 {
		end := i + 1 + strings.Index(text[i+1:], "\n")
		clause, rest = text[:end], text[end+1:]
	}
	out, err := format.Source([]byte(clause + "\n" + strings.Join(lines, "\n") + "\n" + rest))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// pathOf returns the import path of a package of this module, or of the standard library.
func pathOf(files map[string]string, name string) string {
	for _, pattern := range []string{"*", "*/*", "*/*/*"} {
		dirs, _ := filepath.Glob(filepath.Join(root, pattern))
		for file := range files {
			dirs = append(dirs, filepath.Join(root, path.Dir(file)))
		}
		for _, d := range dirs {
			if filepath.Base(d) == name && !strings.Contains(d, "cmd") {
				return path.Join(module, filepath.ToSlash(strings.TrimPrefix(d, filepath.FromSlash(root))))
			}
		}
	}
	return name
}

// overlayOf writes the files where the go command finds them, and nothing in the tree.
func overlayOf(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for name, text := range files {
		at := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(top, name)] = at
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}
