package decode

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/table"
)

var customers = Table{Topic: "customers", Key: "id", Fields: []string{"tier", "a.b"}, Rows: 10}

// A row has the scalars of its record in one spelling, which is JSON; everything else is
// refused.
func TestRowsOfTables(t *testing.T) {
	for value, want := range map[string]string{
		`{"tier":"gold","a":{"b":1.50}}`:              `["gold",1.50]`,
		`{"a.b":true,"more":[{}],"tier":"\u0067<\n"}`: `["g\u003c\n",true]`,
		`{}`:                  `[null,null]`,
		`{"tier":null} `:      `[null,null]`,
		`{"tier":[]}`:         "",
		`{"tier":{}}`:         "",
		`{"a":{"b":[1]}}`:     "",
		`{"tier":1e999}`:      "",
		`{"tier":NaN}`:        "",
		`{"tier":1} x`:        "",
		`{"tier":`:            "",
		`[1]`:                 "",
		`7`:                   "",
		"":                    "",
		"{\"tier\":\"\xff\"}": "",
		`{"tier":"` + strings.Repeat("x", maxTableText+1) + `"}`: "",
	} {
		row, err := TableRow(&customers, []byte("k"), []byte(value), 1<<20)
		if (err == nil) != (want != "") || row.Values != want || err == nil && row.Key != "k" {
			t.Errorf("%.60s: %+v, %v, want %s", value, row, err, want)
		}
		if want != "" && !json.Valid([]byte(row.Values)) {
			t.Errorf("%s is no JSON", row.Values)
		}
	}
	for _, key := range []string{"", "\xff", strings.Repeat("k", maxTableKey+1)} {
		if row, err := TableRow(&customers, []byte(key), []byte("{}"), 100); err == nil {
			t.Errorf("key %q: %+v", key, row)
		}
	}
	if row, err := TableRow(&customers, []byte("k"), nil, 100); err != nil || row != (table.Row{Key: "k"}) {
		t.Errorf("a record without a value: %+v, %v", row, err)
	}
}

// A row whose values have more than 64 KiB together is refused, however they are divided: a record
// of the model log must have room for it.
func TestRowsOfTablesAreBoundedTogether(t *testing.T) {
	c := Table{Topic: "customers", Key: "id", Rows: 10}
	for i := range 70 {
		c.Fields = append(c.Fields, fmt.Sprint("f", i))
	}
	fields := func(n int, text string) []byte {
		m := map[string]string{}
		for _, name := range c.Fields[:n] {
			m[name] = text
		}
		b, _ := json.Marshal(m)
		return b
	}
	for _, test := range []struct {
		n    int
		text string
		ok   bool
	}{
		{60, strings.Repeat("x", maxTableText), true},
		{70, strings.Repeat("x", maxTableText), false},
		{10, strings.Repeat("\x01", maxTableText), true}, // of six bytes each in the model log
		{12, strings.Repeat("\x01", maxTableText), false},
	} {
		row, err := TableRow(&c, []byte("k"), fields(test.n, test.text), 1<<20)
		if (err == nil) != test.ok || len(row.Values) > maxTableRow {
			t.Errorf("%d values of %d bytes: %d bytes, %v", test.n, len(test.text), len(row.Values), err)
		}
	}
}

// Records find their row by the text or the digits of its key; those without one have nulls,
// which are treated as those of their own.
func TestRecordsFindTheirRows(t *testing.T) {
	for _, missing := range []string{"impute", "zero", "quarantine"} {
		d, err := New(Config{Label: "y", Infer: true, Missing: missing, Depth: 8, Tables: []Table{customers, {Topic: "tiers", Key: "customers.tier", Fields: []string{"level"}}}}, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		tables := table.New(d.config.Tables)
		tables.Apply([]table.Changes{
			{Table: "customers", Rows: []table.Row{{Key: "42", Values: `["gold",2.5]`}, {Key: "x", Values: `["new",3]`}}},
			{Table: "tiers", Rows: []table.Row{{Key: "gold", Values: `[7]`}, {Key: "new", Values: `[8]`}}},
		})
		d.SetTables(tables)
		for _, test := range []struct {
			id     string
			b, top float64
			no     bool
		}{
			{`42`, 2.5, 7, false}, {`"42"`, 2.5, 7, false}, {`42.0`, 2.5, 7, false}, {`"x"`, 3, 8, false},
			{`"y"`, math.NaN(), math.NaN(), true}, {`null`, math.NaN(), math.NaN(), true}, {`true`, math.NaN(), math.NaN(), true},
		} {
			row, err := d.Decode([]byte(`{"id":` + test.id + `,"amount":1,"y":2}`))
			if test.no && missing == "quarantine" {
				if err == nil {
					t.Errorf("%s, %s: no error", missing, test.id)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.no && missing == "zero" {
				test.b, test.top = 0, 0
			}
			// amount, customers.a.b, customers.tier, tiers.level
			if same := func(a, b float64) bool { return a == b || a != a && b != b }; len(row.X) != 4 || !same(row.X[1], test.b) || !same(row.X[3], test.top) {
				t.Errorf("%s, %s: %v of %v", missing, test.id, row.X, d.Schema().Columns)
			}
		}
		if n := d.WithoutRow(); n[0] != 3 || n[1] != 3 {
			t.Errorf("%v records without a row, want 3", n)
		}
		if _, err := d.Decode([]byte(`{"x":[1,2],"y":2}`)); err == nil {
			t.Error("a list of numbers is enriched")
		}
	}
}

// Options that contradict the others are errors.
func TestTablesAreCheckedAgainstTheOtherOptions(t *testing.T) {
	for what, c := range map[string]Config{
		"the label as key":         {Label: "id", Tables: []Table{customers}},
		"two of one name":          {Tables: []Table{customers, customers}},
		"two of one column":        {Tables: []Table{{Topic: "a", Key: "id", Fields: []string{"b.c"}}, {Topic: "a.b", Key: "id", Fields: []string{"c"}}}},
		"a column that is ignored": {Types: map[string]string{"customers.tier": schema.Ignored}, Tables: []Table{customers}},
		"lists of numbers":         {Format: "float32", Tables: []Table{customers}},
		"no fields":                {Tables: []Table{{Topic: "t", Key: "k"}}},
	} {
		if _, err := c.Effective(); err == nil || !strings.HasPrefix(err.Error(), "input.tables") {
			t.Errorf("%s: %v", what, err)
		}
	}
	c, err := Config{Columns: []string{"amount"}, Tables: []Table{customers}}.Effective()
	if again, twice := c.Effective(); err != nil || twice != nil || len(c.Columns) != 3 || len(again.Columns) != 3 || c.Types["id"] != schema.ID {
		t.Errorf("%+v, %v, %v", c, err, twice)
	}
}
