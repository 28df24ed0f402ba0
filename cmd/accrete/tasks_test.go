package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A picture and a report name the baselines of the task: the mean for numbers, the majority for
// classes, and none for novelty.
func TestBaselinesAreThoseOfTheTask(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.csv")
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range 300 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i%17, i%5, i%2)
	}
	if err := os.WriteFile(rows, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	numbers := filepath.Join(dir, "numbers")
	if err := os.Mkdir(numbers, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(numbers, "n.train.csv"), []byte(strings.ReplaceAll(b.String(), ",1\n", ",1.5\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for task, test := range map[string]struct{ names, others []string }{
		"regression":     {[]string{"linear", "mean", "no change"}, []string{"majority"}},
		"classification": {[]string{"linear", "majority", "no change"}, []string{"mean "}},
		"novelty":        {nil, []string{"linear", "majority", "mean", "no change"}},
	} {
		picture := filepath.Join(dir, task+".svg")
		code, stdout, stderr := call(t, nil, "fit", rows, "--task", task, "--mixture", "off", "--max-features", "64", "--plot", picture)
		svg, err := os.ReadFile(picture)
		if code != exit.Done || err != nil {
			t.Fatalf("%s: exit code %d, %s, %v", task, code, stderr, err)
		}
		for _, name := range test.names {
			if !strings.Contains(string(svg), ">"+name+"<") || !strings.Contains(stdout, name+" ") {
				t.Errorf("%s: %q is missing in the picture or in %s", task, name, stdout)
			}
		}
		for _, name := range test.others {
			if strings.Contains(string(svg), ">"+strings.TrimSpace(name)+"<") || strings.Contains(stdout, name) {
				t.Errorf("%s: %q is in the picture or in %s", task, name, stdout)
			}
		}
		if task == "regression" {
			code, stdout, stderr := call(t, nil, "bench", numbers, "--algorithms", "ridge")
			if code != exit.Done || !strings.Contains(stdout, "\nmean ") || strings.Contains(stdout, "majority") {
				t.Errorf("bench: exit code %d, %s%s", code, stdout, stderr)
			}
		}
		if !strings.Contains(string(svg), "rows.csv: ") {
			t.Errorf("%s: the picture does not name the file", task)
		}
	}
}

// With the loss poisson no command learns a negative label, as the configuration and the flags say.
func TestCountsAreNotNegative(t *testing.T) {
	rows := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(rows, []byte("a,y\n1,2\n2,-1\n3,0.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, nil, "fit", rows, "--loss", "poisson"); code == exit.Done || !strings.Contains(stderr, "line 3") || !strings.Contains(stderr, "want 0 or more") {
		t.Errorf("poisson: exit code %d, %s", code, stderr)
	}
	if code, _, stderr := call(t, nil, "fit", rows, "--loss", "square"); code != exit.Done {
		t.Errorf("square: exit code %d, %s", code, stderr)
	}
	addr, in := kafkatest.Addr(t), kafkatest.Name("counts")
	kafkatest.Fill(t, kafkatest.ClientOf(t, addr, nil), in, 1, []string{`{"a":1,"y":2}`, `{"a":2,"y":-1}`, `{"a":3,"y":0.5}`})
	args := []string{"learn", "--to-end"}
	for _, set := range []string{"model=" + in, "kafka.bootstrap.servers=" + addr, "input.topics=" + in, "input.label=y", "learner.loss=poisson", "http.listen=off"} {
		args = append(args, "--set", set)
	}
	if code, stdout, stderr := call(t, nil, args...); code != exit.Done || !strings.Contains(stdout, "2 examples") || !strings.Contains(stdout, "1 in quarantine") || !strings.Contains(stdout, ", mean ") {
		t.Errorf("learn: exit code %d, %s%s", code, stdout, stderr)
	}
}
