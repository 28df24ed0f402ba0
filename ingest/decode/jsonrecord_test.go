package decode

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
)

var nested = Config{Label: "y", Infer: true, Missing: "impute", Unknown: "quarantine", Depth: 3}

// The values of objects and lists are columns by their paths, in every form of a record.
// What is null or absent is missing, also a whole object; what no column is for is an
// unknown field.
func TestNestedValuesAreColumnsByPath(t *testing.T) {
	nan := math.NaN()
	const first = `{"customer":{"age":41,"address":{"city":"Bonn"}},"f":[1,2],"a.b":5,"y":1}`
	for i, test := range []struct {
		record string
		want   []float64 // nil: in quarantine
		reason string
	}{
		{first, []float64{5, key("Bonn"), 41, 1, 2}, ""},
		{`{"y":1,"f":[3,4],"a.b":6,"customer":{"address":{"city":"Ulm"},"age":2}}`, []float64{6, key("Ulm"), 2, 3, 4}, ""},
		{`{"features":{"f":[3,4],"a":{"b":6},"customer.age":2,"customer":{"address.city":"Ulm"}},"y":1}`, []float64{6, key("Ulm"), 2, 3, 4}, ""},
		{`{"features":[],"customer":null,"f":[1],"a.b":5,"y":1}`, []float64{5, nan, nan, 1, nan}, ""},
		{`{"customer":null,"f":[1],"a.b":5,"y":1}`, []float64{5, nan, nan, 1, nan}, ""},
		{`{"customer":{"address":null},"f":[],"y":1}`, []float64{nan, nan, nan, nan, nan}, ""},
		{`{"customer":{"address":{"city":{"zip":1}}},"y":1}`, nil, `columns: "customer.address.city" is an object, want the text of a category`},
		{`{"customer":{"age":"old"},"y":1}`, nil, `columns: "customer.age" is text "old", want a number`},
		{`{"customer":{"age":[1]},"y":1}`, nil, `columns: "customer.age" is a list, want a number`},
		{`{"customer":{"size":1},"y":1}`, nil, `columns: unknown field "customer.size"`},
		{`{"customer":7,"y":1}`, nil, `columns: "customer" is 7, want an object or a list`},
		{`{"f":[1,2,3],"y":1}`, nil, `columns: unknown field "f.2"`},
		{`{"a.b":1,"a":{"b":1},"y":1}`, nil, `json: duplicate field "a.b"`},
		{`{"customer":{"age":1e300},"y":1}`, nil, `limits: "customer.age" is 1e+300, out of range ±1e+30`},
	} {
		d := mustNew(t, nested, Schema{})
		for _, record := range []string{first, test.record} {
			row, err := d.Decode([]byte(record))
			switch {
			case record == first && i > 0:
			case test.want == nil && (err == nil || err.Error() != test.reason):
				t.Errorf("%s: error %v, want %s", record, err, test.reason)
			case test.want != nil && (err != nil || !slices.EqualFunc(row.X, test.want, func(v, w float64) bool { return v == w || v != v && w != w })):
				t.Errorf("%s: %v, %v, want %v", record, row.X, err, test.want)
			}
		}
		if got := fmt.Sprint(d.Schema().Columns, d.Schema().Types); got != "[a.b customer.address.city customer.age f.0 f.1] [numeric category numeric numeric numeric]" {
			t.Error(got)
		}
	}
}

// Paths can be declared, an object or a list can be ignored whole, and an id is no input.
func TestDeclaredPaths(t *testing.T) {
	c := nested
	c.Types = map[string]string{"code.7": "category", "raw": schema.Ignored, "who.key": schema.ID, "id": schema.ID}
	d := mustNew(t, c, Schema{})
	row, err := d.Decode([]byte(`{"code":{"7":12},"raw":{"any":[{"thing":1}]},"id":17,"who":{"key":"k","size":3},"y":1}`))
	if err != nil || !slices.Equal(row.X, []float64{key("12"), 3}) {
		t.Errorf("%v, %v, %v", row.X, d.Schema().Columns, err)
	}
	if _, err := New(Config{Types: map[string]string{"id": schema.ID}, Columns: []string{"id"}}, Schema{}); err == nil {
		t.Error("a column that is also an id is not refused")
	}
}

