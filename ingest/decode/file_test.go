package decode

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/source"
	"github.com/accrete-ml/accrete/learner"
	"pgregory.net/rapid"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	b := []byte(text)
	if strings.HasSuffix(name, ".gz") {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write(b)
		w.Close()
		b = z.Bytes()
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, c Config, name, text string) *File {
	t.Helper()
	f, err := Open(write(t, name, text), c, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// rowsOf shows every row of a file, and what is wrong with those that are bad.
func rowsOf(f *File) (out []string) {
	for {
		row, err := f.Next()
		var bad *LineError
		switch {
		case err == io.EOF:
			return out
		case errors.As(err, &bad):
			out = append(out, fmt.Sprintf("line %d: %v", bad.Line, bad.Err))
		case err != nil:
			return append(out, err.Error())
		default:
			out = append(out, show(f.d, row))
		}
	}
}

func TestFiles(t *testing.T) {
	for _, c := range []struct {
		config     Config
		name, text string
		want       string
	}{
		{Config{}, "a.csv", "b,a,y\n1,2,0\n3, 4 ,1\n", `classification
[a b] [2 1] y=0 w=1 k= classification
[a b] [4 3] y=1 w=1 k= classification`},
		{Config{}, "a.csv.gz", "\ufeffb,label\r\n1,2.5\r\n+.5,-1\r\n", `regression
[b] [1] y=2.5 w=1 k= regression
[b] [0.5] y=-1 w=1 k= regression`},
		{Config{Label: "class", Key: "id", Weight: "n"}, "a.csv", "id,class,v,n\nk 1,\"x, \"\"y\"\"\",1e3,2\n,,2,\n", `classification
[v] [1000] y=x, "y" w=2 k=k 1 classification
[v] [2] y= w=1 k= classification`},
		{Config{}, "a.csv", "a,y\n1,1\n,2\nx,3\n2\n4,\"\n", `classification
[a] [1] y=1 w=1 k= classification
line 3: columns: "a" is null, want a number: fill the cell, or read it as 0 (fit --missing zero, or input.missing: zero)
line 4: columns: "a" is text "x", want a number: convert it to numbers, or leave the column out
line 5: csv: 1 cells, but the header has 2
line 6: csv: byte 5: extraneous or missing " in quoted-field: a quote inside a quoted cell is written twice`},
		{Config{Missing: "zero", Unknown: "ignore"}, "a.csv", "a,country,y\n,US,1.5\n2,UK,2.5\n", `regression
[a] [0] y=1.5 w=1 k= regression
[a] [2] y=2.5 w=1 k= regression`},
		{Config{}, "a.csv", "a,y\nnan,1\n0x10,1\n1_0,1\ninf,1\n1e999,1\n.,1\n1e5,1", `classification
line 2: columns: "a" is text "nan", want a number: convert it to numbers, or leave the column out
line 3: columns: "a" is text "0x10", want a number: convert it to numbers, or leave the column out
line 4: columns: "a" is text "1_0", want a number: convert it to numbers, or leave the column out
line 5: columns: "a" is text "inf", want a number: convert it to numbers, or leave the column out
line 6: limits: "a" is 1e999, out of range ±1e+30
line 7: columns: "a" is text ".", want a number: convert it to numbers, or leave the column out
[a] [100000] y=1 w=1 k= classification`},
		{Config{}, "a.csv", "a,y\n1,1\n1,two\n1,1.0\n", `classification
[a] [1] y=1 w=1 k= classification
[a] [1] y=two w=1 k= classification
[a] [1] y=1.0 w=1 k= classification`},
		{Config{Task: learner.Regression}, "a.csv", "a,y\n1,1\n1,two\n", `regression
[a] [1] y=1 w=1 k= regression
line 3: label: it is text "two", but the task is regression`},
		{Config{Labels: []string{"v", "u"}}, "a.csv", "u,a,v\n1,2,3\n4,5,\n,5,\n7,8,nan\n7,8,.5\n", `regression
[a] [2] y=3,1 w=1 k= regression
[a] [5] y= w=1 k= regression
[a] [5] y= w=1 k= regression
line 5: label: "v" is text "nan", but each of the 2 labels must be a number, or null for none
[a] [8] y=0.5,7 w=1 k= regression`},
		{Config{Labels: []string{"v", "u"}}, "a.jsonl", `{"u":1,"v":2,"a":3}`, `regression
[a] [3] y=2,1 w=1 k= regression`},
		{Config{NoLabel: true}, "a.csv", "a,b\n1,1\n", `auto
[a b] [1 1] y= w=1 k= auto`},
		{Config{}, "a.libsvm", "+1 1:0.5 3:2 # note\n-1 2:1\n\n1.0 4:1\n+1 1:1 1:2\n-1 a:1\n-1 0:1\n-1 1:x\n", `classification
[0 1 2 3] [0.5 0 2 0] y=1 w=1 k= classification
[0 1 2 3] [0 1 0 0] y=-1 w=1 k= classification
[0 1 2 3] [0 0 0 1] y=1 w=1 k= classification
line 5: libsvm: duplicate index 1
line 6: libsvm: "a:1": want an index that is a whole number from 1 on
line 7: libsvm: "0:1": indices begin at 1, as scikit-learn writes them with zero_based=False
line 8: columns: index 1 is text "x", want a number`},
		{Config{}, "a.txt", "0.5 1:1\n1:2\n", `regression
[0] [1] y=0.5 w=1 k= regression
[0] [2] y= w=1 k= regression`},
		{Config{}, "a.jsonl", "{\"x\":[1],\"y\":2}\n\nnope\n{\"x\":[2],\"y\":3}", `auto
[0] [1] y=2 w=1 k= regression
line 3: json: 'n' at byte 0, want '{'
[0] [2] y=3 w=1 k= regression`},
	} {
		f := open(t, c.config, c.name, c.text)
		task, _ := f.Task()
		got := strings.Join(append([]string{task.String()}, rowsOf(f)...), "\n")
		if got != c.want {
			t.Errorf("%s %q:\n%s\nwant\n%s", c.name, c.text, got, c.want)
		}
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		config     Config
		name, text string
		want       string
	}{
		{Config{}, "a.csv", "amount,is_fraud\n1,0\n", `no column is named y or label: choose the label with --label (input.label) from the columns amount, is_fraud`},
		{Config{}, "a.tsv", "1\t0.5\n0\t0.1\n", `no column is named y or label: choose the label with --label (input.label) from the columns 1, 0.5; if the first line is a row, write a header before it`},
		{Config{Label: "0"}, "a.csv", "1,0.5\n0,0.1\n", `the columns are 1, 0.5; if the first line is a row, write a header before it`},
		{Config{Label: "isfraud"}, "a.csv", "amount,is_fraud\n1,0\n", `there is no column "isfraud", which is configured as the label (did you mean "is_fraud"?); the columns are amount, is_fraud`},
		{Config{}, "a.libsvm", "1 0:2 1:3\n0 0:1\n", `none of the first 2 rows can be read: "0:2": indices begin at 1, as scikit-learn writes them with zero_based=False`},
		{Config{}, "a.csv", "a,label,y\n1,0,0\n", `there are columns y and label: choose the label with --label (input.label)`},
		{Config{Key: "id"}, "a.csv", "amount,y\n1,0\n", `there is no column "id", which is configured as the key; the columns are amount, y`},
		{Config{}, "a.csv", "", `is empty`},
		{Config{}, "a.csv", " \n\n", `is empty`},
		{Config{}, "a.csv", strings.Repeat("\n", 32<<10) + "a,y\n1,2\n", `the first 32768 bytes are blank`},
		{Config{}, "a.csv", "y\n1\n", `no input columns`},
		{Config{}, "a.csv", "a,a,y\n1,1,1\n", `two columns are named "a": rename one`},
		{Config{}, "a.csv", "a,,y\n1,1,1\n", `column 2 has no name in the header: name it`},
		{Config{}, "a.csv", "hello world\n", `is this a CSV file with a header?`},
		{Config{Format: "parquet"}, "a.csv", "a,y\n", `input.format is "parquet": want json, vw, npy, libsvm, csv`},
		{Config{Columns: []string{"a"}}, "a.libsvm", "1 1:1\n", `a LIBSVM file has numbered inputs, but the columns have names, such as "a"`},
		{Config{Labels: []string{"y", "z"}}, "a.csv", "a,y\n1,0\n", `there is no column "z", which is configured as the label`},
		{Config{Labels: []string{"y", "z"}}, "a.libsvm", "1 1:1\n", `a LIBSVM file has one label per line, but 2 are configured: convert it to CSV or JSON`},
		{Config{Task: 7}, "a.csv", "a,y\n", `unknown task 7`},
	} {
		path := write(t, c.name, c.text)
		_, err := Open(path, c.config, Schema{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.csv"), Config{}, Schema{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Open(t.TempDir(), Config{}, Schema{}); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("directory: %v", err)
	}
}

func TestTaskOfAFile(t *testing.T) {
	column := func(n int, label func(i int) string) string {
		var b strings.Builder
		b.WriteString("a,y\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,%s\n", i, label(i))
		}
		return b.String()
	}
	for _, c := range []struct {
		text string
		want learner.Task
		why  string
	}{
		{column(100, func(i int) string { return fmt.Sprint(i % 32) }), learner.Classification, "32 different whole numbers in the first 100 labels"},
		{column(100, func(i int) string { return fmt.Sprint(i % 33) }), learner.Regression, "labels are numbers"},
		{column(100, func(i int) string { return fmt.Sprint(1 + i%26) }), learner.Classification, "26 different whole numbers in the first 100 labels"},
		{column(100, func(i int) string { return fmt.Sprint(i%15/3*4 + i%15%3) }), learner.Classification, "15 different whole numbers in the first 100 labels"},
		{column(100, func(i int) string { return fmt.Sprint(60 + i%26) }), learner.Regression, "labels are numbers"},
		{column(100, func(i int) string { return fmt.Sprint(5 * (i % 11)) }), learner.Regression, "labels are numbers"},
		{column(100, func(i int) string { return fmt.Sprint(5 * (i % 10)) }), learner.Classification, "10 different whole numbers in the first 100 labels"},
		{column(100, func(i int) string { return fmt.Sprint(-1 + 2*(i%2)) }), learner.Classification, "2 different whole numbers in the first 100 labels"},
		{column(100, func(i int) string { return fmt.Sprint(float64(i%3) + 0.5) }), learner.Regression, "labels are numbers"},
		{column(100, func(i int) string { return "c" + fmt.Sprint(i) }), learner.Classification, "labels are text"},
		{column(1100, func(i int) string { return map[bool]string{true: "1", false: "0.5"}[i < 1000] }), learner.Classification, "the first 1000 labels are one whole number"},
		{column(3, func(i int) string { return "" }), learner.Auto, "no label in the first 3 rows"},
	} {
		if task, why := open(t, Config{}, "a.csv", c.text).Task(); task != c.want || why != c.why {
			t.Errorf("%.40q…: %v because %s, want %v because %s", c.text, task, why, c.want, c.why)
		}
	}
	for task, want := range map[learner.Task]string{learner.Auto: "decided by the first label", learner.Regression: asConfigured} {
		if got, why := open(t, Config{Label: "y", Task: task}, "a.jsonl", `{"a":1,"y":1}`).Task(); got != task || why != want {
			t.Errorf("JSON lines: %v because %s, want %v because %s", got, why, task, want)
		}
	}
}

// A file that goes on after the rows that were looked at gives every row once.
func TestEveryRowComesOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,y\n")
	for i := range 2500 {
		fmt.Fprintf(&b, "%d,%d\n", i, i%2)
	}
	f := open(t, Config{}, "a.csv.gz", b.String())
	for i := range 2500 {
		row, err := f.Next()
		if err != nil || row.X[0] != float64(i) || f.Line() != i+2 {
			t.Fatalf("row %d: %v %v, line %d", i, row, err, f.Line())
		}
	}
	if _, err := f.Next(); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
}

// The rows of a file and the records that are made of it decode to the same
// bits and the same schema.
func TestFileAndItsRecordsAgree(t *testing.T) {
	cells := rapid.OneOf(
		rapid.Map(rapid.Float64Range(-1e9, 1e9), func(v float64) string { return fmt.Sprint(v) }),
		rapid.StringMatching(`[+-]?[0-9]{0,20}\.?[0-9]{0,20}([eE][+-]?[0-9]{1,2})?`),
		rapid.SampledFrom([]string{"", "0", "-0", "007", "1.", ".5", "nan", "text", `with "quotes"`, "tab\there", "back\\slash", "0x1p3", "1e999", "+1e999"}))
	labels := rapid.SampledFrom([][]string{{"0", "1", "+1", "01", "1.0", ""}, {"a", "b", `c "d"`, "1", "01"}, {"1.5", "-2", ".5", ""}})
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			Label:   rapid.SampledFrom([]string{"", "class"}).Draw(t, "label"),
			Key:     rapid.SampledFrom([]string{"", "id"}).Draw(t, "key"),
			Missing: rapid.SampledFrom([]string{"quarantine", "zero"}).Draw(t, "missing"),
			Unknown: rapid.SampledFrom([]string{"quarantine", "ignore"}).Draw(t, "unknown"),
		}
		label := rapid.SampledFrom(labels.Draw(t, "kind"))
		var text strings.Builder
		if rapid.Bool().Draw(t, "libsvm") {
			c.Key = ""
			for range rapid.IntRange(1, 8).Draw(t, "rows") {
				fmt.Fprintf(&text, "%s 1:%s 3:%s\n", strings.ReplaceAll(rapid.SampledFrom([]string{"0", "+1", "-1"}).Draw(t, "y"), " ", ""),
					strings.ReplaceAll(cells.Draw(t, "v"), " ", ""), rapid.SampledFrom([]string{"1", "2.5", "-0"}).Draw(t, "w"))
			}
		} else {
			name := map[string]string{"": "label", "class": "class"}[c.Label]
			if rapid.IntRange(0, 3).Draw(t, "several") == 0 {
				c.Label, c.Key, c.Labels = "", "", []string{name, "id"}
			}
			text.WriteString("zeta,alpha,id," + name + "\n")
			quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
			for range rapid.IntRange(1, 8).Draw(t, "rows") {
				fmt.Fprintf(&text, "%s,%s,%s,%s\n", quote(cells.Draw(t, "v")), quote(cells.Draw(t, "w")), quote(cells.Draw(t, "k")), quote(label.Draw(t, "y")))
			}
		}
		dir, err := os.MkdirTemp("", "decode")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, c, Schema{})
		if err != nil {
			return // as where no row has an index
		}
		defer f.Close()
		task, _ := f.Task()
		c.Task = task
		d, err := New(c, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		for {
			row, errRow := f.Next()
			if errRow == io.EOF {
				return
			}
			want := fmt.Sprintf("%x %v %v %q", bitsOf(row.X), row.Label, row.Weight, row.Key)
			record, err := f.Record(nil)
			if err != nil {
				if errRow == nil {
					t.Fatalf("line %d is a row, and no record: %v", f.Line(), err)
				}
				continue
			}
			if !json.Valid(record) {
				t.Fatalf("line %d: not JSON: %s", f.Line(), record)
			}
			back, errBack := d.Decode(record)
			got := fmt.Sprintf("%x %v %v %q", bitsOf(back.X), back.Label, back.Weight, back.Key)
			if (errRow == nil) != (errBack == nil) || got != want {
				t.Fatalf("line %d: %s %v\n%s gives %s %v", f.Line(), want, errRow, record, got, errBack)
			}
			one, _ := json.Marshal(f.Schema())
			two, _ := json.Marshal(d.Schema())
			if errRow == nil && string(one) != string(two) {
				t.Fatalf("schemas %s and %s", one, two)
			}
		}
	})
}

