package csvline

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Reader reads what encoding/csv does, with the same cells, lines and errors, from any
// text, if that begins again after the first line of a record with an error.
func FuzzReader(f *testing.F) {
	f.Add("a,b\n1,2\n\n\r\n3,\"4\n5\"\n6,7\r\n8,x\"y\n9,10\r")
	f.Add("\"a\",b\n\"unfinished\n1,2")
	f.Add(strings.Repeat("x", 70_000) + ",1\n" + strings.Repeat("\"y\"", 30_000) + "\n2,3")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		want, wantLines := readAll(text, func() ([]string, int, error) { return nil, 0, io.EOF })
		for _, reuse := range []bool{false, true} {
			r := NewReader(strings.NewReader(text), ',')
			r.Reuse = reuse
			got, gotLines := readAll("", r.Read)
			if !slices.Equal(got, want) || !slices.Equal(gotLines, wantLines) {
				t.Fatalf("%q\n got %q %v\nwant %q %v", text, got, gotLines, want, wantLines)
			}
		}
	})
}

// readAll returns the records of a text as encoding/csv reads it, or of a reader if the text
// is empty, and their lines.
func readAll(text string, read func() ([]string, int, error)) (records []string, lines []int) {
	if text != "" {
		before := 0 // lines before those that r reads
		from := func(line int) *csv.Reader {
			before = line
			rest := text
			for range line {
				_, rest, _ = strings.Cut(rest, "\n")
			}
			r := csv.NewReader(strings.NewReader(rest))
			r.FieldsPerRecord = -1
			return r
		}
		r := from(0)
		read = func() ([]string, int, error) {
			cells, err := r.Read()
			if parse, ok := err.(*csv.ParseError); ok {
				parse.StartLine, parse.Line = parse.StartLine+before, parse.Line+before
				r = from(parse.StartLine)
			}
			if err != nil {
				return nil, 0, err
			}
			n, _ := r.FieldPos(0)
			return cells, n + before, nil
		}
	}
	for {
		cells, line, err := read()
		var parse *csv.ParseError
		switch {
		case err == io.EOF:
			return records, lines
		case errors.As(err, &parse):
			records, lines = append(records, parse.Err.Error()), append(lines, parse.StartLine, parse.Line, parse.Column)
		case err != nil:
			return append(records, err.Error()), lines
		default:
			records, lines = append(records, fmt.Sprintf("%q", cells)), append(lines, line)
		}
	}
}

// A quote that is never closed costs one line.
func TestAnUnclosedQuoteCostsOneLine(t *testing.T) {
	text := "a,b\n1,\"x\n" + strings.Repeat("2,y\n", 5) + "3,\"z\"\n" + strings.Repeat("4,z\n", 5) + "5,\"end"
	r := NewReader(strings.NewReader(text), ',')
	got, lines := readAll("", r.Read)
	bad := 0
	for _, record := range got {
		if record == csv.ErrQuote.Error() {
			bad++
		}
	}
	if len(got) != 14 || bad != 2 || len(lines) != 14+2*bad {
		t.Errorf("%d records, %d of them errors: %q", len(got), bad, got)
	}
}

// Random texts of the characters that matter are read as encoding/csv reads them.
func TestCSVIsReadAsTheLibraryReadsIt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var text strings.Builder
		for range 1 + rng.IntN(40) {
			text.WriteByte("ab,,\"\"\n\n\r "[rng.IntN(10)])
		}
		want, wantLines := readAll(text.String(), nil)
		r := NewReader(strings.NewReader(text.String()), ',')
		r.Reuse = true
		if got, lines := readAll("", r.Read); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(lines, wantLines) {
			t.Fatalf("%q\n got %q %v\nwant %q %v", text.String(), got, lines, want, wantLines)
		}
	}
}
