package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
)

const (
	maxFile  = 64 << 10
	maxDepth = 20
)

// file parses a YAML file into a Config.
type file struct {
	name     string
	config   *Config
	lines    map[string]int // line of each key seen so far
	problems Problems
}

func (c *Config) readFile(name string) Problems {
	f := &file{name: name, config: c, lines: map[string]int{}}
	text, mode, err := readAll(name)
	if errors.Is(err, errNoFile) {
		return Problems{{name, err.Error() + "; accrete lint --reference prints one to start from"}}
	}
	if err != nil {
		return Problems{{name, err.Error()}}
	}
	if bad := firstInvalid(text); bad >= 0 {
		line := 1 + bytes.Count(text[:bad], []byte("\n"))
		return Problems{{fmt.Sprintf("%s:%d", name, line), "is not UTF-8 text"}}
	}
	f.parse(string(bytes.TrimPrefix(text, []byte("\ufeff"))))
	c.noteSecrets(name, "file", mode)
	return f.problems
}

var errNoFile = errors.New("no such file")

func readAll(name string) ([]byte, fs.FileMode, error) {
	r, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, errNoFile
	}
	if err != nil {
		return nil, 0, cause(err)
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, 0, cause(err)
	}
	if info.IsDir() {
		return nil, 0, errors.New("is a directory, not a file")
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, 0, cause(err)
	}
	if len(text) > maxFile {
		return nil, 0, fmt.Errorf("is larger than %v, too large for a configuration", Size(maxFile))
	}
	return text, info.Mode(), nil
}

// cause returns err without the path, which the caller adds.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 || r == 0 {
			return i
		}
		i += n
	}
	return -1
}

// parse parses the text as YAML and reads the options. It passes tokens to the
// parser, so that their nesting depth can be checked first: the parser's time
// grows with a power of the depth.
func (f *file) parse(text string) {
	tokens := lexer.Tokenize(text)
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType, token.DirectiveType:
			f.add(t, "YAML anchors, aliases, tags and directives are not supported; quote a value that begins with %s", t.Value[:1])
			return
		}
		if depth > maxDepth {
			f.add(t, "brackets are nested too deeply")
			return
		}
	}
	tree, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var y yaml.Error
		if errors.As(err, &y) && y.GetToken() != nil {
			f.add(y.GetToken(), "not YAML: %s", y.GetMessage())
		} else {
			first, _, _ := strings.Cut(err.Error(), "\n")
			f.problems = append(f.problems, Problem{f.name, "not YAML: " + first})
		}
		return
	}
	var body ast.Node
	for _, doc := range tree.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			f.add(doc.Body.GetToken(), "more than one YAML document: want one")
			return
		default:
			body = doc.Body
		}
	}
	if body == nil {
		f.problems = append(f.problems, Problem{f.name, "is empty; accrete lint --reference prints one to start from"})
		return
	}
	f.section("", body)
}

func (f *file) add(t *token.Token, format string, args ...any) {
	f.problems = append(f.problems, Problem{f.at(t), fmt.Sprintf(format, args...)})
}

func (f *file) at(t *token.Token) string {
	return fmt.Sprintf("%s:%d:%d", f.name, t.Position.Line, t.Position.Column)
}

// section reads the section at the given path.
func (f *file) section(path string, n ast.Node) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		if path == "" {
			f.add(n.GetToken(), "want keys with values, for example model: fraud")
		} else {
			f.add(n.GetToken(), "%s is a section: want keys below it, as %s: …", path, known.sections[path][0])
		}
		return
	}
	for _, entry := range m.Values {
		key, ok := entry.Key.(ast.ScalarNode)
		if !ok {
			f.add(entry.Key.GetToken(), "want a plain key")
			continue
		}
		t := key.GetToken()
		full := join(path, t.Value)
		if first, again := f.lines[full]; again {
			f.add(t, "duplicate key %s, first on line %d", full, first)
			continue
		}
		f.lines[full] = t.Position.Line
		_, isSection := known.sections[full]
		o := known.byPath[full]
		switch {
		case isSection && entry.Value.Type() == ast.NullType: // a section with all keys commented out
		case isSection:
			f.section(full, entry.Value)
		case o != nil && known.below[full] != nil && entry.Value.Type() == ast.MappingType:
			f.section(full, entry.Value)
		case o != nil && known.below[path] != nil:
			f.option(o, entry.Value)
		case o != nil && o.section == path && entry.Value.Type() == ast.NullType:
			f.add(t, "%s has no value; remove the line to use the default", full)
		case o != nil && o.section == path:
			f.option(o, entry.Value)
		default:
			f.add(t, "%s", unknownKey(path, t.Value))
		}
	}
}

