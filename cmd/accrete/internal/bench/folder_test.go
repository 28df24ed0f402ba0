package bench

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
)

// A newcomer can run bench on testdata: the label of every set is known, and those that are
// described are described because they have to be.
func TestTheLabelsOfTheTestdataAreKnown(t *testing.T) {
	e := env.New(nil, strings.NewReader(""), io.Discard, io.Discard)
	f, err := (&Command{Dir: filepath.Join("..", "..", "..", "..", "testdata")}).folder()
	if err != nil {
		t.Fatal(err)
	}
	if len(f.names) < 7 {
		t.Errorf("found %v", f.names)
	}
	for _, name := range f.names {
		path, ok := f.path(name, "train")
		if !ok {
			path, _ = f.path(name, "stream")
		}
		file, _, err := f.open(t.Context(), e, name, path)
		if err != nil {
			t.Error(err)
			continue
		}
		file.Close()
		described := f.labels[name] != ""
		f.labels[name] = ""
		file, _, err = f.open(t.Context(), e, name, path)
		if described != (err != nil) {
			t.Errorf("%s: described %v, without its description: %v", name, described, err)
		}
		if err == nil {
			file.Close()
		} else if !strings.Contains(err.Error(), descriptionFile) {
			t.Errorf("%v does not name %s", err, descriptionFile)
		}
	}
}

func TestWrongDescriptionsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "want the header set,label",
		"name,label\n":                    "want the header set,label",
		"set,label\nb,price\n":            `line 2: the folder has no data set "b"`,
		"set,label\na,\n":                 "line 2: the label of a is empty",
		"set,label\na,price\na,weight\n":  "line 3: a has a label already",
		"set,label\na,price,regression\n": "wrong number of fields",
		"set,label\na,\"price\n":          `extraneous or missing " in quoted-field`,
	} {
		dir := t.TempDir()
		write(t, dir, "a.stream.csv", "x,y\n1,2\n")
		write(t, dir, descriptionFile, text)
		if _, err := (&Command{Dir: dir}).folder(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
