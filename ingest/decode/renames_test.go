package decode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/table"
)

// everything is a configuration with every kind of column that is made of fields by their names.
var everything = Config{
	Label: "y", Infer: true, Missing: "impute", Depth: MaxDepth,
	Types:   map[string]string{"card": "id", "at": "ignored", "note": "text", "kind*tier": schema.Pair},
	Windows: []Window{{Key: "card", Of: "amount", Time: "at", Over: []string{"1h"}, Features: []string{"mean", "since"}}},
	Tables:  []Table{{Topic: "shops", Key: "shop", Fields: []string{"size"}}},
}

// other are the names of these fields in later records.
var other = []Rename{{"card", "pan"}, {"at", "when"}, {"note", "remark"}, {"shop", "place.id"}, {"tier", "level"}, {"amount", "total"}}

func withShops(t *testing.T, s schema.Schema) *Decoder {
	t.Helper()
	d := restarted(t, everything, s)
	shops := table.New(d.config.Tables)
	shops.Apply([]table.Changes{{Table: "shops", Rows: []table.Row{{Key: "s1", Values: `[2.5]`}, {Key: "s2", Values: `[4]`}}}})
	d.SetTables(shops)
	return d
}

// A record with declared other names is the same row as the record before, whatever is made of
// its fields: with the next record, in a Decoder that continues from the schema, and in one that
// begins with it.
func TestADeclaredNameIsReadAsTheColumn(t *testing.T) {
	before := []string{
		`{"card":"c1","at":1704067200,"note":"late again","shop":"s1","kind":"k","tier":"gold","amount":1.5,"z":1,"y":0}`,
		`{"card":"c2","at":"2024-01-01T00:00:00Z","note":null,"shop":"s2","kind":"k","tier":"new","amount":2,"z":null,"y":1}`,
	}
	after := []string{
		`{"pan":"c1","when":1704067200,"remark":"late again","place":{"id":"s1"},"kind":"k","level":"gold","total":1.5,"z":1,"y":0}`,
		`{"total":2,"kind":"k","level":"new","place":{"id":"s2"},"pan":"c2","when":"2024-01-01T00:00:00Z","z":null,"remark":null,"y":1}`,
		`{"total":9,"amount":1.5,"kind":"k","level":"gold","tier":null,"pan":"c1","when":1704067200,"remark":"late again","shop":"s1","z":1,"y":0}`,
	}
	d := withShops(t, schema.Schema{})
	var want []string
	for _, v := range append(before, before[0]) {
		want = append(want, fmt.Sprint(mustRow(t, d, v)))
	}
	if err := d.Rename(other); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(d.Schema())
	if err != nil {
		t.Fatal(err)
	}
	var s schema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	first := withShops(t, schema.Schema{})
	if err := first.Rename(other); err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*Decoder{"the next record": d, "the schema": withShops(t, s), "the first record": first} {
		for i, v := range after {
			if got := fmt.Sprint(mustRow(t, d, v)); got != want[i] {
				t.Errorf("%s: %s is read as %s, want %s", name, v, got, want[i])
			}
		}
		if got := d.Schema(); !slices.Equal(got.Columns, s.Columns) || !slices.Equal(got.Types, s.Types) || len(d.Renames()) != len(other) {
			t.Errorf("%s: columns %v of types %v, renames %v", name, got.Columns, got.Types, d.Renames())
		}
		if _, err := d.Decode([]byte(`{"total":1,"total":2,"shop":"s1","y":1}`)); err == nil || !strings.Contains(err.Error(), "duplicate field") {
			t.Errorf("%s: the same field twice: %v", name, err)
		}
	}
	if err := d.Rename(nil); err != nil || d.Schema().Aliases != nil {
		t.Errorf("%v, %v", err, d.Schema().Aliases)
	}
	if _, err := d.Decode([]byte(after[0])); err == nil || !strings.Contains(err.Error(), "unknown field") {
		t.Errorf("without the renames: %v", err)
	}
}

