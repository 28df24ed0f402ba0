package decode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
)

// wrong are values that columns of some types do not take, and how a reason names each.
var wrong = []struct {
	json, named string
	fits        []string // types that take it
}{
	{`"word"`, `text "word"`, []string{"category", "text"}},
	{`"2024-02-30"`, `text "2024-02-30"`, []string{"category", "text"}},
	{`"2024-02-28"`, `text "2024-02-28"`, []string{"category", "time", "text"}},
	{`""`, `text ""`, []string{"category", "text"}},
	{`"` + strings.Repeat("long", 1000) + `"`, `text "` + strings.Repeat("long", 16) + `"…`, []string{"category", "text"}},
	{`"\u0000\n"`, `text "\x00\n"`, []string{"category", "text"}},
	{`true`, `true`, []string{"boolean"}},
	{`12`, `12`, []string{"numeric", "category", "time"}},
	{`1` + strings.Repeat("0", 100), `1` + strings.Repeat("0", 63) + `…`, []string{"category"}},
	{`null`, `null`, nil},
	{`{"a":1}`, `an object`, nil},
	{`[[1]]`, `a list`, nil},
}

// A reason names the column, the value, of at most 64 bytes, and the type that was wanted,
// whatever the form of the record, and wherever the column is.
func TestReasonsNameColumnValueAndType(t *testing.T) {
	for _, is := range schema.Declarable {
		typ, base := is.String(), is.Values().String()
		for _, w := range wrong {
			for _, form := range []struct{ record, column string }{
				{`{"b":1,"c":%s,"y":1}`, "c"},
				{`{"features":{"b":1,"c":%s},"y":1}`, "c"},
				{`{"b":1,"c":{"d":[%s]},"y":1}`, "c.d.0"},
			} {
				c := Config{Label: "y", Infer: true, Depth: 4, Missing: "quarantine", Types: map[string]string{form.column: typ}}
				for _, columns := range [][]string{nil, {"b", form.column}} { // first record, or known columns
					c.Columns = columns
					_, err := mustNew(t, c, Schema{}).Decode([]byte(fmt.Sprintf(form.record, w.json)))
					if slices.Contains(w.fits, base) {
						if err != nil {
							t.Errorf("%s in a column %s: %v", w.json, typ, err)
						}
						continue
					}
					want := fmt.Sprintf("columns: %q is %s, want %s", form.column, w.named, wanted[is.Values()])
					if base == "numeric" && strings.HasPrefix(w.json, "1") || base == "time" && strings.HasPrefix(w.json, "1") {
						want = fmt.Sprintf("limits: %q is 1e+100, out of range ±1e+30", form.column)
					}
					if err == nil || err.Error() != want {
						t.Errorf("%s in a column %s: %v, want %s", fmt.Sprintf(form.record, w.json), typ, err, want)
					}
				}
			}
		}
	}
}

func TestReasonsOfListsFilesAndMissingValues(t *testing.T) {
	list := mustNew(t, Config{Types: map[string]string{"1": "boolean"}}, Schema{})
	for _, test := range []struct{ record, want string }{
		{`{"x":[1,2.5],"y":1}`, `columns: "1" is 2.5, want a boolean`},
		{`{"x":["word",2],"y":1}`, `columns: x[0] is text "word", want a number`},
	} {
		if _, err := list.Decode([]byte(test.record)); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.record, err, test.want)
		}
	}
	c := Config{Label: "y", Columns: []string{"a", "b"}, Types: map[string]string{"b": "time"}}
	if _, err := mustNew(t, c, Schema{}).Decode([]byte(`{"a":1,"y":1}`)); err == nil || err.Error() != `columns: "b" is missing, want a time, such as 2006-01-02T15:04:05Z` {
		t.Error(err)
	}
	for _, test := range []struct{ typ, cell, want string }{
		{"numeric", "word", `"c" is text "word", want a number: convert it`},
		{"boolean", "maybe", `"c" is text "maybe", want a boolean`},
		{"boolean", "2", `"c" is 2, want a boolean`},
		{"time", "noon", `"c" is text "noon", want a time, such as 2006-01-02T15:04:05Z`},
	} {
		f, err := Read(strings.NewReader("c,y\n"+test.cell+",1\n"), "f.csv", Config{Types: map[string]string{"c": test.typ}}, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Next()
		if err == nil || !strings.Contains(err.Error(), test.want) || test.typ != "numeric" && strings.Contains(err.Error(), "convert") {
			t.Errorf("%s as %s: %v, want %s", test.cell, test.typ, err, test.want)
		}
	}
}

// Random garbage in typed columns never panics, and a reason is short and printable.
func TestGarbageHasShortReasons(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	parts := []string{`{`, `}`, `[`, `]`, `,`, `:`, `"a"`, `"b"`, `"c"`, `"y"`, `"features"`, `"x"`, `1`, `-0`, `1e999`, `null`, `true`, `"2024-01-01"`, `"\ud83d\ude00"`, `"\u0000"`, "\xff", ` `}
	value := func() string { return parts[rng.IntN(len(parts))] }
	c := Config{Label: "y", Infer: true, Missing: "impute", Depth: MaxDepth, Types: map[string]string{"b": "text", "a.0": "time:since", "c": schema.ID}}
	d, good, bad := mustNew(t, c, Schema{}), 0, 0
	for i := range 30_000 {
		record := fmt.Sprintf(`{"a":%s,"b":%s,"c":%s,"y":1}`, value(), value(), value())
		if i%2 == 0 {
			record = ""
			for range rng.IntN(20) {
				record += value()
			}
		}
		row, err := d.Decode([]byte(record))
		if err == nil {
			good++
			if len(row.X) != len(d.Schema().Columns) {
				t.Fatalf("%q: %d values", record, len(row.X))
			}
			continue
		}
		bad++
		if text := err.Error(); len(text) > 400 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			t.Fatalf("%q: %q", record, text)
		}
		if _, ok := err.(*Error); !ok {
			t.Fatalf("%T", err)
		}
	}
	if good < 100 || bad < 1000 {
		t.Errorf("%d good records and %d bad ones", good, bad)
	}
}
