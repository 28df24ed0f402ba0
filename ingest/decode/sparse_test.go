package decode

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

func sparseRow(t *testing.T, c Config, record string) Row {
	t.Helper()
	c.Sparse = true
	d, err := New(c, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	row, err := d.Decode([]byte(record))
	if err != nil {
		t.Fatalf("%s: %v", record, err)
	}
	return row
}

// The hashes of names are a format: models are learned by them.
func TestSparseColumnsStayWhereTheyAre(t *testing.T) {
	row := sparseRow(t, Config{Label: "y", Columns: []string{"note"}, Types: map[string]string{"note": "text", "id": schema.Ignored}},
		`{"amount":2.5,"0":-1,"city":"Paris","paid":true,"late":false,"none":null,"zero":0,"note":"Late again","id":7,"y":1}`)
	want := learner.Sparse{Columns: []uint32{381813113, 306491372, 236301414, 1748879042, 4137520000, 62681315, 1731503099}, Values: []float32{2.5, -1, 1, 1, 1, 1, 1}}
	if !slices.Equal(row.Sparse.Columns, want.Columns) || !slices.Equal(row.Sparse.Values, want.Values) {
		t.Errorf("%v, want %v", row.Sparse, want)
	}
	if got, want := fmt.Sprint(row.X), "[1 0 0 0 -1 0 0 0 -1 -1 1 0 0 2.5 -1 0]"; got != want {
		t.Errorf("projections %v, want %v", got, want)
	}
}

// An input is the same column in every format and form.
func TestSparseInputsAreTheSameInEveryFormat(t *testing.T) {
	want := sparseRow(t, Config{Label: "y"}, `{"3":1.5,"7":-2,"y":1}`)
	for format, record := range map[string]string{
		"json": `{"x":[0,0,0,1.5,0,0,0,-2],"label":1}`, "vw": "1 | 3:1.5 7:-2", "float32": float32s(0, 0, 0, 1.5, 0, 0, 0, -2, 0, 0, 0, 1),
	} {
		c := Config{Format: format}
		if format == "float32" {
			c.Label = "11"
		}
		if got := sparseRow(t, c, record); !slices.Equal(got.Sparse.Columns, want.Sparse.Columns) || !slices.Equal(got.X, want.X) {
			t.Errorf("%s: %v %v, want %v %v", format, got.Sparse, got.X, want.Sparse, want.X)
		}
	}
	if a, b := sparseRow(t, Config{Label: "y"}, `{"f.color":"red","y":1}`), sparseRow(t, Config{Format: "vw"}, `1 |f color=red`); !slices.Equal(a.Sparse.Columns, b.Sparse.Columns) {
		t.Errorf("JSON %v, vw %v", a.Sparse, b.Sparse)
	}
}

// A row of a file is bit-identical to the record that it becomes, however many columns
// there are, and after a schema as from the beginning.
func TestSparseFilesAreTheirRecords(t *testing.T) {
	for name, content := range map[string]string{
		"libsvm": "1 3:0.5 99999:2 17:1e-3 # note\n-1 4:1\n1\n", "vw": "1 2 |f 99999:2 word |g :3\n-1 | 4\n", "csv": "a,b,c,y\n1,,red,0\n0,2.5,blue,1\n",
		"json": `{"features":{"a":{"b":3},"c":[0,1]},"y":1}` + "\n",
	} {
		c := Config{Sparse: true, Infer: true, Missing: "impute", Depth: MaxDepth}
		f, err := Read(strings.NewReader(content), name, c, Schema{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		records := c
		records.Task, _ = f.Task()
		d, err := New(records, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		rows, entries := 0, 0
		for {
			row, err := f.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			b, err := f.Record(nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := d.Decode(b)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, b, err)
			}
			if !slices.Equal(got.Sparse.Columns, row.Sparse.Columns) || !slices.Equal(got.Sparse.Values, row.Sparse.Values) || !slices.Equal(got.X, row.X) || got.Label.Class != row.Label.Class {
				t.Errorf("%s: %s is %v, the row %v", name, b, got, row)
			}
			rows++
			entries += row.Sparse.Len()
		}
		if rows == 0 || entries < 2 {
			t.Errorf("%s: %d rows, %d columns", name, rows, entries)
		}
		if _, err := New(c, *f.Schema()); err != nil {
			t.Errorf("%s: continued: %v", name, err)
		}
		if _, err := Read(strings.NewReader(content), name, c, *f.Schema()); err != nil {
			t.Errorf("%s: continued: %v", name, err)
		}
	}
}

func TestSparseInputsThatAreRefused(t *testing.T) {
	for _, c := range []Config{
		{Columns: []string{"a"}}, {Types: map[string]string{"a": "category"}}, {Above: -1}, {Task: learner.Novelty},
	} {
		c.Sparse = true
		if _, err := New(c, Schema{}); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if _, err := New(Config{Sparse: true}, Schema{Columns: []string{"a", "b"}}); err == nil {
		t.Error("a schema of other columns is accepted")
	}
	d, err := New(Config{Sparse: true, Label: "y", MaxAbs: 1e6, MaxColumns: 3}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	for record, stage := range map[string]string{
		`{"a":1e9,"y":1}`: "limits", `{"a":{"b":1},"y":1}`: "columns", `{"a":1,"b":1,"c":1,"d":1,"y":1}`: "limits", `{"a":tru,"y":1}`: "json",
	} {
		if _, err := d.Decode([]byte(record)); err == nil || err.(*Error).Stage != stage {
			t.Errorf("%s: %v, want an error of %s", record, err, stage)
		}
	}
	if row, err := d.Decode([]byte(`{"y":1}`)); err != nil || row.Sparse.Len() != 0 {
		t.Errorf("a record without inputs: %v, %v", row, err)
	}
}

// Lines of LIBSVM that are read at once give the rows, and the errors, of those that are read
// entry by entry.
func TestSparsePairsAreTheirEntries(t *testing.T) {
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("%d %d:%d  %d:-%d.5e-3 01:2 300000:1 %d:0", i%3, i+1, i%4, 1+i*i*977, i, 2+i))
	}
	lines = append(lines, "1", "-1 5:0.25 5:0.25", "1 2:+1", "1 3:.5", "1 4:NaN", "1 4:", "1 0:1", "1 x:1", "1 1:1e300", "1 9999999999:1", "1 1:1 2:1 3:1 4:1 5:1 6:1 7:1", "1\t2:1", "1 2:1 # 3:1", "2:1 3:4", "1 99:2")
	read := func(types map[string]string) (rows []string) {
		c := Config{Sparse: true, Infer: true, MaxAbs: 1e6, MaxColumns: 6, Types: types}
		f, err := Read(strings.NewReader(strings.Join(lines, "\n")+"\n"), "libsvm", c, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		for {
			row, err := f.Next()
			if err == io.EOF {
				return rows
			}
			rows = append(rows, fmt.Sprint(row.Sparse, row.X, row.Label, err))
		}
	}
	one, other := read(nil), read(map[string]string{"none": schema.Ignored})
	for i, row := range one {
		if len(other) != len(one) || other[i] != row {
			t.Errorf("%q: %s, entry by entry %s", lines[i], row, other[i])
		}
	}
	if len(one) != len(lines) {
		t.Errorf("%d rows of %d lines", len(one), len(lines))
	}
}
