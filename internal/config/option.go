package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/ingest/auth"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// option is a field of Config, or of a nested struct, that has a value.
type option struct {
	path    string // "input.batch.size"
	section string // "input.batch"
	key     string // "size"
	env     string // "ACCRETE_INPUT_BATCH_SIZE"
	index   []int  // for reflect's FieldByIndex
	tag     reflect.StructTag
}

// table lists the options and sections of Config in the order of the file.
type table struct {
	options  []option
	byPath   map[string]*option
	sections map[string][]string // keys allowed in a section: its options and sections
	below    map[string][]string // keys below an option that also has a value itself: kernel, of kernel.metric
}

var known = newTable()

func newTable() *table {
	t := &table{byPath: map[string]*option{}, sections: map[string][]string{}, below: map[string][]string{}}
	t.add(reflect.TypeFor[Config](), "", nil)
	for i := range t.options {
		o := &t.options[i]
		t.byPath[o.path] = o
		if dot := strings.LastIndexByte(o.path, '.'); t.byPath[o.path[:max(0, dot)]] != nil {
			t.below[o.path[:dot]] = append(t.below[o.path[:dot]], o.path[dot+1:])
		}
	}
	return t
}

func (t *table) add(typ reflect.Type, section string, index []int) {
	t.sections[section] = nil
	for i := range typ.NumField() {
		f := typ.Field(i)
		key := f.Tag.Get("key")
		if key == "" {
			continue
		}
		t.sections[section] = append(t.sections[section], key)
		at := append(append([]int(nil), index...), i)
		path := join(section, key)
		if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[Secret]() {
			t.add(f.Type, path, at)
			continue
		}
		t.options = append(t.options, option{path: path, section: section, key: key, env: EnvName(path), index: at, tag: f.Tag})
	}
}

func join(section, key string) string {
	if section == "" {
		return key
	}
	return section + "." + key
}

const envPrefix = "ACCRETE_"

// EnvName returns the environment variable of an option: ACCRETE_INPUT_TOPICS of
// input.topics.
func EnvName(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

func (o *option) field(c *Config) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(o.index)
}

func (o *option) secret(c *Config) bool {
	_, ok := o.field(c).Interface().(Secret)
	return ok
}

func (o *option) takesList(c *Config) bool { return o.field(c).Kind() == reflect.Slice }

// registries holds the accepted values of options whose oneof tag names a key
// of it instead of listing them.
var registries = map[string]func() []string{
	"algorithms": func() (names []string) {
		for _, a := range learner.Algorithms() {
			names = append(names, a.Name)
		}
		return names
	},
	"directions": func() []string { return append([]string{"auto"}, learner.Directions()...) },
	"presets":    func() []string { return append([]string{"none"}, learner.PresetNames()...) },
	"averages":   learner.Averages,
	"caps":       func() []string { return append([]string{"auto"}, learner.Caps()...) },
	"reactions":  learner.Reactions,
	"samplings":  features.SamplingNames,
	"mechanisms": auth.Mechanisms,
	"formats":    decode.Formats,
}

// choices returns the values that the option accepts, or nil if it accepts any
// value.
func (o *option) choices() []string {
	if names := registries[o.tag.Get("oneof")]; names != nil {
		return names()
	}
	return strings.Fields(o.tag.Get("oneof"))
}

// help returns a line for each choice of the option that its registry
// documents.
func (o *option) help() string {
	var lines strings.Builder
	if o.tag.Get("oneof") == "algorithms" {
		for _, a := range learner.Algorithms() {
			fmt.Fprintf(&lines, "%s: %s.\n", a.Name, a.Help)
		}
	}
	return lines.String()
}

// set sets the option to the value of the text.
func (o *option) set(c *Config, text string) error {
	if _, is := o.field(c).Interface().(Windows); is {
		w, err := ParseWindows(text)
		if err != nil {
			return err
		}
		return o.setList(c, w)
	}
	if _, is := o.field(c).Interface().(Tables); is {
		t, err := ParseTables(text)
		if err != nil {
			return err
		}
		return o.setList(c, t)
	}
	if o.takesList(c) {
		if _, one := o.field(c).Interface().(Label); one && !strings.Contains(text, ",") {
			return o.setList(c, []string{text}) // a single name is taken literally
		}
		if isFlow(text) {
			return fmt.Errorf("%s is YAML: want %s here", quote(text), o.listForm(c))
		}
		list, err := split(text)
		if err != nil {
			return err
		}
		return o.setList(c, list)
	}
	v, err := parse(o.field(c).Interface(), text)
	if err != nil {
		return err
	}
	if err := o.check(v, text); err != nil {
		return err
	}
	o.field(c).Set(reflect.ValueOf(v))
	return nil
}

