// Package options reads and writes options as name=value, separated by spaces.
package options

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Option is an option with a name. Exactly one of the pointers is set.
type Option struct {
	name   string
	text   *string
	list   *[]string
	number *int
}

// Text returns an option with a single value.
func Text(name string, to *string) Option { return Option{name: name, text: to} }

// Texts returns an option with several values, separated by commas.
func Texts(name string, to *[]string) Option { return Option{name: name, list: to} }

// Number returns an option with a whole number.
func Number(name string, to *int) Option { return Option{name: name, number: to} }

// List has all options, in the order in which String writes them.
type List []Option

// Parse sets the options in s, which has the form that String writes. If s has another form, the
// error mentions example.
func (l List) Parse(s, example string) error {
	given := map[string]bool{}
	for _, option := range strings.Fields(s) {
		name, text, found := strings.Cut(option, "=")
		if !found || text == "" {
			return fmt.Errorf("%s: want options such as %s", strconv.Quote(option), example)
		}
		if given[name] {
			return fmt.Errorf("duplicate option %s", strconv.Quote(name))
		}
		given[name] = true
		if err := l.Set(name, strings.Split(text, ",")); err != nil {
			return err
		}
	}
	return nil
}

// Set sets an option by its name.
func (l List) Set(name string, values []string) error {
	i := slices.IndexFunc(l, func(o Option) bool { return o.name == name })
	switch {
	case i < 0:
		return l.unknown(name)
	case l[i].list != nil:
		*l[i].list = values
	case len(values) != 1:
		return fmt.Errorf("%s: want one value, not %d", name, len(values))
	case l[i].text != nil:
		*l[i].text = values[0]
	default:
		n, err := strconv.Atoi(values[0])
		if err != nil {
			return fmt.Errorf("%s: %s is not a whole number", name, strconv.Quote(values[0]))
		}
		*l[i].number = n
	}
	return nil
}

func (l List) unknown(name string) error {
	names := make([]string, len(l))
	for i, o := range l {
		names[i] = o.name
	}
	hint := ""
	if near := spell.Nearest(name, names); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return fmt.Errorf("unknown option %s: want %s%s", strconv.Quote(name), strings.Join(names, ", "), hint)
}

// String returns the options that are not empty or 0 as name=value, separated by spaces.
func (l List) String() string {
	var all []string
	for _, o := range l {
		text := ""
		switch {
		case o.list != nil:
			text = strings.Join(*o.list, ",")
		case o.text != nil:
			text = *o.text
		case *o.number != 0:
			text = strconv.Itoa(*o.number)
		}
		if text != "" {
			all = append(all, o.name+"="+text)
		}
	}
	return strings.Join(all, " ")
}