func bitsOf(x []float64) []uint64 {
	b := make([]uint64, len(x))
	for i, v := range x {
		b[i] = math.Float64bits(v)
	}
	return b
}

// A test file is read with the schema of the file that was learned from.
func TestOpenWithSchema(t *testing.T) {
	train := open(t, Config{}, "train.csv", "a,b,y\n1,2,no\n3,4,yes\n")
	rowsOf(train)
	test, err := Open(write(t, "test.csv", "y,b,a\nyes,2,1\n"), Config{}, *train.Schema())
	if err != nil {
		t.Fatal(err)
	}
	defer test.Close()
	if got := rowsOf(test); len(got) != 1 || got[0] != "[a b] [1 2] y=yes w=1 k= classification" {
		t.Errorf("%v", got)
	}
}

func TestEndlessRowIsRefused(t *testing.T) {
	for name, rows := range map[string]string{"a.csv": "a,y\n1,2\n", "a.jsonl": `{"x":[1],"y":1}` + "\n" + `{"x":[1],"y":1}` + "\n"} {
		f, err := Open(write(t, name, rows+strings.Repeat("1", 18<<20)), Config{}, Schema{})
		for err == nil {
			_, err = f.Next()
		}
		if !errors.Is(err, source.ErrLongRow) || !strings.Contains(err.Error(), name+", after line 2: ") {
			t.Errorf("%v, want %v after line 2", err, source.ErrLongRow)
		}
		f.Close()
	}
}

