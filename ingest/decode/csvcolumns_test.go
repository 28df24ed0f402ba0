package decode

import (
	"io"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/csvline"

	"github.com/accrete-ml/accrete/learner"
)

// all reads the rows of a file.
func all(t *testing.T, text string) (rows [][]float64, columns []string, err error) {
	t.Helper()
	f, err := Read(strings.NewReader(text), "file", Config{Infer: true, Missing: "impute", Depth: MaxDepth}, Schema{})
	if err != nil {
		return nil, nil, err
	}
	for {
		r, err := f.Next()
		if err == io.EOF {
			return rows, f.Schema().Columns, nil
		}
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, append([]float64(nil), r.X...))
	}
}

// Cells may be separated by commas, semicolons, tabs or bars.
func TestSeparatorsAreRecognised(t *testing.T) {
	for _, sep := range csvline.Separators {
		text := strings.ReplaceAll("\xef\xbb\xbfa,\"b;,|\t\",y\r\n1,\"x\r\ny\",2\r\n3,z,4\r\n", ",", string(sep))
		rows, columns, err := all(t, text)
		if err != nil || len(rows) != 2 || len(columns) != 2 || rows[0][0] != 1 || rows[1][0] != 3 {
			t.Errorf("%q: rows %v of %q, %v", sep, rows, columns, err)
		}
	}
	if rows, columns, err := all(t, "a;b,y\n1,2\n"); err != nil || len(rows) != 1 || columns[0] != "a;b" {
		t.Errorf("a comma comes first: %v of %q, %v", rows, columns, err)
	}
}

// A file or a value that cannot be read is named with what to do.
func TestErrorsSayWhatToDo(t *testing.T) {
	for text, want := range map[string]string{
		"a;y\n0,5;1\n1,25;2\n":                         `column "a" has numbers with commas, such as "1,25"`,
		"\xff\xfea\x00,\x00y\x00\n\x00":                "UTF-16",
		"\xff\xfe\x00\x00a\x00\x00\x00":                "it is UTF-32",
		"\x28\xb5\x2f\xfd\x24\x00":                     "zstd -dc FILE",
		"\xfd7zXZ\x00\x00":                             "xz -dc FILE",
		"sep=;\na;y\n1;2\n":                            "names the separator for a spreadsheet",
		"BZh91AY&SY":                                   "bzip2 -dc FILE",
		"a,y\r1,2\r3,4\r":                              `tr '\r' '\n'`,
		"PK\x03\x04xxxx":                               "ZIP archive, as spreadsheets and .npz files are",
		"PAR1xxxx":                                     "Parquet",
		"[\n {\"a\":1,\"y\":2}]\n":                     "one object a line",
		"{\n \"a\":1,\n \"y\":2\n}\n":                  "line 1: json: unexpected end, want a name in quotes: an object has to be on one line",
		"a,y\ngr\xfcn,1\n":                             `line 2: csv: column "a": "gr\xfcn" is not valid UTF-8: convert the file`,
		"a,y\n1e400,1\n":                               `line 2: limits: "a" is 1e400, out of range`,
		"a,y\n\"x\"y,1\n":                              `line 2: csv: byte 3: `,
		"a,y\n\"x\nz\"y,1\n":                           `line 2: csv: line 3, byte 2: `,
		`{"features":{"a":NaN},"y":1}`:                 `line 1: json: "a": NaN at byte 17 is not JSON: leave the field out, or write null`,
		`{"features":{"a":{"b":[1,-Infinity]}},"y":1}`: `json: "a.b.1": -Infinity at byte 25 is not JSON`,
		`{"features":{"a":1e400},"y":1}`:               `"a" is 1e400, out of range`,
	} {
		if _, _, err := all(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Up to 1 % of the first values of a column of times may be something else, which are errors.
func TestTimesAreInferredInSpiteOfAFewOthers(t *testing.T) {
	text := "at,y\n" + strings.Repeat("2024-05-06,1\n2024-05-07T08:09:10+02:00,2\n", 100)
	for more, want := range map[string]string{"": "", "06/05/2024,1\n": `line 202: columns: "at" is text "06/05/2024", want a time, such as 2006-01-02T15:04:05Z: write all of them so, or declare their format, for example time:%d.%m.%Y`} {
		_, _, err := all(t, text+more)
		if got := err == nil; got != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with %q: %v", more, err)
		}
	}
}

// The label is no input, so a declaration of it as one is refused; one that excludes it is not.
func TestTheLabelIsNoDeclaredColumn(t *testing.T) {
	for _, test := range []struct {
		config  Config
		refused bool
	}{
		{Config{Columns: []string{"y"}}, true},
		{Config{Columns: []string{"a", "b"}, Labels: []string{"b"}}, true},
		{Config{Columns: []string{"a", "b"}, Label: "b"}, true},
		{Config{Infer: true, Types: map[string]string{"y": "category"}}, true},
		{Config{Infer: true, Types: map[string]string{"y": "ignored"}}, false},
		{Config{Columns: []string{"a"}}, false},
	} {
		file, err := Read(strings.NewReader("a,b,y\n1,2,3.5\n2,3,4.5\n"), "rows", test.config, Schema{})
		if refused := err != nil && strings.Contains(err.Error(), "is also the label"); refused != test.refused || err != nil && !refused {
			t.Errorf("%+v: %v", test.config, err)
		}
		if err == nil {
			file.Close()
		}
	}
}

// TestZonesOfTimes: only a model that is no older than Config.Zones reads a text with such a zone as a
// time.
func TestZonesOfTimes(t *testing.T) {
	record := []byte(`{"at":"2024-02-29 21:47:39 UTC","y":1}`)
	for _, zones := range []bool{true, false} {
		d, err := New(Config{Label: "y", Infer: true, Zones: zones}, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		row, err := d.Decode(record)
		if err != nil || (row.Types[0] == learner.TimeColumn) != zones || zones && row.X[0] != 1709243259 {
			t.Errorf("zones %v: %v %v, %v", zones, row.Types, row.X, err)
		}
		declared, err := New(Config{Label: "y", Infer: true, Zones: zones, Types: map[string]string{"at": "time"}}, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := declared.Decode(record); (err == nil) != zones {
			t.Errorf("zones %v: a declared time: %v", zones, err)
		}
		if _, err := TimeAt(record, "at", zones); (err == nil) != zones {
			t.Errorf("zones %v: the time of a record: %v", zones, err)
		}
	}
}

// TestRecordsKeepIdentifiers tests that the records of a CSV file have the columns that are no inputs.
func TestRecordsKeepIdentifiers(t *testing.T) {
	f, err := Read(strings.NewReader("id,note,a,y\nk1,n,2,1\n"), "rows.csv", Config{Label: "y", Infer: true, Types: map[string]string{"id": "id", "note": "ignored"}}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Skip(); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Record(nil); err != nil || string(got) != `{"features":{"id":"k1","note":"n","a":2},"y":1}` {
		t.Errorf("%s, %v", got, err)
	}
}
