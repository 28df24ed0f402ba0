package decode

import (
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
)

// FuzzColumns decodes records whose fields are declared to have any type. Each row has the
// columns of the schema, an error leaves the schema as it was, and a decoder that continues
// from the schema reads the record again as the same row.
func FuzzColumns(f *testing.F) {
	names := append([]string{""}, schema.ID, schema.Ignored)
	for _, t := range schema.Declarable {
		names = append(names, t.String())
	}
	for i, s := range []string{
		`{"a":1,"b":"late again","c":true,"y":"ok"}`, `{"a":"2024-01-02","b":null,"c":[1,{"d":"x"}],"y":1}`,
		`{"b:00":1,"a":{"a":1},"c":"","y":null}`, `{"features":{"a":"A b","b":"A b","c":"A b"},"y":1,"key":"k"}`,
		`{"x":[1,null],"y":1}`, `{"a:key":1,"a":5,"b":6,"c":1e999}`, `{"0":"w","1":"v","2":2,"y":2}`,
	} {
		for k := range byte(len(names)) {
			f.Add(s, k, byte(i), k/2, k)
		}
	}
	f.Fuzz(func(t *testing.T, s string, a, b, c, mode byte) {
		config := Config{Label: "y", MaxColumns: 900, Depth: int(mode % 4), Grams: mode&128 != 0, Infer: mode&4 != 0, Types: map[string]string{}}
		config.Missing = []string{"quarantine", "zero", "impute"}[mode/8%3]
		config.Unknown = []string{"quarantine", "ignore"}[mode/32%2]
		for name, k := range map[string]byte{"a": a, "b": b, "c": c, "0": a} {
			if typ := names[int(k)%len(names)]; typ != "" {
				config.Types[name] = typ
			}
		}
		if mode&64 != 0 {
			config.Types["a*b"] = schema.Pair
		}
		d, err := New(config, Schema{})
		if err != nil {
			if !strings.Contains(err.Error(), "want at most one") && !strings.Contains(err.Error(), "the pair") && !strings.Contains(err.Error(), "the name of a field is between those") {
				t.Fatal(err)
			}
			return
		}
		for range 2 {
			before := copyOf(d.Schema())
			row, err := d.Decode([]byte(s))
			if err != nil {
				if got := d.Schema(); !slices.Equal(got.Columns, before.Columns) || !slices.Equal(got.Types, before.Types) {
					t.Fatalf("an error changed the schema: %+v to %+v", before, got)
				}
				return
			}
			if len(row.X) != len(d.Schema().Columns) || row.Types != nil && len(row.Types) != len(row.X) {
				t.Fatalf("%d values, %d types, columns %q", len(row.X), len(row.Types), d.Schema().Columns)
			}
			fields := 0
			for _, f := range d.Schema().Fields() {
				fields += f.Columns
			}
			if fields > len(row.X) || fields < len(row.X)-1 {
				t.Fatalf("the fields have %d columns of %d", fields, len(row.X))
			}
			x := slices.Clone(row.X)
			again, err := New(config, *d.Schema())
			if err != nil {
				t.Fatal(err)
			}
			row, err = again.Decode([]byte(s))
			if err != nil || !slices.EqualFunc(row.X, x, func(v, w float64) bool { return v == w || v != v && w != w }) {
				t.Fatalf("%s: continued %v, %v, want %v", s, row.X, err, x)
			}
		}
	})
}