func TestCutOffGzipIsAnError(t *testing.T) {
	path := write(t, "a.csv.gz", "a,y\n"+strings.Repeat("1,2\n", 1000))
	b, _ := os.ReadFile(path)
	os.WriteFile(path, b[:len(b)-9], 0o600)
	f, err := Open(path, Config{}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Next()
	}
	if !errors.Is(err, source.ErrCut) {
		t.Errorf("%v, want %v", err, source.ErrCut)
	}
}

func FuzzFile(f *testing.F) {
	for _, s := range []string{"a,b,y\n1,2,x\n", "+1 1:2 3:4\n", "{\"x\":[1]}\n", "a,\"b\n", "\f\n0"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file := &File{name: "fuzz", close: func() error { return nil }}
		if err := file.open(bytes.NewReader(b), Config{MaxColumns: 1000}, Schema{}); err != nil {
			return
		}
		for range len(b) + 1 {
			row, err := file.Next()
			var bad *LineError
			if err == nil && len(row.X) != len(file.Schema().Columns) {
				t.Fatalf("%d inputs for %d columns", len(row.X), len(file.Schema().Columns))
			}
			if err == nil || errors.As(err, &bad) {
				if record, err := file.Record(nil); err == nil && row.X != nil && !json.Valid(record) {
					t.Fatalf("not JSON: %q", record)
				}
				continue
			}
			return
		}
	})
}

