package decode

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

// csvReader reads what encoding/csv does, with the same cells, lines and errors, from any
// text.
func FuzzCSVReader(f *testing.F) {
	f.Add("a,b\n1,2\n\n\r\n3,\"4\n5\"\n6,7\r\n8,x\"y\n9,10\r")
	f.Add("\"a\",b\n\"unfinished\n1,2")
	f.Add(strings.Repeat("x", 70_000) + ",1\n" + strings.Repeat("\"y\"", 30_000) + "\n2,3")
	f.Fuzz(func(t *testing.T, text string) {
		want, wantLines := readAll(text, func() ([]string, int, error) { return nil, 0, nil })
		for _, reuse := range []bool{false, true} {
			r := newCSVReader(strings.NewReader(text), ',')
			r.reuse = reuse
			got, gotLines := readAll("", r.read)
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
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord = -1
		read = func() ([]string, int, error) {
			cells, err := r.Read()
			if err != nil {
				return nil, 0, err
			}
			n, _ := r.FieldPos(0)
			return cells, n, nil
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

// Random texts of the characters that matter are read as encoding/csv reads them.
func TestCSVIsReadAsTheLibraryReadsIt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var text strings.Builder
		for range 1 + rng.IntN(40) {
			text.WriteByte("ab,,\"\"\n\n\r "[rng.IntN(10)])
		}
		want, wantLines := readAll(text.String(), nil)
		r := newCSVReader(strings.NewReader(text.String()), ',')
		r.reuse = true
		if got, lines := readAll("", r.read); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(lines, wantLines) {
			t.Fatalf("%q\n got %q %v\nwant %q %v", text.String(), got, lines, want, wantLines)
		}
	}
}

// formatted are files of the same numbers.
func formatted(rows, columns int) map[string]string {
	rng := rand.New(rand.NewPCG(3, 4))
	var c, l, v, j strings.Builder
	for i := range columns {
		fmt.Fprintf(&c, "c%d,", i)
	}
	c.WriteString("y\n")
	for i := range rows {
		fmt.Fprintf(&l, "%d", i%3)
		fmt.Fprintf(&v, "%d |", i%3)
		j.WriteString(`{"features":{`)
		for k := range columns {
			x := rng.Float64()
			fmt.Fprintf(&c, "%.5f,", x)
			fmt.Fprintf(&l, " %d:%.5f", k+1, x)
			fmt.Fprintf(&v, " c%d:%.5f", k, x)
			fmt.Fprintf(&j, `%s"c%d":%.5f`, map[bool]string{true: ","}[k > 0], k, x)
		}
		fmt.Fprintf(&c, "%d\n", i%3)
		l.WriteByte('\n')
		v.WriteByte('\n')
		fmt.Fprintf(&j, "},\"y\":%d}\n", i%3)
	}
	return map[string]string{"csv": c.String(), "libsvm": l.String(), "vw": v.String(), "json": j.String()}
}

// A row of a file takes no memory of its own, once the first ones are read.
func TestRowsOfFilesAllocateNothing(t *testing.T) {
	for name, text := range formatted(3000, 12) {
		f, err := Read(strings.NewReader(text), name, Config{Infer: true, Missing: "impute", Task: 1}, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		next := func() {
			if _, err := f.Next(); err != nil {
				t.Fatal(err)
			}
		}
		for range 1100 {
			next()
		}
		if n := testing.AllocsPerRun(1000, next); n > 0 {
			t.Errorf("%s: %v allocations a row", name, n)
		}
	}
}

// BenchmarkFiles reads rows of 12 and of 50 numbers.
func BenchmarkFiles(b *testing.B) {
	const rows = 5_000
	for _, columns := range []int{12, 50} {
		for name, text := range formatted(rows, columns) {
			benchmarkFile(b, fmt.Sprintf("%s/columns=%d", name, columns), text, rows)
		}
	}
}

func benchmarkFile(b *testing.B, name, text string, rows float64) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			f, err := Read(strings.NewReader(text), "file", Config{Task: 1}, Schema{})
			if err != nil {
				b.Fatal(err)
			}
			for err == nil {
				_, err = f.Next()
			}
		}
		b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
	})
}