// option reads the value of one option.
func (f *file) option(o *option, n ast.Node) {
	c := f.config
	var err error
	switch n := n.(type) {
	case *ast.SequenceNode:
		list, ok := f.items(o, n)
		if !ok {
			return
		}
		err = o.setList(c, list)
	case *ast.MappingNode:
		if _, is := o.field(c).Interface().(Renames); is {
			var list []string
			if list, err = renamesOf(n); err == nil {
				err = o.setList(c, list)
			}
			break
		}
		if want := objects[o.field(c).Type()]; want != "" {
			text, ok := object(n)
			if !ok {
				f.add(n.GetToken(), "%s: want %s", o.path, want)
				return
			}
			err = o.set(c, text)
			break
		}
		list, ok := f.typedColumns(o, n)
		if !ok {
			return
		}
		err = o.setList(c, list)
	default:
		text, ok := scalar(n)
		if !ok {
			f.add(n.GetToken(), "%s: want a plain value", o.path)
			return
		}
		err = o.set(c, text)
	}
	if err != nil {
		f.add(n.GetToken(), "%s: %v", o.path, err)
		return
	}
	c.sources[o.path] = Source{"file", f.at(n.GetToken())}
}

// items returns the items of a list as they are written, windows and tables in their own
// form. It reports false after adding a problem.
func (f *file) items(o *option, n *ast.SequenceNode) (list []string, ok bool) {
	for _, item := range n.Values {
		text, ok := scalar(item)
		if m, isMapping := item.(*ast.MappingNode); ok || isMapping {
			var err error
			switch o.path {
			case "input.windows":
				var w decode.Window
				if isMapping {
					err = mapping(m, w.Set)
				} else {
					w, err = decode.ParseWindow(text)
				}
				text, ok = w.String(), true
			case "input.tables":
				var t decode.Table
				if isMapping {
					err = mapping(m, t.Set)
				} else {
					t, err = decode.ParseTable(text)
				}
				text, ok = t.String(), true
			}
			if err != nil {
				f.add(item.GetToken(), "%s: %v", o.path, err)
				return nil, false
			}
		}
		if !ok {
			f.add(item.GetToken(), "%s: want a list of plain values", o.path)
			return nil, false
		}
		list = append(list, text)
	}
	if !o.takesList(f.config) {
		f.add(n.GetToken(), "%s: want one value, not a list", o.path)
		return nil, false
	}
	return list, true
}

// typedColumns returns the columns of a mapping, as name:type. It reports false after adding
// a problem, which every other option has.
func (f *file) typedColumns(o *option, n *ast.MappingNode) (list []string, ok bool) {
	_, columns := o.field(f.config).Interface().(Columns)
	switch {
	case o.path == "input.windows":
		f.add(n.GetToken(), "%s: want a list, such as [{key: card, of: amount, over: [1h, 7d]}]", o.path)
		return nil, false
	case o.path == "input.tables":
		f.add(n.GetToken(), "%s: want a list, such as [{topic: customers, key: customer_id, fields: [tier]}]", o.path)
		return nil, false
	case !columns:
		f.add(n.GetToken(), "%s: want a value, not keys below it", o.path)
		return nil, false
	}
	for _, entry := range n.Values {
		key, isPlain := entry.Key.(ast.ScalarNode)
		text, ok := scalar(entry.Value)
		if !ok || !isPlain {
			f.add(entry.GetToken(), "%s: want name: type", o.path)
			return nil, false
		}
		if key.GetToken().Value == Others && text == "auto" {
			list = append(list, Others)
			continue
		}
		item := key.GetToken().Value + ":" + text
		if _, t := splitColumn(item); t != text {
			_, err := schema.ParseType(text)
			f.add(entry.Value.GetToken(), "%s: %s: %v", o.path, quote(key.GetToken().Value), err)
			return nil, false
		}
		list = append(list, item)
	}
	return list, true
}

// scalar returns a plain or quoted value as it is written. The option
// interprets it, so a column may be called 1, true or 1e3.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.LiteralNode:
		return strings.TrimSuffix(n.Value.Value, "\n"), true
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}
