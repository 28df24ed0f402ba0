package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

func leaves(t *testing.T) []*kong.Node { return parsed(t).Leaves(true) }

// parsed returns the program as its parser knows it.
func parsed(t *testing.T) *kong.Application {
	parser, _, err := newParser(&commands{}, env.New(nil, nil, io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

func TestEveryCommandIsACommand(t *testing.T) {
	for _, n := range leaves(t) {
		if _, ok := n.Target.Addr().Interface().(command); !ok {
			t.Errorf("%s has no Run(context.Context, *env.Env) error and Examples() string", n.Name)
		}
		if !strings.HasSuffix(n.Help, ".") {
			t.Errorf("%s: its purpose %q is not a sentence", n.Name, n.Help)
		}
	}
}

func TestHelpBeginsWithThePurposeAndEndsWithAnExample(t *testing.T) {
	for _, n := range leaves(t) {
		code, stdout, stderr := call(t, nil, append(strings.Fields(n.Path()), "--help")...)
		if code != exit.Done || stderr != "" {
			t.Errorf("%s --help: exit code %d, %s", n.Name, code, stderr)
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		last := strings.TrimSpace(lines[len(lines)-1])
		if lines[0] != n.Help || !strings.Contains(last, "accrete "+n.Path()) {
			t.Errorf("%s --help begins with %q and ends with %q", n.Name, lines[0], last)
		}
	}
}

// Every example in the help can be pasted into a shell.
func TestEveryExampleParses(t *testing.T) {
	parsed := 0
	for _, n := range leaves(t) {
		for line := range strings.Lines(selected(n).Examples()) {
			for _, words := range commandLines(line) {
				if words[0] != "accrete" {
					continue
				}
				parser, _, err := newParser(&commands{}, env.New(nil, nil, &bytes.Buffer{}, &bytes.Buffer{}))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := parser.Parse(words[1:]); err != nil {
					t.Errorf("%s: %v", strings.TrimSpace(line), err)
				}
				parsed++
			}
		}
	}
	if parsed < len(leaves(t)) {
		t.Errorf("%d examples for %d commands", parsed, len(leaves(t)))
	}
}

// shellWord is a word as a shell reads it, or what separates commands or redirects them.
var shellWord = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"|&;<>])+|[|&;]+|[<>]`)

// commandLines splits a line into its commands, each without its redirections.
func commandLines(line string) (all [][]string) {
	var words []string
	redirected := false
	for _, w := range append(shellWord.FindAllString(line, -1), ";") {
		switch {
		case strings.Trim(w, "|&;") == "":
			if len(words) > 0 {
				all = append(all, words)
			}
			words = nil
		case w == "<" || w == ">":
			redirected = true
		case redirected:
			redirected = false
		default:
			words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(w))
		}
	}
	return all
}

// The word help, before a command or alone, is the flag.
func TestHelpIsAlsoAWord(t *testing.T) {
	for word, flag := range map[string]string{"help": "--help", "help fit": "fit --help", "help quarantine list": "quarantine list --help", "help quarantine": "quarantine --help"} {
		code, got, stderr := call(t, nil, strings.Fields(word)...)
		if _, want, _ := call(t, nil, strings.Fields(flag)...); code != exit.Done || got != want || got == "" || stderr != "" {
			t.Errorf("%s: exit code %d, %q\n%s", word, code, stderr, got)
		}
	}
	if code, _, stderr := call(t, nil, "help", "ft"); code != exit.Misused || !strings.Contains(stderr, `"fit"`) {
		t.Errorf("help ft: exit code %d, %s", code, stderr)
	}
}

// The placeholder of a value is a word that says what it is, not the type in the code.
func TestPlaceholdersAreWords(t *testing.T) {
	for _, n := range leaves(t) {
		for _, flag := range n.Flags {
			switch name := flag.FormatPlaceHolder(); name {
			case "FLOAT-64", "FLOAT", "INT", "INT-64", "UINT", "UINT-64", "STRING":
				t.Errorf("%s --%s=%s", n.Path(), flag.Name, name)
			}
		}
	}
}