// isFlow reports whether text is a list or a mapping as a file may have it.
func isFlow(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") || strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]")
}

// listForm describes the text of a list.
func (o *option) listForm(c *Config) string {
	switch o.field(c).Interface().(type) {
	case Columns:
		return "names with commas between them, each with a type or without, such as amount,note:text"
	case Renames:
		return "column=field, with commas between several"
	}
	return "values with commas between them, such as a,b"
}

func (o *option) setList(c *Config, list []string) error {
	_, columns := o.field(c).Interface().(Columns)
	if columns && len(list) == 1 && list[0] == "auto" {
		list = nil
	}
	if columns {
		list = ParseColumns(list)
	}
	seen := map[string]bool{}
	for _, item := range list {
		if item == "" {
			return errors.New("empty item in a list")
		}
		if seen[item] {
			return fmt.Errorf("duplicate %s", quote(item))
		}
		seen[item] = true
		if _, renames := o.field(c).Interface().(Renames); renames {
			if err := checkRename(item); err != nil {
				return err
			}
		}
		if err := o.check(item, item); err != nil {
			return err
		}
	}
	if columns {
		if err := Columns(list).Check(); err != nil {
			return err
		}
	}
	o.field(c).Set(reflect.ValueOf(list).Convert(o.field(c).Type()))
	return nil
}

// parse parses text as a value of the type of like.
func parse(like any, text string) (any, error) {
	switch like.(type) {
	case string:
		return text, nil
	case Costs:
		_, err := learner.Config{Costs: text}.Effective()
		return Costs(text), err
	case Balance:
		_, err := learner.Config{Balance: text}.Effective()
		return Balance(text), err
	case Secret:
		return Secret{text}, nil
	case Duration:
		return ParseDuration(text)
	case Size:
		return ParseSize(text)
	case int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%s is not a whole number", quote(text))
		}
		return n, nil
	case uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s is not a whole number from 1 to 2^64-1", quote(text)) // as of seeds, the only such options
		}
		return n, nil
	case float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%s is not a number", quote(text))
		}
		return f, nil
	}
	panic(fmt.Sprintf("config: no option may be a %T", like))
}

// check validates a value against the option's tags.
func (o *option) check(v any, text string) error {
	if choices := o.choices(); len(choices) > 0 {
		for _, name := range choices {
			if text == name {
				return nil
			}
		}
		return fmt.Errorf("unknown value %s: want one of %s", quote(text), strings.Join(choices, ", "))
	}
	if o.tag.Get("name") == "topic" && text != "" && text != o.tag.Get("default") {
		check := CheckTopic
		if o.path == "model" {
			check = CheckModel
		}
		if err := check(text); err != nil {
			return err
		}
	}
	least, most := o.tag.Get("min"), o.tag.Get("max")
	switch {
	case least != "" && magnitude(v) < magnitude(mustParse(v, least)), most != "" && magnitude(v) > magnitude(mustParse(v, most)):
		return fmt.Errorf("is %s: want %s", text, between(least, most))
	}
	return nil
}

// between returns the range from least to most, one of which may be empty.
func between(least, most string) string {
	switch {
	case most == "":
		return least + " or more"
	case least == "":
		return most + " or less"
	}
	return least + " to " + most
}

func mustParse(like any, text string) any {
	v, err := parse(like, text)
	if err != nil {
		panic("config: " + err.Error()) // invalid struct tag
	}
	return v
}

func magnitude(v any) float64 {
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return float64(r.Int())
	case r.CanUint():
		return float64(r.Uint())
	}
	return r.Float()
}

// CheckTopic returns an error if Kafka does not accept the name of a topic, or leaves no room for
// the suffixes of the topics of a model of this name.
func CheckTopic(name string) error { return checkName(name, "a valid topic name") }

// CheckModel is CheckTopic for the name of a model.
func CheckModel(name string) error {
	return checkName(name, "a valid name for a model")
}

// mostName leaves room for the suffixes of the topics of a model.
const mostName = 200

func checkName(name, is string) error {
	for _, r := range name {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && r != '.' && r != '_' && r != '-' {
			return fmt.Errorf("%s is not %s: use letters, digits, '.', '_' and '-'", quote(name), is)
		}
	}
	if name == "." || name == ".." || len(name) > mostName {
		return fmt.Errorf("%s is not %s: use at most %d characters, and not . or .. alone", quote(name), is, mostName)
	}
	return nil
}

// text returns the value as it would be written in the file.
func (o *option) text(c *Config) string {
	switch v := o.field(c).Interface().(type) {
	case []string:
		return strings.Join(v, ",")
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}
