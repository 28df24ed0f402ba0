package decode

import (
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// clone is a row that stays valid.
func clone(r Row) Row {
	r.X = append([]float64(nil), r.X...)
	r.Key = append([]byte(nil), r.Key...)
	r.Label.More = append([]float64(nil), r.Label.More...)
	return r
}

// eachRecordFormat runs f for every example of every format of records.
func eachRecordFormat(t *testing.T, f func(t *testing.T, c Config, example string)) {
	for _, format := range formats {
		if format.parse == nil {
			continue
		}
		if len(format.examples) == 0 {
			t.Errorf("%s has no example", format.name)
		}
		for _, example := range format.examples {
			c := Config{Format: format.name, Label: "y", Reader: format.schema, Depth: 4, Infer: true}
			if format.check != nil && format.check(c) != nil {
				c.Label = "0"
			}
			t.Run(format.name, func(t *testing.T) { f(t, c, example) })
		}
	}
}

func TestRecordsOfEveryFormatDecodeAgainAlike(t *testing.T) {
	eachRecordFormat(t, func(t *testing.T, c Config, example string) {
		d, err := New(c, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		first, err := d.Decode([]byte(example))
		if err != nil {
			t.Fatalf("%s: %v", example, err)
		}
		if len(first.X) == 0 || first.Label.Task == 0 || !(first.Weight > 0) {
			t.Errorf("%s: %+v", example, first)
		}
		first = clone(first)
		successor, err := New(c, *d.Schema())
		if err != nil {
			t.Fatal(err)
		}
		second, err := successor.Decode([]byte(example))
		if err != nil || !reflect.DeepEqual(clone(second), first) {
			t.Errorf("%s: %+v, then %+v, %v", example, first, second, err)
		}
	})
}

// Whatever is cut off, flipped or inserted: a row of the same length, or an
// *Error that changes nothing.
func TestDamagedRecordsOfEveryFormatAreRowsOrErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	eachRecordFormat(t, func(t *testing.T, c Config, example string) {
		d, err := New(c, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		row, err := d.Decode([]byte(example))
		if err != nil {
			t.Fatal(err)
		}
		columns := len(row.X)
		for range 5000 {
			b := []byte(example)
			for range 1 + rng.IntN(3) {
				i := rng.IntN(len(b))
				switch rng.IntN(3) {
				case 0:
					b = b[:i+1]
				case 1:
					b[i] = byte(rng.Uint32())
				default:
					b = append(b[:i+1], b[i:]...)
				}
			}
			before := d.Schema()
			row, err := d.Decode(b)
			var reason *Error
			switch {
			case err == nil && len(row.X) != columns:
				t.Fatalf("%q has %d inputs, want %d", b, len(row.X), columns)
			case err != nil && (!errors.As(err, &reason) || reason.Error() == "" || len(err.Error()) > 400):
				t.Fatalf("%q: %v", b, err)
			case err != nil && d.Schema() != before:
				t.Fatalf("%q has changed the schema, and has the error %v", b, err)
			}
		}
	})
}

// A file is recognised by its beginning, and each of its rows decodes to what the
// record made of it decodes to.
func TestFilesOfEveryFormatAreRecognisedAndWrittenAsRecords(t *testing.T) {
	for _, format := range formats {
		if format.open == nil {
			continue
		}
		for _, example := range format.examples {
			found, err := fileFormat("", []byte(example))
			if err != nil || found.name != format.name {
				t.Errorf("%q is taken for %s, %v", example, found.name, err)
			}
			c := Config{}
			if format.check != nil && format.check(Config{Label: "y"}) != nil {
				c.Label = "0"
			}
			file, err := Read(strings.NewReader(example), "example", c, Schema{})
			if err != nil {
				t.Fatalf("%s: %v", format.name, err)
			}
			var d *Decoder
			for {
				row, err := file.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", format.name, err)
				}
				row = clone(row)
				value, err := file.Record(nil)
				if err != nil {
					t.Fatalf("%s: %v", format.name, err)
				}
				if d == nil {
					task, _ := file.Task()
					c.Task = task
					if d, err = New(c, Schema{}); err != nil {
						t.Fatal(err)
					}
				}
				got, err := d.Decode(value)
				if err != nil || !reflect.DeepEqual(clone(got).X, row.X) || got.Label.Class != row.Label.Class || got.Label.Value != row.Label.Value {
					t.Errorf("%s: %s decodes to %+v, %v, and the row is %+v", format.name, value, got, err, row)
				}
			}
			if d == nil {
				t.Errorf("%s: the example has no row", format.name)
			}
		}
	}
}

func TestAnUnknownFormatIsRefusedWithTheKnownOnes(t *testing.T) {
	if _, err := New(Config{Format: "jsn"}, Schema{}); err == nil || !strings.Contains(err.Error(), `"jsn": want `+strings.Join(Formats(), ", ")+"; did you mean json?") {
		t.Error(err)
	}
	if _, err := Read(strings.NewReader("a,y\n1,2\n"), "example", Config{Format: "xml"}, Schema{}); err == nil || !strings.Contains(err.Error(), "want "+strings.Join(fileFormats(), ", ")) {
		t.Error(err)
	}
}

// Of several invalid options the same one is named each time.
func TestTheFirstInvalidIndexIsNamed(t *testing.T) {
	for range 20 {
		_, err := New(Config{Format: "float32", Label: "y", Weight: "w", Key: "k"}, Schema{})
		if err == nil || err.Error() != `input.label is "y": want the index of a number, such as 0 for the first` {
			t.Fatal(err)
		}
	}
}