func BenchmarkCSV(b *testing.B) {
	text := "a,b,c,d,e,y\n" + strings.Repeat("0.5234,1.25,-3,1e-3,17.00001,yes\n", 10_000)
	path := write(b, "a.csv", text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		f, err := Open(path, Config{}, Schema{})
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = f.Next()
		}
		f.Close()
	}
}

// Bytes after a compressed file are not taken for a file that is cut off, and a second compressed
// file is read.
func TestWhatFollowsGzip(t *testing.T) {
	path := write(t, "a.csv.gz", "a,y\n"+strings.Repeat("1,2\n", 1000))
	whole, _ := os.ReadFile(path)
	second, _ := os.ReadFile(write(t, "b.csv.gz", strings.Repeat("1,2\n", 10)))
	for _, test := range []struct {
		more string
		rows int
		want error
	}{
		{"", 1000, io.EOF},
		{string(second), 1010, io.EOF},
		{"x", 1000, source.ErrTrailing},
		{"some more bytes than a header has", 1000, source.ErrTrailing},
		{string(second[:5]), 1000, source.ErrCut},
	} {
		if err := os.WriteFile(path, append(whole[:len(whole):len(whole)], test.more...), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, Config{}, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for ; err == nil; rows++ {
			_, err = f.Next()
		}
		f.Close()
		if !errors.Is(err, test.want) || rows-1 != test.rows {
			t.Errorf("%q: %d rows, %v; want %d, %v", test.more, rows-1, err, test.rows, test.want)
		}
	}
}

// The first column of a CSV file may have no name, as pandas and R write the numbers of rows.
func TestAnUnnamedFirstColumnIsNoInput(t *testing.T) {
	f := open(t, Config{Infer: true}, "a.csv", ",a,y\n0,1.5,1\n1,2.5,2\n")
	if got := rowsOf(f); len(got) != 2 || !f.Unnamed() || !slices.Equal(f.Schema().Columns, []string{"a"}) {
		t.Errorf("unnamed %t, columns %v, rows %q", f.Unnamed(), f.Schema().Columns, got)
	}
	if f := open(t, Config{Infer: true}, "b.csv", "a,y\n1.5,1\n"); f.Unnamed() {
		t.Error("a file with names is said to have none")
	}
}

// Columns of a CSV file beyond those of its schema are an error, or ignored and counted.
func TestFurtherColumnsAreIgnoredWhereThatIsAsked(t *testing.T) {
	s := Schema{Columns: []string{"a"}, Task: "regression"}
	for _, ignore := range []bool{false, true} {
		f, err := Read(strings.NewReader("id,a,y\n7,1.5,1\n8,2.5,2\n"), "a.csv", Config{Infer: true}, s)
		if err != nil {
			t.Fatal(err)
		}
		if ignore {
			f.IgnoreFurther()
		}
		got := strings.Join(rowsOf(f), "\n")
		if n, field := f.Dropped(); strings.Contains(got, "unknown field") == ignore || ignore && (n != 2 || field != "id") {
			t.Errorf("ignore %t: %d of %q\n%s", ignore, n, field, got)
		}
	}
}

// Booleans are classes of the same names in each spelling, or of those that the schema has.
func TestBooleanLabelsInEverySpelling(t *testing.T) {
	for _, test := range []struct{ known, want string }{{"", "true false"}, {"True False", "True False"}, {"TRUE", "TRUE false"}} {
		s := Schema{Columns: []string{"a"}, Task: "classification", Classes: strings.Fields(test.known)}
		if test.known == "" {
			s = Schema{}
		}
		f, err := Read(strings.NewReader("a,y\n1,True\n2,FALSE\n3,true\n4,false\n"), "a.csv", Config{Infer: true}, s)
		if err != nil {
			t.Fatal(err)
		}
		var classes []int
		for range 4 {
			row, err := f.Next()
			if err != nil {
				t.Fatal(err)
			}
			if classes = append(classes, row.Label.Class); test.known == "" {
				if b, err := f.Record(nil); err != nil || !strings.HasSuffix(string(b), fmt.Sprintf(`"label":%t}`, len(classes)%2 == 1)) {
					t.Errorf("%s, %v", b, err)
				}
			}
		}
		if got := strings.Join(f.Schema().Classes, " "); got != test.want || !slices.Equal(classes, []int{0, 1, 0, 1}) {
			t.Errorf("%q: classes %q, rows of %v", test.known, got, classes)
		}
	}
}

// A few labels that are no numbers do not make classes of the others, unless these look like classes.
func TestFewLabelsWithoutNumbers(t *testing.T) {
	for _, test := range []struct {
		name, odd string
		value     func(i int) string
		want      string
	}{
		{"numbers", "?", func(i int) string { return fmt.Sprint(float64(i)*1.25 + 0.5) }, "regression because labels are numbers"},
		{"text among numbers", "x", func(i int) string { return fmt.Sprint(float64(i)*1.25 + 0.5) }, "regression because labels are numbers"},
		{"text among classes", "x", func(i int) string { return fmt.Sprint(i % 3) }, "classification because labels are text"},
		{"equal", "7", func(int) string { return "7" }, "classification because the first 1000 labels are one whole number"},
		{"thousands", "?", func(i int) string { return fmt.Sprintf(`"%d,%03d"`, 1+i, i%1000) }, "labels have numbers with commas, such as"},
	} {
		text := "a,y\n"
		for i := range 1200 {
			v := test.value(i)
			if i%200 == 150 {
				v = test.odd
			}
			text += fmt.Sprintf("%d,%s\n", i%7, v)
		}
		f, err := Read(strings.NewReader(text), "a.csv", Config{Infer: true}, Schema{})
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		task, why := f.Task()
		if got := fmt.Sprintf("%v because %s", task, why); got != test.want || f.Alike() != (test.name == "equal") {
			t.Errorf("%s: %s, want %s; alike: %t", test.name, got, test.want, f.Alike())
		}
		for i := range 151 {
			if _, err := f.Next(); (err != nil) != (i == 150 && test.name == "text among numbers") {
				t.Errorf("%s, row %d: %v", test.name, i, err)
			}
		}
	}
}

// Cells that mark a missing value are missing among numbers, and values of a category elsewhere.
// Numbers with leading zeros are codes.
func TestMarkersAndLeadingZeros(t *testing.T) {
	text := "a,b,c,y\n"
	for i := range 400 {
		a, b := fmt.Sprint(float64(i)/4), fmt.Sprintf("v%d", i%3)
		if i%10 == 3 {
			a, b = []string{"?", "-", "None", `\N`}[i/10%4], "None"
		}
		text += fmt.Sprintf("%s,%s,%05d,%d\n", a, b, i*97%5000, i%2)
	}
	f := open(t, Config{Infer: true, Missing: "impute"}, "a.csv", text)
	for i := range 400 {
		row, err := f.Next()
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(row.X[0]) != (i%10 == 3) || math.IsNaN(row.X[1]) || fmt.Sprint(row.Types) != "[numeric category category]" {
			t.Fatalf("row %d: %v %v", i, row.X, row.Types)
		}
	}
}

// A file of few labels that are all equal has none that could be others.
func TestAShortFileOfEqualLabelsIsNotSaidToBeAlike(t *testing.T) {
	if f := open(t, Config{Infer: true}, "a.csv", "a,y\n"+strings.Repeat("1,7\n", 20)); f.Alike() {
		t.Error("it is")
	}
}

// A column without a value in the first rows has no type yet, so that a marker is a value like any other.
func TestMarkersInColumnsWithoutAType(t *testing.T) {
	f := open(t, Config{Infer: true, Missing: "impute"}, "a.csv", "a,b,y\n"+strings.Repeat("1,,2\n", 1000)+"1,None,2\n1,x,3\n")
	var row Row
	for range 1002 {
		var err error
		if row, err = f.Next(); err != nil {
			t.Fatal(err)
		}
		if f.Line() == 1002 && math.IsNaN(row.X[1]) {
			t.Error("None is missing")
		}
	}
	if fmt.Sprint(row.Types) != "[numeric category]" || math.IsNaN(row.X[1]) {
		t.Errorf("%v %v", row.Types, row.X)
	}
}

// The error of text in a column of numbers says what the user can do: a column whose type comes from
// the first rows can be declared.
func TestTextAmongNumbersHasAdvice(t *testing.T) {
	for infer, want := range map[bool]string{true: "or declare another type of the column, such as category (fit --columns, or input.columns)", false: "or leave the column out"} {
		f := open(t, Config{Infer: infer}, "a.csv", "a,y\n"+strings.Repeat("98101,1\n", 1000)+"98101-2,1\n")
		for range 1000 {
			if _, err := f.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Next(); err == nil || !strings.HasSuffix(err.Error(), `a.csv, line 1002: columns: "a" is text "98101-2", want a number: convert it to numbers, `+want) {
			t.Errorf("inferred types: %t: %v", infer, err)
		}
	}
}

// A word that a line of Vowpal Wabbit has twice is an error that says how such lines are read.
func TestAWordThatComesTwiceHasAdvice(t *testing.T) {
	const want = `vw: the feature "t.good" comes twice: write it once with a value, or set input.sparse (fit --sparse), which adds such values`
	for name, text := range map[string]string{"first": "1 |t good good\n", "later": strings.Repeat("1 |t good bad\n", 1000) + "1 |t good good\n"} {
		f, err := Read(strings.NewReader(text), "a.vw", Config{}, Schema{})
		for err == nil {
			_, err = f.Next()
		}
		if !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s line: %v", name, err)
		}
	}
	d, err := New(Config{Format: "vw"}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decode([]byte("1 |t good good")); err == nil || err.Error() != want {
		t.Errorf("a record: %v", err)
	}
}