// A schema that was saved reads nested records as the decoder that made it.
func TestNestedColumnsContinueFromASchema(t *testing.T) {
	first := mustNew(t, nested, Schema{})
	if _, err := first.Decode([]byte(`{"a":{"b":1},"c":[1,2],"y":1}`)); err != nil {
		t.Fatal(err)
	}
	d := mustNew(t, nested, *first.Schema())
	row, err := d.Decode([]byte(`{"a":null,"c":[3,4],"y":1}`))
	if err != nil || !(row.X[0] != row.X[0]) || !slices.Equal(row.X[1:], []float64{3, 4}) {
		t.Errorf("%v, %v", row.X, err)
	}
}

// Without Config.Depth a record is read as before objects and lists were columns.
func TestWithoutDepthObjectsAreNoColumns(t *testing.T) {
	for _, unknown := range []string{"quarantine", "ignore"} {
		c := nested
		c.Depth, c.Unknown = 0, unknown
		d := mustNew(t, c, Schema{})
		row, err := d.Decode([]byte(`{"a":1,"b":{"c":2},"d":[3],"y":1}`))
		if unknown == "quarantine" && (err == nil || err.Error() != `columns: "b" is an object, want a number, text, a boolean or a time`) {
			t.Errorf("error %v", err)
		}
		if unknown == "ignore" && (err != nil || !slices.Equal(row.X, []float64{1})) {
			t.Errorf("%v, %v", row.X, err)
		}
	}
}

// The depth, the number of columns and the memory that paths take are bounded.
func TestNestingIsBounded(t *testing.T) {
	c := nested
	c.MaxColumns = 4
	wide := mustNew(t, c, Schema{})
	for _, test := range []struct{ record, want string }{
		{`{"a":[1,2,3,4,5],"y":1}`, "limits: more than 4 fields"},
		{`{"a":{"b":{"c":{"d":[1]}}},"y":1}`, `columns: "a.b.c.d" is a list, nested deeper than 3 levels`},
	} {
		if _, err := wide.Decode([]byte(test.record)); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.record, err, test.want)
		}
	}
	long := `{"` + strings.Repeat("k", 1<<16) + `":[` + strings.Repeat("1,", 1000) + `1],"y":1}`
	d := mustNew(t, nested, Schema{})
	if _, err := d.Decode([]byte(long)); err == nil || !strings.HasPrefix(err.Error(), "limits: the paths of nested fields") {
		t.Errorf("65 MB of paths: %v", err)
	}
	if n := cap(d.names); n > 4<<20 {
		t.Errorf("%d bytes of paths are kept", n)
	}
}

// Records of random nesting decode as they do when each is written with its paths as
// names.
func TestNestedRecordsAreTheirPathsWrittenOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	deep, flat := mustNew(t, nested, Schema{}), mustNew(t, nested, Schema{})
	for range 300 {
		var a, b strings.Builder
		writeNested(&a, &b, rng, "", 0)
		x, err := deep.Decode([]byte(`{"r":` + a.String() + `,"n":1,"y":1}`))
		record := `{` + b.String() + `"n":1,"y":1}`
		z, errFlat := flat.Decode([]byte(record))
		if (err == nil) != (errFlat == nil) || err != nil && err.Error() != errFlat.Error() || fmt.Sprint(x.X) != fmt.Sprint(z.X) {
			t.Fatalf("%s: %v, %v; %s: %v, %v", a.String(), x.X, err, record, z.X, errFlat)
		}
	}
	if got, want := fmt.Sprint(deep.Schema()), fmt.Sprint(flat.Schema()); got != want || len(deep.Schema().Columns) < 4 {
		t.Errorf("%s, %s", got, want)
	}
}

// writeNested writes an object as JSON, and its values with their paths.
func writeNested(nestedJSON, flat *strings.Builder, rng *rand.Rand, path string, depth int) {
	nestedJSON.WriteByte('{')
	for i, name := range []string{"a", "b", "c"} {
		if i > 0 {
			nestedJSON.WriteByte(',')
		}
		at := "r." + path + name
		fmt.Fprintf(nestedJSON, "%q:", name)
		switch {
		case name == "b" && depth < 1:
			writeNested(nestedJSON, flat, rng, path+name+".", depth+1)
		case name == "c":
			fmt.Fprint(nestedJSON, `[1,"t"]`)
			fmt.Fprintf(flat, `%q:1,%q:"t",`, at+".0", at+".1")
		default:
			v := []string{"1", "2.5", "null", "-3"}[rng.IntN(4)]
			nestedJSON.WriteString(v)
			fmt.Fprintf(flat, "%q:%s,", at, v)
		}
	}
	nestedJSON.WriteByte('}')
}
