package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
)

// A command refuses an output that is a file it reads, or that another output is, under whichever
// name, and all files stay as they are.
func TestAnOutputReplacesNoInput(t *testing.T) {
	t.Chdir(t.TempDir())
	texts := map[string]string{"a.csv": "x,y\n1,2.5\n2,3.5\n", "t.csv": "x,y\n3,4.5\n", "m.csv": "x,y\n1,a\n2,b\n", "k.snap": "any", "c.yaml": least}
	for name, text := range texts {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("data", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("data/s.stream.csv", []byte(texts["a.csv"]), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": "a.csv", "dangling": "p.out"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Link("a.csv", "hard"); err != nil {
		t.Fatal(err)
	}
	for line, names := range map[string][]string{
		"fit a.csv --save a.csv":                         {"the training file", "--save"},
		"fit a.csv --save link":                          {"the training file", "--save"},
		"fit a.csv --save hard":                          {"the training file", "--save"},
		"fit link --predictions ./a.csv":                 {"the training file", "--predictions"},
		"fit a.csv --plot a.csv":                         {"the training file", "--plot"},
		"fit a.csv --cpuprofile a.csv":                   {"the training file", "--cpuprofile"},
		"fit a.csv --test t.csv --save t.csv":            {"--test", "--save"},
		"fit a.csv --metric k.snap --trace k.snap":       {"--metric", "--trace"},
		"fit a.csv --save p.out --predictions ./p.out":   {"--save", "--predictions"},
		"fit a.csv --save p.out --predictions dangling":  {"--save", "--predictions"},
		"metric m.csv --save m.csv":                      {"the training file", "--save"},
		"metric m.csv --test t.csv --save t.csv":         {"--test", "--save"},
		"export --onnx --model k.snap k.snap":            {"--model", "the file to write"},
		"export -c c.yaml c.yaml":                        {"--config", "the file to write"},
		"refit -c c.yaml --save c.yaml":                  {"--config", "--save"},
		"learn -c c.yaml --cpuprofile c.yaml":            {"--config", "--cpuprofile"},
		"bench data --cpuprofile data/s.stream.csv":      {"a file of the folder", "--cpuprofile"},
		"bench data --cpuprofile p.out --trace ./p.out":  {"--cpuprofile", "--trace"},
		"learn -c c.yaml --from a.csv --trace ../x/none": {"--trace"}, // the folder does not exist
		"fit a.csv --save none/s":                        {"--save"},
		"fit a.csv --plot none/p.png":                    {"--plot"},
		"fit a.csv --save data":                          {"--save"},
		"fit a.csv --predictions data":                   {"--predictions"},
		"fit a.csv --save a.csv/s":                       {"--save"},
		"fit a.csv --save -":                             {"--save"},
		"fit a.csv --predictions -":                      {"--predictions"},
		"fit a.csv --plot p.jpg":                         {"--plot", ".png or .svg"},
		"fit a.csv --plot p":                             {"--plot", ".png or .svg"},
		"fit a.csv --plot -":                             {"--plot"},
		"metric m.csv --save -":                          {"--save"},
		"export -c c.yaml -":                             {"the file to write"},
	} {
		code, stdout, stderr := call(t, nil, strings.Fields(line)...)
		if code != exit.Misused || stdout != "" {
			t.Errorf("%s: exit %d, want %d\n%s%s", line, code, exit.Misused, stdout, stderr)
		}
		for _, name := range names {
			if !strings.Contains(stderr, name) {
				t.Errorf("%s: the error does not name %s: %s", line, name, stderr)
			}
		}
	}
	for name, text := range texts {
		if b, err := os.ReadFile(name); err != nil || string(b) != text {
			t.Errorf("%s has %q, %v", name, b, err)
		}
	}
	if left, _ := filepath.Glob("*"); len(left) != len(texts)+4 {
		t.Errorf("files were written: %v", left)
	}
}

// Standard input that comes from a file is a file that is read.
func TestAnOutputDoesNotReplaceStandardInput(t *testing.T) {
	rows := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(rows, []byte("x,y\n1,2.5\n2,3.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(rows)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var stderr strings.Builder
	if code := run(t.Context(), []string{"fit", "-", "--save", rows}, nil, in, &stderr, &stderr); code != exit.Misused {
		t.Errorf("exit %d, want %d: %s", code, exit.Misused, stderr.String())
	}
}

// A file that cannot be written at the end of a run does not take the report with it.
func TestAFailedSaveLeavesTheReport(t *testing.T) {
	for _, test := range []struct{ command, text string }{
		{"fit", "x,y\n1,2.5\n2,3.5\n"},
		{"metric", "x,z,y\n1,2,a\n2,1,a\n1,1,a\n2,2,a\n5,5,b\n6,5,b\n5,6,b\n6,6,b\n"},
	} {
		folder := filepath.Join(t.TempDir(), "out")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		r, w := io.Pipe() // the folder vanishes after the check, before the rows end
		go func() {
			io.WriteString(w, test.text)
			os.Remove(folder)
			w.Close()
		}()
		saved := filepath.Join(folder, "saved")
		var stdout, stderr strings.Builder
		code := run(t.Context(), []string{test.command, "-", "--json", "--save", saved}, nil, r, &stdout, &stderr)
		if code != exit.Failed || !strings.HasPrefix(stdout.String(), "{") {
			t.Errorf("%s: exit %d, want %d; printed %q", test.command, code, exit.Failed, stdout.String())
		}
		if !strings.Contains(stderr.String(), "--save: create "+saved+": ") {
			t.Errorf("%s: the error is %q", test.command, stderr.String())
		}
	}
}

// The file of --predictions is complete or what it was before, and no other is left.
func TestPredictionsAreCompleteOrUnchanged(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"p.csv": "before", "bad.csv": "x,y\n1,2.5\nno number,3.5\n", "good.csv": "x,y\n1,2.5\n2,3.5\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		file, begins string
		code         int
	}{{"bad.csv", "before", exit.Failed}, {"good.csv", "x,y,prediction\n", exit.Done}} {
		code, _, stderr := call(t, nil, "fit", test.file, "--columns", "x:numeric", "--predictions", "p.csv")
		b, err := os.ReadFile("p.csv")
		if code != test.code || err != nil || !strings.HasPrefix(string(b), test.begins) {
			t.Errorf("%s: exit %d, want %d; the predictions are %q, %v\n%s", test.file, code, test.code, b, err, stderr)
		}
		if left, _ := filepath.Glob("*"); len(left) != 3 {
			t.Errorf("%s: the files are %v", test.file, left)
		}
	}
}
