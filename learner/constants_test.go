package learner

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConstantsAreListed: docs/constants.md has a row, with the value, for each
// constant of the learner whose comment says that it was chosen by trial.
func TestConstantsAreListed(t *testing.T) {
	page, err := os.ReadFile("../docs/constants.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("internal/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range append(files, own...) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, row := range trialConstants(t, path) {
			found++
			if !strings.Contains(string(page), row) {
				t.Errorf("%s: docs/constants.md has no row %s", path, row)
			}
		}
	}
	if rows := strings.Count(string(page), "\n| `"); found < 50 || rows != found {
		t.Errorf("%d constants were chosen by trial, and docs/constants.md has %d rows", found, rows)
	}
}

// trialConstants returns the beginnings of the rows of the constants of a file.
func trialConstants(t *testing.T, path string) (rows []string) {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	line := func(p token.Pos) int { return set.Position(p).Line }
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST && group.Tok != token.VAR {
			continue
		}
		last, doc := 0, "" // a comment is for the lines below it as well, up to an empty one
		for _, s := range group.Specs {
			spec := s.(*ast.ValueSpec)
			switch {
			case spec.Doc != nil:
				doc = spec.Doc.Text()
			case line(spec.Pos()) != last+1:
				doc = ""
			}
			last = line(spec.End())
			text := strings.Join(strings.Fields(group.Doc.Text()+doc+spec.Comment.Text()), " ")
			if !strings.Contains(strings.ToLower(text), "chosen by trial") {
				continue
			}
			for i, v := range spec.Values {
				value := string(source[set.Position(v.Pos()).Offset:set.Position(v.End()).Offset])
				rows = append(rows, fmt.Sprintf("| `%s.%s` | `%s` |", file.Name, spec.Names[i], value))
			}
		}
	}
	return rows
}
