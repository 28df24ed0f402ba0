package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Sources are where options come from. Each overrides the previous one:
// defaults, File, Properties, Environ, Set.
type Sources struct {
	File       string   // path of a YAML file; empty for none
	Properties string   // path of a properties file of Kafka's clients; empty for none
	Environ    []string // NAME=value, as in os.Environ; an empty value counts as unset
	Set        []string // input.topics=a,b, as on the command line
}

// Source is the origin of an option's value.
type Source struct {
	Kind string `json:"kind"`         // "default", "file", "properties", "env", "flag", "preset"
	Name string `json:"at,omitempty"` // "config.yaml:7:10", "client.properties: sasl.jaas.config", "ACCRETE_INPUT_TOPICS", "--set input.topics", "dsg-paper"
}

func (s Source) String() string {
	switch s.Kind {
	case "default":
		return s.Kind
	case "env", "preset":
		return s.Kind + " " + s.Name
	}
	return s.Name
}

// Load loads the effective configuration and validates it. Its errors are of
// type Problems.
func Load(from Sources) (*Config, error) {
	c := &Config{sources: map[string]Source{}}
	var problems Problems
	for i := range known.options {
		o := &known.options[i]
		c.sources[o.path] = Source{Kind: "default"}
		if text := o.tag.Get("default"); text != "" {
			if err := o.set(c, text); err != nil {
				panic(fmt.Sprintf("config: default of %s: %v", o.path, err)) // invalid struct tag
			}
		}
	}
	if from.File != "" {
		problems = append(problems, c.readFile(from.File)...)
	}
	if from.Properties != "" {
		problems = append(problems, c.readProperties(from.Properties)...)
	}
	problems = append(problems, c.readEnviron(from.Environ)...)
	problems = append(problems, c.readSet(from.Set)...)
	problems = append(problems, c.usePreset()...)
	for _, name := range []*string{&c.Score.Output, &c.Input.Group} {
		*name = strings.Replace(*name, "<model>", c.Model, 1)
	}
	if len(problems) == 0 { // missing or conflicting options may be a consequence of the problems so far
		problems = c.validate()
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return c, nil
}

func (c *Config) readEnviron(environ []string) Problems {
	var problems Problems
	names := map[string]*option{}
	for i := range known.options {
		names[known.options[i].env] = &known.options[i]
	}
	environ = slices.Clone(environ)
	slices.Sort(environ)
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || text == "" {
			continue
		}
		o := names[name]
		if o == nil {
			c.unknown = append(c.unknown, name)
			continue
		}
		if err := o.set(c, text); err != nil {
			problems = append(problems, Problem{name, err.Error()})
			continue
		}
		c.sources[o.path] = Source{"env", name}
	}
	return problems
}

func (c *Config) readSet(set []string) Problems {
	var problems Problems
	for _, entry := range set {
		path, text, ok := strings.Cut(entry, "=")
		where := "--set " + path
		o := known.byPath[path]
		var err error
		switch {
		case !ok:
			err = errors.New("want key=value, for example input.topics=a,b")
		case known.sections[path] != nil:
			err = fmt.Errorf("is a section: want one of its keys, as %s.%s=…", path, known.sections[path][0])
		case o == nil:
			err = errors.New(unknownKey("", path))
		case o.secret(c):
			err = fmt.Errorf("not allowed on the command line, which every user of this machine can read: use %s or %s_file", o.env, path)
		default:
			err = o.set(c, text)
		}
		if err != nil {
			problems = append(problems, Problem{where, err.Error()})
			continue
		}
		c.sources[path] = Source{"flag", where}
	}
	return problems
}

// renamed has the keys of earlier versions, with their present names.
var renamed = map[string]string{"learner.stepper": "learner.direction", "refit.gap": "refit.tolerance"}

