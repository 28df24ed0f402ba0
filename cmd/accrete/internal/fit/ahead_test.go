package fit

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// What is read ahead is what the file yields: rows, unreadable ones, and the classes as of each.
// A source that is closed early ends.
func TestReadAheadYieldsTheRows(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,label\n")
	for i := range 3000 {
		switch {
		case i%700 == 500:
			text.WriteString("1,2\n")
		default:
			text.WriteString(strings.Repeat("1", 1+i%5) + "," + strings.Repeat("2", 1+i%7) + "," + string(rune('a'+i/300)) + "\n")
		}
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() source {
		file, err := decode.Open(path, decode.Config{}, decode.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return source{file.Next, file.Schema, file.Share, func() {}}
	}
	plain, ahead := open(), readAhead(open())
	rows, bad := 0, 0
	for {
		want, wantErr := plain.next()
		got, err := ahead.next()
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("row %d: the error is %v, want %v", rows, err, wantErr)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if rows++; err != nil {
			bad++
		}
		if !slices.Equal(got.X, want.X) || got.Label.Class != want.Label.Class || !slices.Equal(ahead.schema().Classes, plain.schema().Classes) {
			t.Fatalf("row %d is %v with the classes %v, want %v with %v", rows, got, ahead.schema().Classes, want, plain.schema().Classes)
		}
	}
	if rows != 3000 || bad == 0 {
		t.Errorf("%d rows, of which %d are unreadable", rows, bad)
	}
	if _, err := ahead.next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
	ahead.close()
	early := readAhead(open())
	if _, err := early.next(); err != nil {
		t.Error(err)
	}
	early.close()
}
