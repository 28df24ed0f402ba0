package reference

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Candidate is a word that can complete a command line.
type Candidate struct {
	Word string
	Help string // one line, may be empty
}

// Complete returns the candidates for the last of words, which are the words after the name of the
// program. If there are none, the word may be the name of a file. values are the values of flags
// that are not enumerations, by the name of the flag.
func Complete(app *kong.Application, words []string, values map[string][]Candidate) []Candidate {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" }) // bash splits --flag=value
	if len(words) == 0 {
		words = []string{""}
	}
	node, current := app.Node, words[len(words)-1]
	var flag *kong.Flag // flag that takes the next word as its value
	positionals := 0
	for _, w := range words[:len(words)-1] {
		switch {
		case flag != nil:
			flag = nil
		case strings.HasPrefix(w, "-") && w != "-":
			flag = valueFlag(node, w)
		default:
			if child := childOf(node, w); child != nil {
				node = child
			} else {
				positionals++
			}
		}
	}
	var all []Candidate
	switch name, _, assigned := strings.Cut(current, "="); {
	case flag != nil:
		all = valuesOf(flag, values)
	case assigned && strings.HasPrefix(name, "--"):
		for _, f := range flagsOf(node) {
			if "--"+f.Name == name {
				for _, v := range valuesOf(f, values) {
					all = append(all, Candidate{name + "=" + v.Word, v.Help})
				}
			}
		}
	case strings.HasPrefix(current, "-"):
		for _, f := range flagsOf(node) {
			all = append(all, Candidate{"--" + f.Name, firstSentence(f.Help)})
		}
	case !node.Leaf():
		for _, child := range node.Children {
			if !child.Hidden {
				all = append(all, Candidate{child.Name, child.Help})
			}
		}
	case positionals < len(node.Positional):
		for _, v := range enumOf(node.Positional[positionals]) {
			all = append(all, Candidate{v, ""})
		}
	}
	return slices.DeleteFunc(all, func(c Candidate) bool { return !strings.HasPrefix(c.Word, current) })
}

// valueFlag returns the flag that a word names if the next word is its value, and nil otherwise.
func valueFlag(node *kong.Node, word string) *kong.Flag {
	for _, f := range flagsOf(node) {
		if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
			if f.IsBool() {
				return nil
			}
			return f
		}
	}
	return nil
}

func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// flagsOf returns the flags that a command shows, its own first.
func flagsOf(node *kong.Node) (all []*kong.Flag) {
	groups := node.AllFlags(true)
	for _, group := range slices.Backward(groups) {
		all = append(all, group...)
	}
	return all
}

func valuesOf(f *kong.Flag, values map[string][]Candidate) (all []Candidate) {
	if named := values[f.Name]; named != nil {
		return named
	}
	for _, v := range enumOf(f.Value) {
		all = append(all, Candidate{v, ""})
	}
	return all
}

func enumOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
}

// firstSentence returns a help text up to its first full stop.
func firstSentence(s string) string {
	s, _, _ = strings.Cut(strings.Join(strings.Fields(s), " "), ". ")
	return strings.TrimSuffix(s, ".")
}
