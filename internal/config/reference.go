package config

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"strconv"
	"strings"
)

// The reference is made of the comments in config.go, so that an option is
// explained in one place.
//
//go:embed config.go
var source string

// WriteReference writes a configuration with every option and what it is for.
// Those that have a default, or that nothing needs, are commented out.
func WriteReference(w io.Writer) error {
	comments, err := fieldComments()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Accrete: every option. A value here is overridden by the environment\n")
	fmt.Fprintf(&b, "# (%s for input.topics), and that by --set input.topics=a,b.\n", envName("input.topics"))
	writeSection(&b, comments, "", "")
	_, err = io.WriteString(w, b.String())
	return err
}

func writeSection(b *strings.Builder, comments map[string]string, section, indent string) {
	for _, key := range known.sections[section] {
		path := join(section, key)
		b.WriteString("\n")
		for line := range strings.Lines(comments[path]) {
			fmt.Fprintf(b, "%s# %s\n", indent, strings.TrimSuffix(line, "\n"))
		}
		o := known.byPath[path]
		if o == nil {
			fmt.Fprintf(b, "%s%s:\n", indent, key)
			writeSection(b, comments, path, indent+"  ")
			continue
		}
		if names := o.tag.Get("oneof"); len(strings.Fields(names)) > 1 {
			fmt.Fprintf(b, "%s# One of %s.\n", indent, strings.Join(strings.Fields(names), ", "))
		}
		value, end := o.tag.Get("default"), ""
		if value == "" {
			value = o.tag.Get("example")
			end = "   # no default"
		}
		if o.takesList(new(Config)) && value != "auto" {
			value = "[" + value + "]"
		}
		hide := "# "
		if o.tag.Get("required") != "" {
			hide, end = "", "   # required"
		}
		fmt.Fprintf(b, "%s%s%s: %s%s\n", indent, hide, key, value, end)
	}
}

// fieldComments are the comments of config.go's options and sections by path.
func fieldComments() (map[string]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "config.go", source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	structs := map[string]*ast.StructType{}
	ast.Inspect(f, func(n ast.Node) bool {
		if t, ok := n.(*ast.TypeSpec); ok {
			if s, ok := t.Type.(*ast.StructType); ok {
				structs[t.Name.Name] = s
			}
		}
		return true
	})
	comments := map[string]string{}
	var add func(name, section string) error
	add = func(name, section string) error {
		for _, field := range structs[name].Fields.List {
			if field.Tag == nil {
				continue
			}
			tag, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				return err
			}
			_, rest, _ := strings.Cut(tag, `key:"`)
			key, _, _ := strings.Cut(rest, `"`)
			path := join(section, key)
			comments[path] = field.Doc.Text()
			if t, ok := field.Type.(*ast.Ident); ok && structs[t.Name] != nil {
				if err := add(t.Name, path); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return comments, add("Config", "")
}
