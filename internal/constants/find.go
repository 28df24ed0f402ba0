// Package constants finds the numbers in the source of the learner that were chosen by trial, and
// writes them with other values.
package constants

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Constant is a constant, or a variable that is never assigned to, with a comment that says that it
// was chosen by trial or is a first guess.
type Constant struct {
	Name  string // with its package: "newton.windowRows"
	Value string // as written in the source
	Path  string // path of its file, relative to the root of the module
	at    int    // offset of the value in the file
}

// Find returns the constants of the learner and of its trees, in the module at root.
func Find(root string) (all []Constant, err error) {
	for _, pattern := range []string{"features/forest/*.go", "learner/internal/*/*.go", "learner/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			found, err := inFile(root, path)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

func inFile(root, path string) (found []Constant, err error) {
	source, err := os.ReadFile(path) // #nosec G304 -- a file of this module
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	line := func(p token.Pos) int { return set.Position(p).Line }
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST && group.Tok != token.VAR {
			continue
		}
		last, doc := 0, "" // a comment applies to the lines below it as well, up to an empty line
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
			if text = strings.ToLower(text); !strings.Contains(text, "chosen by trial") && !strings.Contains(text, "first guess") {
				continue
			}
			for i, v := range spec.Values {
				from, to := set.Position(v.Pos()).Offset, set.Position(v.End()).Offset
				found = append(found, Constant{file.Name.Name + "." + spec.Names[i].Name, string(source[from:to]), filepath.ToSlash(name), from})
			}
		}
	}
	return found, nil
}
