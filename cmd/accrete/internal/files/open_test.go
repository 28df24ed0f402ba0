package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
)

func TestFilesAreToldByTheirFirstBytes(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]bool{"PAR1": true, "PAR1...": true, "PAR": false, "": false, "a,b,y": false} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if begins(path, "PAR1") != want {
			t.Errorf("%q: want %v", content, want)
		}
	}
	if begins(filepath.Join(dir, "none"), "PAR1") || begins(dir, "PAR1") {
		t.Error("what is no file has a kind")
	}
}

// A pipe is left as it is for the reader that follows.
func TestAPipeIsNotRead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("PAR1"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	is := begins(fmt.Sprintf("/dev/fd/%d", r.Fd()), "PAR1")
	if rest, err := io.ReadAll(r); is || err != nil || string(rest) != "PAR1" {
		t.Errorf("%v, %q is left, %v", is, rest, err)
	}
}

// A field of a record in a Parquet file is in its object, unless it is the label, the key or the weight,
// or a model does not look into objects.
func TestFieldsOfRecordsAtTheTop(t *testing.T) {
	c := decode.Config{Labels: []string{"a.y"}, Key: "a.k", Weight: "a.w", Depth: decode.MaxDepth}
	for path, want := range map[string]bool{"a.y": true, "a.k": true, "a.w": true, "a.x": false, "a": false} {
		if atTop(&c, &decode.Schema{Columns: []string{"a.x", "b.x"}})(path) != want {
			t.Errorf("%s: want %v", path, want)
		}
	}
	for _, column := range []string{"b.x", "m.key_value.value.0"} {
		c := c
		c.Types = map[string]string{"b": "ignored"}
		if atTop(&c, &decode.Schema{Columns: []string{"a.x", column}}) != nil {
			t.Errorf("a model with the column %s does not see it", column)
		}
	}
	if c.Depth = 0; atTop(&c, &decode.Schema{}) != nil {
		t.Error("a model that does not look into objects does not see the fields")
	}
}
