package decode

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

func mustNew(t *testing.T, c Config, s Schema) *Decoder {
	t.Helper()
	d, err := New(c, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var inferred = Config{Label: "y", Infer: true, Missing: "impute"}

func key(text string) float64 { return learner.Category(xxhash.Sum64String(text)) }

// The first value of a column settles its type, and a missing value settles nothing.
func TestFirstValueSettlesTheTypeOfAColumn(t *testing.T) {
	d := mustNew(t, inferred, Schema{})
	nan := math.NaN()
	for i, step := range []struct {
		record string
		want   []float64 // nil: in quarantine
		types  string
		reason string
	}{
		{`{"a":1,"b":"x","c":null,"d":true,"e":"2024-01-01T00:00:10Z","y":1}`, []float64{1, key("x"), nan, 1, 1704067210}, "numeric category  boolean time", ""},
		{`{"a":null,"b":null,"d":false,"e":"1970-01-02","y":1}`, []float64{nan, nan, nan, 0, 86400}, "numeric category  boolean time", ""},
		{`{"a":1,"b":"x","c":"bad","d":"true","e":null,"y":1}`, nil, "numeric category  boolean time", `columns: "d" is text "true", want a boolean`},
		{`{"a":"1","b":"x","y":1}`, nil, "numeric category  boolean time", `columns: "a" is text "1", want a number`},
		{`{"a":1,"b":7,"y":1}`, nil, "numeric category  boolean time", `columns: "b" is 7, want the text of a category`},
		{`{"a":1,"e":"noon","y":1}`, nil, "numeric category  boolean time", `columns: "e" is text "noon", want a time, such as 2006-01-02T15:04:05Z`},
		{`{"a":1,"b":{"c":1},"y":1}`, nil, "numeric category  boolean time", `columns: "b" is an object, want the text of a category`},
		{`{"a":1,"c":2.5,"y":1}`, []float64{1, nan, 2.5, nan, nan}, "numeric category numeric boolean time", ""},
	} {
		row, err := d.Decode([]byte(step.record))
		if step.want == nil {
			if err == nil || err.Error() != step.reason {
				t.Errorf("record %d: error %v, want %s", i, err, step.reason)
			}
		} else if err != nil || !slices.EqualFunc(row.X, step.want, func(v, w float64) bool { return v == w || v != v && w != w }) {
			t.Errorf("record %d: %v, %v, want %v", i, row.X, err, step.want)
		}
		if got := strings.Join(d.Schema().Types, " "); got != step.types {
			t.Errorf("after record %d the types are %q, want %q", i, got, step.types)
		}
	}
}

// A schema of numbers alone is the one that a Decoder without types has.
func TestNumericColumnsHaveNoTypes(t *testing.T) {
	for _, record := range []string{`{"a":1,"b":2,"y":1}`, `{"x":[1,2],"y":1}`} {
		d := mustNew(t, inferred, Schema{})
		if row, err := d.Decode([]byte(record)); err != nil || row.Types != nil {
			t.Fatalf("%v, %v", row, err)
		}
		if b, _ := json.Marshal(d.Schema()); strings.Contains(string(b), "types") {
			t.Errorf("schema %s", b)
		}
	}
}

func TestDeclaredTypesAreKept(t *testing.T) {
	c := Config{Label: "y", Missing: "impute", Types: map[string]string{"code": "category", "at": "time", "note": schema.Ignored}}
	d := mustNew(t, c, Schema{})
	row, err := d.Decode([]byte(`{"code":7.0,"at":60,"amount":2,"note":{"any":"thing"},"y":1}`))
	if err != nil || !slices.Equal(row.X, []float64{2, 60, key("7")}) {
		t.Errorf("%v, %v", row.X, err)
	}
	if _, err := d.Decode([]byte(`{"code":"7","at":60,"amount":"2","y":1}`)); err == nil {
		t.Error("text in a column that is numeric because nothing else is declared")
	}
	if _, err := New(Config{Types: map[string]string{"code": "numeric"}}, *d.Schema()); err == nil {
		t.Error("another type than the one that was learned is not refused")
	}
	if _, err := New(Config{Types: map[string]string{"a": "categry"}}, Schema{}); err == nil || !strings.Contains(err.Error(), "did you mean category?") {
		t.Errorf("a type that does not exist: %v", err)
	}
}

// A column that is declared with its type is one, whether the first record has it or not.
func TestDeclaredColumnsMayComeLater(t *testing.T) {
	c := Config{Label: "y", Missing: "impute", Infer: true, Types: map[string]string{"shop": "category", "text": "text", "row": schema.ID}}
	d := mustNew(t, c, Schema{})
	first, err := d.Decode([]byte(`{"amount":2,"y":1}`))
	if columns := d.Schema().Columns; err != nil || columns[0] != "amount" || columns[1] != "shop" || len(columns) != 2+schema.TextBuckets || first.X[0] != 2 || first.X[1] == first.X[1] {
		t.Fatalf("%v are %v, %v", columns, first.X, err)
	}
	if row, err := d.Decode([]byte(`{"shop":7,"amount":3,"y":1}`)); err != nil || row.X[1] != key("7") {
		t.Errorf("%v, %v", row.X, err)
	}
	c.Missing = "quarantine"
	if _, err := mustNew(t, c, Schema{}).Decode([]byte(`{"amount":2,"text":"a","y":1}`)); err == nil || !strings.Contains(err.Error(), "shop") {
		t.Errorf("a first record without a column that may not be missing: %v", err)
	}
}

// The first rows of a CSV file determine the types, and the records that it turns into
// decode to the same rows.
func TestCellsHaveTheTypesOfTheirColumn(t *testing.T) {
	text := "n,code,flag,at,gone,y\n" +
		"1,007,TRUE,2024-01-01,NA,late\n" +
		"NA,A1,false,2024-01-02 10:00:00,,\"on, time\"\n" +
		",007,,NA,,late\n"
	f, err := Read(strings.NewReader(text), "f.csv", Config{Infer: true, Missing: "impute"}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	d := mustNew(t, Config{Infer: true, Missing: "impute", Task: learner.Classification}, Schema{})
	for i, want := range []string{"[1.7040672e+09 %v 1 NaN 1]", "[1.7041896e+09 %v 0 NaN NaN]", "[NaN %v NaN NaN NaN]"} {
		row, err := f.Next()
		if err != nil {
			t.Fatal(err)
		}
		want = fmt.Sprintf(want, key([]string{"007", "A1", "007"}[i]))
		if got := fmt.Sprint(row.X); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
		b, err := f.Record(nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := d.Decode(b)
		if err != nil || fmt.Sprint(again.X) != want {
			t.Errorf("record %s: %v, %v", b, again.X, err)
		}
	}
	if got := fmt.Sprint(f.Schema().Columns, f.Schema().Types); got != "[at code flag gone n] [time category boolean  numeric]" {
		t.Error(got)
	}
}

// FuzzTypes: no record makes a typed Decoder panic, change its columns, or return a
// value that is neither finite nor missing; and an error leaves the schema as it was.
func FuzzTypes(f *testing.F) {
	f.Add(`{"a":1,"b":"x","c":null,"y":1}`, `{"a":null,"b":"2024-01-01","c":true,"y":2}`)
	f.Add(`{"x":[1,null],"y":1}`, `{"features":{"0":"a","1":false},"y":"b"}`)
	f.Add(`{"a":{"b":[1,{"c":"x"}]},"y":1}`, `{"a":null,"a.b.0":2,"y":1}`)
	f.Add(`{"a":null,"y":1}`, `{"a":[],"b":{},"y":1}`)
	rng := rand.New(rand.NewPCG(1, 1))
	values := []string{`1`, `-1e300`, `"x"`, `""`, `null`, `true`, `"2024-02-30"`, `"2024-02-28T10:00:00Z"`, `{"a":[1]}`, `[]`, `1e999`}
	for range 20 {
		pick := func() string { return values[rng.IntN(len(values))] }
		f.Add(fmt.Sprintf(`{"a":%s,"b":%s,"y":1}`, pick(), pick()), fmt.Sprintf(`{"b":%s,"a":%s,"y":1}`, pick(), pick()))
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		for _, c := range []Config{inferred, {Infer: true, Missing: "zero", Unknown: "ignore"}, {Label: "y", Missing: "impute", Types: map[string]string{"a": "time", "b": "category", "c": schema.Ignored}}, nested, {Infer: true, Missing: "impute", Unknown: "ignore", Depth: MaxDepth, MaxColumns: 5, Types: map[string]string{"a.0": "category", "b": schema.ID}}} {
			d := mustNew(t, c, Schema{})
			for _, record := range []string{first, second, first} {
				before := d.Schema()
				row, err := d.Decode([]byte(record))
				if err != nil && d.Schema() != before {
					t.Fatalf("%q changed the schema: %v", record, err)
				}
				if len(before.Columns) > 0 && !slices.Equal(before.Columns, d.Schema().Columns) {
					t.Fatalf("%q changed the columns", record)
				}
				for _, v := range row.X {
					if math.IsInf(v, 0) || math.Abs(v) > 1e30 {
						t.Fatalf("%q has the value %v", record, v)
					}
				}
				if row.Types != nil && len(row.Types) != len(row.X) {
					t.Fatalf("%d types of %d values", len(row.Types), len(row.X))
				}
				if _, err := New(c, *d.Schema()); err != nil {
					t.Fatalf("the schema %+v: %v", d.Schema(), err)
				}
			}
		}
	})
}

// An object that is null in the first record is none of the columns if some of its fields are declared.
func TestDeclaredFieldsOfAnObjectThatIsNullAtFirst(t *testing.T) {
	for _, first := range []string{`{"a":1,"u":null,"label":"p"}`, `{"a":1,"label":"p"}`} {
		d := mustNew(t, Config{Depth: MaxDepth, Label: "label", Missing: "impute", Types: map[string]string{"u.age": "numeric", "u.city": "category"}}, Schema{})
		for i, record := range []string{first, `{"a":2,"u":{"age":30,"city":"x"},"label":"n"}`, `{"a":2,"u":null,"label":"n"}`} {
			row, err := d.Decode([]byte(record))
			if err != nil {
				t.Fatalf("%s, record %d: %v", first, i, err)
			}
			if got := fmt.Sprint(d.Schema().Columns); got != "[a u.age u.city]" || math.IsNaN(row.X[1]) != (i != 1) {
				t.Errorf("%s, record %d: columns %s, values %v", first, i, got, row.X)
			}
		}
	}
}
