package avro

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	library "github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

const schema = `{"type":"record","name":"r","fields":[
	{"name":"a","type":"float"},{"name":"b","type":["null","double"]},{"name":"n","type":"long"},
	{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
	{"name":"in","type":{"type":"record","name":"s","fields":[{"name":"city","type":"string"},{"name":"ok","type":"boolean"}]}},
	{"name":"l","type":{"type":"array","items":"int"}},{"name":"y","type":{"type":"enum","name":"e","symbols":["ok","fraud"]}}]}`

// written returns a file of n records in blocks of 10, and its rows as JSON lines.
func written(t testing.TB, n int, codec ocf.Codec) (file []byte, lines string) {
	t.Helper()
	var b bytes.Buffer
	w, err := ocf.NewWriter(&b, library.MustParse(schema), ocf.WithCodec(codec), ocf.WithBlockCount(10))
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range n {
		var second any
		text := "null"
		if i%3 > 0 {
			second, text = 1.5*float64(i), fmt.Sprint(1.5*float64(i))
		}
		y := []string{"ok", "fraud"}[i%2]
		if err := w.Encode(map[string]any{"a": float32(0.1), "b": second, "n": int64(i), "at": int64(1_700_000_000_500), "in": map[string]any{"city": "Köln\n", "ok": i%2 == 0}, "l": []any{int32(i), int32(7)}, "y": y}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, `{"a":0.10000000149011612,"at":"2023-11-14T22:13:20.5Z","b":%s,"in":{"city":"Köln\n","ok":%v},"l":[%d,7],"n":%d,"y":"%s"}`+"\n", text, i%2 == 0, i, i, y)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), want.String()
}

// all reads a file to its end.
func all(b []byte) (string, error) {
	l, err := read(io.NopCloser(bytes.NewReader(b)))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(l)
	return string(text), err
}

// codecs returns those that files may have.
func codecs(t testing.TB) []ocf.Codec {
	zstd, err := ocf.ZstdCodec(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return []ocf.Codec{null{}, ocf.DeflateCodec(6), ocf.SnappyCodec(), zstd}
}

func TestRecordsAreJSONLines(t *testing.T) {
	for _, c := range codecs(t) {
		file, want := written(t, 37, c)
		path := filepath.Join(t.TempDir(), "rows.avro")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(file, []byte(Magic)) {
			t.Fatalf("%s: it does not begin with %q", c.Name(), Magic)
		}
		l, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(l); err != nil || string(got) != want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", c.Name(), err, got, want)
		}
	}
}

// A file that was cut, or in which a byte has changed, gives its first rows at most, and an
// error that says where, unless the byte is in a value of a block without a checksum.
func TestDamagedFiles(t *testing.T) {
	for _, c := range codecs(t) {
		file, want := written(t, 37, c)
		for cut := 5; cut < len(file); cut += 7 {
			got, err := all(file[:cut])
			if !strings.HasPrefix(want, got) {
				t.Fatalf("%s: of %d bytes: %q", c.Name(), cut, got)
			}
			if err == nil && strings.Count(got, "\n")%10 != 0 {
				t.Fatalf("%s: cut at %d bytes: no error after %d rows", c.Name(), cut, strings.Count(got, "\n"))
			}
			if err != nil && !strings.Contains(err.Error(), "block") && !strings.Contains(err.Error(), "header") {
				t.Errorf("%s: cut at %d bytes: %v", c.Name(), cut, err)
			}
		}
	}
	file, _ := written(t, 37, null{})
	if got, err := all(file[:len(file)-3]); err == nil || !strings.Contains(err.Error(), "truncated") || strings.Count(got, "\n") != 30 {
		t.Errorf("cut in the last block: %d rows, %v", strings.Count(got, "\n"), err)
	}
	for _, rest := range []string{"", "garbage"} {
		if _, err := all([]byte(Magic + rest)); err == nil || !strings.Contains(err.Error(), "header: the file ends within it: it is truncated, or not a file of Avro") {
			t.Errorf("a header with %q: %v", rest, err)
		}
	}
	var b bytes.Buffer
	w, err := ocf.NewWriter(&b, library.MustParse(`"long"`))
	if err = errors.Join(err, w.Encode(int64(1)), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := all(b.Bytes()); err == nil || !strings.Contains(err.Error(), "records") {
		t.Errorf("numbers alone: %v", err)
	}
}

// FuzzFile holds that no file crashes the reader, or makes it hang.
func FuzzFile(f *testing.F) {
	for _, c := range codecs(f) {
		file, _ := written(f, 12, c)
		f.Add(file)
		f.Add(file[:len(file)/2])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := all(b)
		if err == nil && len(text) > 0 && !strings.HasSuffix(text, "\n") {
			t.Errorf("%q has no last line", text)
		}
	})
}

// A field that cannot be read is no obstacle if it is declared as ignored, and otherwise the error says so.
func TestFieldsThatAreIgnoredNeedNotBeReadable(t *testing.T) {
	record := map[string]any{"a": int32(1), "raw": []byte("\xff")}
	if _, err := appendObject(nil, record, 0, nil); err == nil || !strings.Contains(err.Error(), `field "raw": "\xff" is not text: leave it out`) || !strings.Contains(err.Error(), "declare it as ignored") {
		t.Error(err)
	}
	if got, err := appendObject(nil, record, 0, func(name string) bool { return name == "raw" }); err != nil || string(got) != `{"a":1,"raw":null}` {
		t.Errorf("%s, %v", got, err)
	}
}
