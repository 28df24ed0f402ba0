package decode

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// A pair is equal where the values of its columns are, whatever the format, and missing only
// where both are.
func TestAPairHasTheValuesOfTwoColumnsTogether(t *testing.T) {
	c := Config{Label: "y", Infer: true, Missing: "impute", Types: map[string]string{"b*a": schema.Pair, "a*n": schema.Pair}}
	d := mustNew(t, c, Schema{})
	var seen [2]map[string]float64
	for k := range seen {
		seen[k] = map[string]float64{}
	}
	decode := func(a, b, n string) {
		row, err := d.Decode(fmt.Appendf(nil, `{"n":%s,"a":%s,"b":%s,"y":1}`, n, a, b))
		if err != nil {
			t.Fatal(err)
		}
		columns := d.Schema().Columns
		if !slices.Equal(columns, []string{"a", "a*n", "b", "b*a", "n"}) || row.Types[1] != learner.PairColumn || row.Types[3] != learner.PairColumn {
			t.Fatalf("columns %v of types %v", columns, row.Types)
		}
		for k, of := range [2]string{b + "," + a, a + "," + n} {
			v := row.X[3-2*k]
			if math.IsNaN(v) != (of == "null,null") {
				t.Errorf("%s is %v", of, v)
			}
			if was, again := seen[k][of]; again && was != v && was == was {
				t.Errorf("%s is %v and %v", of, was, v)
			}
			seen[k][of] = v
		}
	}
	for range 2 {
		for _, a := range []string{`"x"`, `"y"`, "null"} {
			for _, b := range []string{`"y"`, `"x"`, "null"} {
				for _, n := range []string{"0", "1", "1.5", "null"} {
					decode(a, b, n)
				}
			}
		}
		d = mustNew(t, c, *d.Schema()) // as after a restart
	}
	for k, of := range seen {
		var values []float64
		for _, v := range of {
			values = append(values, v)
		}
		slices.Sort(values)
		if n := len(slices.Compact(values)); n != len(of) {
			t.Errorf("pair %d: %d values for %d pairs", k, n, len(of))
		}
	}
	zero, _ := d.Decode([]byte(`{"a":"x","n":0}`))
	at := zero.X[1]
	if row, err := d.Decode([]byte(`{"a":"x","n":-0}`)); err != nil || row.X[1] != at {
		t.Errorf("-0 is not 0: %v", err)
	}
	f, err := Read(strings.NewReader("b,a,n,y\ny,x,1,1\n"), "f.csv", c, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	if row, err := f.Next(); err != nil || row.X[1] != seen[1][`"x",1`] || row.X[3] != seen[0][`"y","x"`] {
		t.Errorf("of a file: %v, %v", row.X, err)
	}
	if record, err := f.Record(nil); err != nil || string(record) != `{"features":{"b":"y","a":"x","n":1},"y":1}` {
		t.Errorf("the record is %s, %v", record, err)
	}
}

func TestWrongPairsAreRefused(t *testing.T) {
	for _, test := range []struct {
		c    Config
		want string
	}{
		{Config{Types: map[string]string{"a": schema.Pair}}, `"a" is declared as pair: want the names of two columns, such as origin*carrier`},
		{Config{Types: map[string]string{"a*a": schema.Pair}}, "want the names of two columns"},
		{Config{Types: map[string]string{"a*b*c": schema.Pair}}, "want the names of two columns"},
		{Config{Types: map[string]string{"a*b": schema.Pair, "a": "text"}}, `the pair "a*b" contains "a", which is declared as text`},
		{Config{Types: map[string]string{"a*b": schema.Pair, "b": schema.ID}}, `contains "b", which is declared as id`},
		{Config{Types: map[string]string{"a*b": schema.Pair}, Columns: []string{"a", "c"}}, `contains "b", which is no column`},
		{Config{Types: map[string]string{"a*b": schema.Pair}, Key: "b"}, `contains "b", which is the label, the key or the weight`},
		{Config{Types: map[string]string{"a*b": schema.Pair}, Labels: []string{"a"}}, `contains "a", which is the label, the key or the weight`},
		{Config{Types: map[string]string{"a*b": "pairs"}}, "did you mean pair?"},
	} {
		if _, err := New(test.c, Schema{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.c, err, test.want)
		}
	}
	d := mustNew(t, Config{Label: "y", Infer: true, Missing: "impute", Types: map[string]string{"a*b": schema.Pair}}, Schema{})
	for _, test := range []struct{ record, want string }{
		{`{"a":"x","y":1}`, `columns: the pair "a*b" contains "b", which the first record does not have`},
		{`{"x":[1,2],"y":1}`, "columns: x is a list, but pairs of columns are declared, which need names"},
		{`{"a":"x","b":1,"a*b":2,"y":1}`, `columns: unknown field "a*b"`},
		{`{"a":"x","b":1,"y":1}`, ""},
		{`{"a":"x","a*b":2,"b":1,"y":1}`, `columns: unknown field "a*b"`},
	} {
		if _, err := d.Decode([]byte(test.record)); (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.record, err, test.want)
		}
	}
	c := Config{Types: map[string]string{"a*b": schema.Pair}, Infer: true, Missing: "impute"}
	if _, err := Read(strings.NewReader("a,y\n1,2\n"), "f.csv", c, Schema{}); err == nil || !strings.Contains(err.Error(), `there is no column "b"`) {
		t.Errorf("a file without a column of a pair: %v", err)
	}
}
