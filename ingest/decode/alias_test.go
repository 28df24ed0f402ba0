package decode

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
)

// A column that a record lacks is read from the field that it is called by now; its own value
// counts where there are both.
func TestARenamedColumnIsReadFromItsField(t *testing.T) {
	schema := Schema{
		Columns: []string{"a", "b", "k"}, Task: "regression", Types: []string{"numeric", "numeric", "category"},
		Aliases: []schema.Alias{{Column: "a", Field: "new", Type: "numeric"}, {Column: "k", Field: "o.kind", Type: "category"}},
	}
	c := adopting
	c.Fixed, c.Depth = true, MaxDepth
	d := restarted(t, c, schema)
	own := mustRow(t, d, `{"a":1.5,"b":2,"k":"x"}`)
	want := [3]float64{own[0], own[1], own[2]}
	missing := func(v float64) bool { return v != v }
	for record, lacks := range map[string][3]bool{
		`{"new":1.5,"b":2,"k":"x"}`:             {},
		`{"b":2,"new":1.5,"k":"x","c":7}`:       {},
		`{"a":1.5,"new":9,"b":2,"k":"x"}`:       {},
		`{"new":9,"a":1.5,"b":2,"k":"x"}`:       {},
		`{"a":null,"new":1.5,"b":2,"k":"x"}`:    {},
		`{"new":null,"b":2,"k":"x"}`:            {true, false, false},
		`{"a":1.5,"b":2,"o.kind":"x"}`:          {},
		`{"a":1.5,"b":2,"k":null,"o.kind":"x"}`: {},
		`{"new":"1.5","b":2,"k":"x"}`:           {},
		`{"new":"text","b":2,"k":"x"}`:          {true, false, false},
		`{"b":2,"k":"x"}`:                       {true, false, false},
	} {
		x := mustRow(t, d, record)
		for i := range want {
			if missing(x[i]) != lacks[i] || !lacks[i] && x[i] != want[i] {
				t.Errorf("%s is read as %v, want %v, missing %v", record, x, want, lacks)
			}
		}
	}
	for record, reason := range map[string]string{
		`{"new":1,"new":1,"b":2,"k":"x"}`:   `duplicate field "new"`,
		`{"new":1e300,"b":2,"k":"x"}`:       `"new" is 1e300, out of range`,
		`{"a":1,"new":-1e31,"b":2,"k":"x"}`: `"new" is -1e31, out of range`,
	} {
		if _, err := d.Decode([]byte(record)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %s", record, err, reason)
		}
	}
}

func mustRow(t *testing.T, d *Decoder, record string) []float64 {
	t.Helper()
	row, err := d.Decode([]byte(record))
	if err != nil {
		t.Fatalf("%s: %v", record, err)
	}
	return append([]float64(nil), row.X...)
}

// A Decoder that reads columns by other names reads what the learner, which has both columns,
// sees: the column, or the other one where it is missing.
func TestARenamedColumnIsReadAsByTheLearner(t *testing.T) {
	whole := Schema{Columns: []string{"a", "b", "new"}, Task: "regression"}
	of := whole.First(2)
	of.Aliases = []schema.Alias{{Column: "a", Field: "new", Type: "numeric", Step: 3}}
	b, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	var s Schema
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	if again := s.Whole(); again.Aliases != nil || len(again.Columns) != 3 {
		t.Fatalf("the whole schema is %+v", again)
	}
	learner, fixed := adopting, adopting
	fixed.Fixed = true
	learner.Depth, fixed.Depth = MaxDepth, MaxDepth
	l, d := restarted(t, learner, *s.Whole()), restarted(t, fixed, s)
	for _, record := range []string{
		`{"a":1,"b":2}`, `{"new":1,"b":2}`, `{"a":1,"new":3,"b":2}`, `{"new":"7","b":2}`, `{"new":true,"b":2}`, `{"new":"x","b":2}`, `{"a":"x","new":4,"b":2}`,
		`{"new":1e31,"b":2}`, `{"new":[1],"b":2}`, `{"new":{"c":1},"b":2}`, `{"a":1,"new":[1],"b":2}`, `{"new":null,"b":2}`, `{"a":[1],"new":1}`, `{"new":1,"new":2}`,
	} {
		mine, err := l.Decode([]byte(record))
		var want []float64
		if err == nil {
			want = append(want, mine.X[:2]...)
			if want[0] != want[0] {
				want[0] = mine.X[2]
			}
		}
		row, err2 := d.Decode([]byte(record))
		if (err == nil) != (err2 == nil) {
			t.Errorf("%s: %v, and by the learner %v", record, err2, err)
			continue
		}
		for i, v := range want {
			if row.X[i] != v && (v == v || row.X[i] == row.X[i]) {
				t.Errorf("%s is read as %v, and by the learner as %v", record, row.X, want)
			}
		}
	}
}

// Aliases that no learner can have are errors.
func TestAnImpossibleAliasIsAnError(t *testing.T) {
	for name, all := range map[string][]schema.Alias{
		"no column":    {{Column: "c", Field: "new", Type: "numeric"}},
		"a column":     {{Column: "a", Field: "b", Type: "numeric"}},
		"another type": {{Column: "a", Field: "new", Type: "category"}},
		"no type":      {{Column: "a", Field: "new", Type: "number"}},
		"twice":        {{Column: "a", Field: "new", Type: "numeric"}, {Column: "a", Field: "newer", Type: "numeric"}},
		"one for two":  {{Column: "a", Field: "new", Type: "numeric"}, {Column: "b", Field: "new", Type: "numeric"}},
	} {
		if _, err := New(adopting, Schema{Columns: []string{"a", "b"}, Task: "regression", Aliases: all}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Which columns may have another name follows from the record with which others are adopted:
// those that it lacks, with others of their type, but for fields that a pair or a window needs.
func TestColumnsThatMayBeRenamed(t *testing.T) {
	c := adopting
	c.Renames, c.Types = true, map[string]string{"k*m": schema.Pair}
	d, err := New(c, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]int
	for i := range 300 {
		record := `{"a":1,"b":2,"f":true,"k":"x","m":"y","y":1}`
		if i >= 100 {
			record = `{"b":2,"c":1,"g":false,"h":"z","m":"y","y":1}`
		}
		if _, err := d.Decode([]byte(record)); err != nil {
			t.Fatal(err)
		}
		if names, renames := d.Adopted(); names != nil {
			got = renames
		}
	}
	columns := d.Schema().Columns
	names := ""
	for _, p := range got {
		names += columns[p[0]] + "→" + columns[p[1]] + " "
	}
	if names != "a→c f→g " {
		t.Errorf("%s of %q, want a→c and f→g", names, columns)
	}
}