// unknownKey returns the error text for a key that a section does not have. It
// suggests the most similar key.
func unknownKey(section, key string) string {
	text := "unknown key " + quote(key)
	if section != "" {
		text += " in " + section
	}
	if now := renamed[join(section, key)]; now != "" {
		return fmt.Sprintf("%s; it is named %q now", text, now)
	}
	if o := known.byPath[key]; o != nil {
		return fmt.Sprintf("%s: write %s: below %s:", text, o.key, o.section)
	}
	if hint := meant(section, key); hint != "" {
		return fmt.Sprintf("%s; did you mean %q?", text, hint)
	}
	if section == "" && strings.Contains(key, ".") {
		return text + ": accrete lint --reference prints them all"
	}
	return text + ", which has " + strings.Join(slices.Concat(known.sections[section], known.below[section]), ", ")
}

// meant finds the key most similar to an unknown one: in the same section, then
// by prefix, then anywhere in the file.
func meant(section, key string) string {
	here := slices.Concat(known.sections[section], known.below[section])
	if name := spell.Nearest(key, here); name != "" {
		return name
	}
	for _, name := range here {
		if strings.HasPrefix(name, key+".") {
			return name
		}
	}
	var paths []string
	for _, o := range known.options {
		if o.key == key {
			return o.path
		}
		paths = append(paths, o.path)
	}
	return spell.Nearest(key, paths)
}

// Value is the effective value of an option.
type Value struct {
	Key    string `json:"key"`
	Value  any    `json:"value"` // a string, a number or a list; a secret is "***"
	Text   string `json:"-"`     // as written in the file
	Source Source `json:"source"`
}

// Keys returns the paths of all options, in the order of the reference.
func Keys() []string {
	var keys []string
	for _, o := range known.options {
		keys = append(keys, o.path)
	}
	return keys
}

// Values returns all options in the order of the reference.
func (c *Config) Values() []Value {
	var values []Value
	for _, o := range known.options {
		v := o.field(c).Interface()
		switch list := v.(type) {
		case Label:
			if len(list) < 2 {
				v = list.String()
			}
		case Columns:
			if list == nil {
				v = list.String()
			}
		default:
			if o.takesList(c) && o.field(c).IsNil() {
				v = []string{}
			}
		}
		values = append(values, Value{o.path, v, o.text(c), c.sources[o.path]})
	}
	return values
}

// noteSecrets notes the secrets that come from a file of the given kind of Source, if others may
// read it.
func (c *Config) noteSecrets(name, kind string, mode fs.FileMode) {
	if !mode.IsRegular() || mode.Perm()&0o044 == 0 {
		return
	}
	for _, o := range known.options {
		if o.secret(c) && c.sources[o.path].Kind == kind {
			c.loose = append(c.loose, Problem{name, fmt.Sprintf("contains %s and is readable by others: chmod 600, or use %[1]s_file", o.path)})
		}
	}
}

// Warnings returns settings that are valid but probably unintended.
func (c *Config) Warnings() []Problem {
	var warnings []Problem
	var names []string
	for _, o := range known.options {
		names = append(names, o.env)
	}
	for _, name := range c.unknown {
		text := "unknown environment variable"
		if hint := spell.Nearest(name, names); hint != "" {
			text += "; did you mean " + hint + "?"
		}
		warnings = append(warnings, Problem{name, text})
	}
	warnings = append(warnings, c.loose...)
	if c.unused != nil {
		warnings = append(warnings, *c.unused)
	}
	if c.Kafka.Protocol == "SASL_PLAINTEXT" && c.Kafka.Mechanism == "PLAIN" {
		warnings = append(warnings, c.problem("kafka.security.protocol", "the password is sent unencrypted"))
	}
	for _, field := range c.Output.Redact {
		field, _, _ = strings.Cut(field, ":")
		switch {
		case field == c.Input.Key:
			warnings = append(warnings, c.problem("output.redact", field+" is input.key: predictions have its value as their key"))
		case slices.Contains(c.Input.Label, field):
			warnings = append(warnings, c.problem("output.redact", field+" is input.label: predictions have its value as their label"))
		}
	}
	return warnings
}

// At adds the origin of the option to err. The result matches ErrInvalid.
func (c *Config) At(path string, err error) error {
	return Problems{c.problem(path, err.Error())}
}

func (c *Config) problem(path, text string) Problem {
	where := ""
	if s := c.sources[path]; s.Kind != "default" {
		where = s.Name
	}
	if where != "--set "+path { // which names the option already
		text = path + ": " + text
	}
	return Problem{where, text}
}
