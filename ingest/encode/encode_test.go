package encode

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// TestWrittenExamplesAreReadAsTheyWere writes examples in a format, and holds what the
// decoder of the format reads against what that of JSON reads.
func TestWrittenExamplesAreReadAsTheyWere(t *testing.T) {
	for _, format := range []string{"json", "vw", "float32"} {
		roles := Roles{Labels: []string{"2"}}
		w, err := New(format, roles)
		if err != nil {
			t.Fatal(err)
		}
		c := decode.Config{Label: "2", Infer: true, Missing: "impute"}
		plain, err := decode.New(c, decode.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		c.Format = format
		d, err := decode.New(c, decode.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		for _, example := range []string{`{"x":[1.5,-3],"2":0.25}`, `{"features":{"0":1e3,"1":0.125},"2":1}`, `{"0":4,"1":0}`} {
			value, _, err := w.Write([]byte(example))
			if err != nil {
				t.Fatal(err)
			}
			want, err := plain.Decode([]byte(example))
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Decode(value)
			if err != nil {
				t.Fatalf("%s %q: %v", format, value, err)
			}
			for i, x := range want.X {
				if math.Float64bits(got.X[i]) != math.Float64bits(x) || got.Label.Value != want.Label.Value {
					t.Errorf("%s: %s is %q, which is %+v, want %+v", format, example, value, got, want)
				}
			}
		}
	}
	for _, bad := range []string{`{"features":{"a b":1}}`, `{"features":{"a":"b c"}}`, `{"features":{"a":[1]}}`, `[1]`, `{"a":1`} {
		for _, format := range []string{"vw", "float32"} {
			w, _ := New(format, Roles{Labels: []string{"5"}})
			if value, _, err := w.Write([]byte(bad)); err == nil && (format == "vw" || bad != `{"features":{"a b":1}}`) {
				t.Errorf("%s is written as %q", bad, value)
			}
		}
	}
}
