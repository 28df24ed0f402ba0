package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/reference"
	"github.com/accrete-ml/accrete/learner"
)

// completed returns the words that complete a line, which ends after the word to complete.
func completed(t *testing.T, line string) (words []string) {
	t.Helper()
	code, stdout, stderr := call(t, nil, append([]string{"complete", "--"}, strings.Split(line, " ")...)...)
	if code != exit.Done || stderr != "" {
		t.Fatalf("%q: exit code %d, %s", line, code, stderr)
	}
	for l := range strings.Lines(stdout) {
		word, _, _ := strings.Cut(l, "\t")
		words = append(words, word)
	}
	return words
}

func TestLinesAreCompleted(t *testing.T) {
	var algorithms, assigned []string
	for _, a := range learner.Algorithms() {
		algorithms, assigned = append(algorithms, a.Name), append(assigned, "--algorithm="+a.Name)
	}
	for line, want := range map[string][]string{
		"":                             nil, // all commands, below
		"le":                           {"learn"},
		"quarantine ":                  {"list", "show", "replay"},
		"quarantine show --by":         {"--bytes"},
		"fit --algorithm ":             algorithms,
		"fit --algorithm=":             assigned,
		"fit --algorithm = ":           algorithms, // as bash splits it
		"fit --save x --algorithm new": {"newton"},
		"fit --json --algorithm new":   {"newton"}, // --json has no value
		"fit ":                         {},         // a file
		"fit --save ":                  {},         // a file
		"learn -c ":                    {},
		"learn --set model":            {"model="},
		"learn --set learner.step.av":  {"learner.step.averaging="},
		"completion ":                  {"bash", "zsh", "fish"},
		"completion bash ":             {},
		"nonsense --js":                {},
		"version --log-format j":       {"json"}, // a flag of every command
	} {
		got := completed(t, line)
		if line != "" && !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	commands, program := completed(t, ""), parsed(t)
	for _, n := range program.Leaves(true) {
		if name := strings.Fields(n.Path())[0]; !slices.Contains(commands, name) {
			t.Errorf("no command %s", name)
		}
		flags := reference.Complete(program, append(strings.Fields(n.Path()), "--"), nil)
		for _, f := range n.Flags {
			if !slices.ContainsFunc(flags, func(c reference.Candidate) bool { return c.Word == "--"+f.Name }) {
				t.Errorf("%s: no flag --%s in %v", n.Path(), f.Name, flags)
			}
		}
	}
	if slices.Contains(commands, "complete") || slices.Contains(commands, "docs") {
		t.Errorf("hidden commands are offered: %v", commands)
	}
}

// bash completes with the script as it is.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	_, script, _ := call(t, nil, "completion", "bash")
	dir := t.TempDir()
	wrapper := "#!/bin/sh\n" + beProgram + "=1 exec " + os.Args[0] + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "accrete"), []byte(wrapper), 0o700); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"accrete fit --algorithm new": "newton",
		"accrete quarantine re":       "replay",
		"accrete fit --sav":           "--save",
	} {
		words := strings.Fields(line)
		cmd := exec.Command(bash, "--norc", "-c", "PATH="+dir+":$PATH\n"+script+"\nCOMP_WORDS=("+line+")\nCOMP_CWORD="+string(rune('0'+len(words)-1))+"\n_accrete\necho \"${COMPREPLY[*]}\"")
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", line, got, err, want)
		}
	}
}

// The manual page has every command and flag, and groff accepts it.
func TestTheManualPage(t *testing.T) {
	code, page, stderr := call(t, nil, "docs", "man")
	if code != exit.Done || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, n := range leaves(t) {
		if !strings.Contains(page, "\n.SS accrete "+n.Path()+"\n") {
			t.Errorf("no section of %s", n.Path())
		}
		for _, f := range n.Flags {
			if !strings.Contains(page, `\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)) {
				t.Errorf("%s: no flag --%s", n.Path(), f.Name)
			}
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, ".") && !slices.Contains([]string{"TH", "SH", "SS", "TP", "PP", "B", "I", "nf", "fi", "RS", "RE"}, strings.Fields(line[1:])[0]) || strings.HasPrefix(line, "'") {
			t.Errorf("a request that is none: %q", line)
		}
	}
	if groff, err := exec.LookPath("groff"); err == nil {
		cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff: %v\n%s", err, out)
		}
	}
}

func TestProfilesAreWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("rows.csv", []byte("x,y\n1,2\n2,4\n3,6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := call(t, nil, "fit", "rows.csv", "--cpuprofile", "cpu", "--trace", "trace")
	if code != exit.Done {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for name, magic := range map[string]string{"cpu": "\x1f\x8b", "trace": "go 1."} {
		b, err := os.ReadFile(name)
		if err != nil || !strings.HasPrefix(string(b), magic) {
			t.Errorf("%s begins with %.10q, %v", name, b, err)
		}
	}
	if code, _, stderr := call(t, nil, "fit", "rows.csv", "--cpuprofile", "none/cpu"); code != exit.Misused || !strings.Contains(stderr, "--cpuprofile") {
		t.Errorf("no folder: exit code %d: %s", code, stderr)
	}
}