// Files are read by the other names as well, with the types of the columns.
func TestFilesAreReadByDeclaredNames(t *testing.T) {
	c := Config{Label: "y", Infer: true, Missing: "impute", Types: map[string]string{"code": "category"}}
	d := restarted(t, c, schema.Schema{})
	want := fmt.Sprint(mustRow(t, d, `{"a":1.5,"code":"07","y":1}`))
	if err := d.Rename([]Rename{{"code", "id"}, {"a", "total"}}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"f.csv": "id,y,total\n07,1,1.5\n", "f.jsonl": `{"total":1.5,"id":"07","y":1}` + "\n"} {
		f, err := Read(strings.NewReader(text), name, c, *d.Schema())
		if err != nil {
			t.Fatal(err)
		}
		row, err := f.Next()
		if err != nil || fmt.Sprint(row.X) != want {
			t.Errorf("%s: %v, %v, want %s", name, row.X, err, want)
		}
	}
}

// Adopted columns, and the other names of columns that a learner has found, stay beside the
// declared ones; a field that is read as a column is not adopted.
func TestDeclaredNamesStayWithAdoptedColumns(t *testing.T) {
	d := restarted(t, adopting, schema.Schema{})
	mustRow(t, d, `{"a":1,"b":2,"y":0}`)
	if err := d.Rename([]Rename{{"a", "total"}}); err != nil {
		t.Fatal(err)
	}
	for range 2 * adoptAfter {
		mustRow(t, d, `{"total":1,"z":3,"y":0}`)
	}
	s := d.Schema()
	if !slices.Equal(s.Columns, []string{"a", "b", "z"}) {
		t.Fatalf("columns %v", s.Columns)
	}
	found := schema.Alias{Column: "b", Field: "z", Type: "numeric", Step: 3}
	of := s.First(2)
	of.Aliases = append(of.Aliases, found)
	c := adopting
	c.Fixed = true
	if x := mustRow(t, restarted(t, c, *of), `{"total":5,"z":4}`); x[0] != 5 || x[1] != 4 {
		t.Errorf("the model reads %v, want 5 and 4", x)
	}
	if whole := of.Whole(); len(whole.Aliases) != 1 || !whole.Aliases[0].Declared || len(whole.Columns) != 3 {
		t.Errorf("the whole schema is %+v", whole)
	}
}

// Renames that make no sense for the configuration or the model are errors that name the field.
func TestAnImpossibleRenameIsAnError(t *testing.T) {
	c := Config{Label: "y", Key: "id", Weight: "w", Infer: true, Missing: "impute", Types: map[string]string{"b": "numeric"}}
	for want, all := range map[string][]Rename{
		`the model has no column "c"`:              {{"c", "d"}},
		`"b" is also declared`:                     {{"a", "b"}},
		`"x" is a column of the model`:             {{"a", "x"}},
		`"y" is the label`:                         {{"a", "y"}},
		`"id" is the label, the key or the weight`: {{"id", "key"}},
		`input.renames names "a" twice`:            {{"a", "c"}, {"a", "d"}},
		`the column "a" is renamed to itself`:      {{"a", "a"}},
		`input.renames names "c" twice`:            {{"a", "c"}, {"x", "c"}},
		`input.renames names "x" twice`:            {{"a", "x"}, {"x", "c"}},
		`"": want the names`:                       {{"a", ""}},
		`want at most 100`:                         make([]Rename, 101),
	} {
		d := restarted(t, c, schema.Schema{Columns: []string{"a", "b", "x"}, Task: "regression"})
		if err := d.Rename(all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", all, err, want)
		}
	}
	if err := (Config{Format: "float32", Label: "0"}).CheckRenames([]Rename{{"1", "2"}}); err == nil || !strings.Contains(err.Error(), "float32") {
		t.Errorf("a format without names: %v", err)
	}
	if d := restarted(t, c, schema.Schema{}); d.Rename([]Rename{{"c", "d"}}) != nil {
		t.Error("a model without columns refuses a rename")
	}
}
