package decode

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

var adopting = Config{Label: "y", Infer: true, Missing: "impute", Adopt: true}

// changing returns records in which z appears, a gets another type, and of which some have a
// field that stays rare.
func changing() (values []string) {
	for i := range 400 {
		v := fmt.Sprintf(`{"a":%d,"b":true,"y":%d`, i, i%2)
		if i >= 50 {
			v += `,"z":"k` + fmt.Sprint(i%3) + `"`
		}
		if i%10 == 3 {
			v += `,"rare":1`
		}
		if i >= 200 {
			v = strings.Replace(v, fmt.Sprintf(`"a":%d`, i), `"a":"text"`, 1)
		}
		values = append(values, v+"}")
	}
	return values
}

// A field becomes a column after adoptAfter records with it, and so does one that has another
// type, wherever the Decoder was started again.
func TestColumnsAreAdoptedAtARecord(t *testing.T) {
	for _, every := range []int{0, 1, 7, 100} {
		d := restarted(t, adopting, Schema{})
		for i, v := range changing() {
			if every > 0 && i%every == 0 {
				b, err := json.Marshal(d.Schema().First(2))
				if err != nil {
					t.Fatal(err)
				}
				var s Schema
				if err := json.Unmarshal(b, &s); err != nil {
					t.Fatal(err)
				}
				d = restarted(t, adopting, *s.Whole())
			}
			row, err := d.Decode([]byte(v))
			if err != nil {
				t.Fatal(i, err)
			}
			want := 2
			if i >= 50+adoptAfter {
				want = 3
			}
			if i >= 200+adoptAfter {
				want = 4
			}
			if len(row.X) != want {
				t.Fatalf("restarted every %d: record %d has %d values, want %d", every, i, len(row.X), want)
			}
			if a := row.X[0]; i < 200 && a != float64(i) || i >= 200 && a == a {
				t.Fatalf("record %d: column a is %v", i, a)
			}
		}
		s := d.Schema()
		if want := []string{"a (was numeric)", "b", "z", "a"}; !slices.Equal(s.Columns, want) {
			t.Errorf("columns %q, want %q", s.Columns, want)
		}
		if want := []string{"numeric", "boolean", "category", "category"}; !slices.Equal(s.Types, want) {
			t.Errorf("types %q, want %q", s.Types, want)
		}
		if want := []schema.Arriving{{Name: "rare", Type: "numeric", Records: 40}}; !slices.Equal(s.Arriving, want) {
			t.Errorf("%v arrive, want %v", s.Arriving, want)
		}
	}
}

// Values of another type that lose nothing are values of the column, and the others are
// missing: two types that come in turns are no new column.
func TestTypesWiden(t *testing.T) {
	c := adopting
	d := restarted(t, c, Schema{})
	decode := func(v string) []float64 {
		t.Helper()
		row, err := d.Decode([]byte(v))
		if err != nil {
			t.Fatal(v, err)
		}
		return slices.Clone(row.X)
	}
	first := decode(`{"b":true,"c":"12","n":1,"y":1}`)
	for range 2 * adoptAfter {
		if got := decode(`{"b":1,"c":12,"n":true,"y":1}`); !reflect.DeepEqual(got, first) {
			t.Fatalf("widened: %v, want %v", got, first)
		}
		if got := decode(`{"b":0,"c":true,"n":"2.5e1","y":1}`); got[0] != 0 || got[2] != 25 {
			t.Fatalf("widened: %v", got)
		}
		if got := decode(`{"b":2,"c":"12","n":"x","y":1}`); got[0] == got[0] || got[2] == got[2] {
			t.Fatalf("%v, want missing values", got)
		}
		for _, bad := range []string{`{"b":{},"c":"12","n":1,"y":1}`, `{"b":true,"c":[1],"n":1,"y":1}`} {
			if _, err := d.Decode([]byte(bad)); err == nil {
				t.Fatalf("%s is decoded", bad)
			}
		}
	}
	if s := d.Schema(); len(s.Columns) != 3 {
		t.Errorf("columns %q after types that come in turns", s.Columns)
	}
	c.Fixed = true
	d = restarted(t, c, Schema{Columns: []string{"n"}})
	for range 2 * adoptAfter {
		if x := decode(`{"n":"x","z":1}`); len(x) != 1 || !math.IsNaN(x[0]) {
			t.Fatalf("a model that is served has the row %v", x)
		}
	}
}

// However many names records have, the Schema is bounded, and a field of all records arrives.
func TestArrivingFieldsAreBounded(t *testing.T) {
	d := restarted(t, adopting, Schema{})
	for i := range 1000 {
		v := `{"a":1,"y":1`
		if i > 0 {
			v += `,"z":2`
			for j := range 3 {
				v += fmt.Sprintf(`,"f%d-%d":1`, i, j)
			}
		}
		if _, err := d.Decode([]byte(v + "}")); err != nil {
			t.Fatal(err)
		}
		if n := len(d.Schema().Arriving); n > schema.MaxArriving {
			t.Fatalf("%d fields arrive", n)
		}
	}
	if got := d.Schema().Columns; !slices.Equal(got, []string{"a", "z"}) {
		t.Errorf("columns %q", got)
	}
}

// A record without a value says nothing about the type of a field, whatever a missing value is.
func TestNullLetsATypeArrive(t *testing.T) {
	for _, missing := range []string{"impute", "zero"} {
		c := adopting
		c.Missing = missing
		for _, between := range []string{`{"a":null,"b":1,"y":1}`, `{"b":1,"y":1}`, `{"a":2,"b":1,"y":1}`} {
			d := restarted(t, c, Schema{})
			for i := range 2 * adoptAfter {
				v := between
				if i%2 == 1 {
					v = `{"a":"text","b":1,"y":1}`
				}
				if i == 0 {
					v = `{"a":1,"b":1,"y":1}`
				}
				if _, err := d.Decode([]byte(v)); err != nil {
					t.Fatal(err)
				}
			}
			want := 3
			if strings.Contains(between, "2") {
				want = 2
			}
			if got := d.Schema().Columns; len(got) != want {
				t.Errorf("%s, %s between texts: columns %q", missing, between, got)
			}
		}
	}
}

// Adoption needs names, and values that may be missing.
func TestWhatExcludesAdoption(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Format = "vw" },
		func(c *Config) { c.Missing = "quarantine" },
		func(c *Config) { c.Columns = []string{"a"} },
		func(c *Config) { c.Above, c.Infer = 1, false },
	} {
		c := adopting
		change(&c)
		if _, err := New(c, Schema{}); err == nil || !strings.Contains(err.Error(), "adopt") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	d := restarted(t, adopting, Schema{})
	for range 2 * adoptAfter {
		if _, err := d.Decode([]byte(`{"features":{"a":1},"z":2,"y":1}`)); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.Schema().Columns; !slices.Equal(got, []string{"a"}) {
		t.Errorf("a field beside the features is one of the columns %q", got)
	}
	if got := d.typeOf(0); got != learner.NumericColumn {
		t.Error(got)
	}
}

func restarted(t *testing.T, c Config, s Schema) *Decoder {
	t.Helper()
	d, err := New(c, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A field of a pair or a window keeps its type, whichever values come: these are of the columns
// that it had, and a scorer has no others.
func TestFieldsOfPairsAndWindowsKeepTheirTypes(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Types = map[string]string{"a*b": schema.Pair} },
		func(c *Config) { c.Windows = []Window{{Key: "b", Of: "a", Over: []string{"1h"}}} },
		func(c *Config) { c.Windows = []Window{{Key: "b", Distinct: "a", Over: []string{"1h"}}} },
		func(c *Config) { c.Windows = []Window{{Key: "b", Time: "a", Over: []string{"1h"}}} },
		func(c *Config) { c.Windows = []Window{{Key: "a", Of: "b", Over: []string{"1h"}}} },
	} {
		c := adopting
		change(&c)
		d := restarted(t, c, Schema{})
		if _, err := d.Decode([]byte(`{"a":1,"b":2,"y":1}`)); err != nil {
			t.Fatal(err)
		}
		was := d.Schema().Columns
		for range 2 * adoptAfter {
			if _, err := d.Decode([]byte(`{"a":"text","b":2,"z":1,"y":1}`)); err == nil {
				t.Fatalf("%+v: text is decoded as a value of a", c)
			}
			if _, err := d.Decode([]byte(`{"a":1,"b":2,"z":1,"y":1}`)); err != nil {
				t.Fatal(err)
			}
		}
		if got := d.Schema().Columns; !slices.Equal(got, append(slices.Clip(was), "z")) {
			t.Errorf("%+v: columns %q, were %q", c, got, was)
		}
		restarted(t, c, *d.Schema().First(len(was)))
	}
}

// The fields of rejected rows do not arrive, in any format of a file.
func TestFieldsOfRejectedRowsAreNotAdopted(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		row    func(rejected bool) string
	}{
		"json": {"", func(rejected bool) string {
			if rejected {
				return `{"a":1,"b":2,"z":3,"w":-1,"y":0}`
			}
			return `{"a":1,"b":2,"w":1,"y":0}`
		}},
		"csv": {"a,b,z,w,y\n", func(rejected bool) string {
			if rejected {
				return "1,2,3,-1,0"
			}
			return "1,2,,1,0"
		}},
		"vw": {"", func(rejected bool) string {
			if rejected {
				return "0 -1 | a:1 b:2 z:3"
			}
			return "0 1 | a:1 b:2"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var in strings.Builder
			in.WriteString(c.header)
			for i := range 600 {
				in.WriteString(c.row(i%2 == 1) + "\n")
			}
			cfg := Config{Format: name, Adopt: true, Unknown: "ignore", Missing: "impute"}
			if name != "vw" {
				cfg.Label, cfg.Weight = "y", "w"
			}
			schema := Schema{Columns: []string{"a", "b"}}
			f, err := Read(strings.NewReader(in.String()), name, cfg, schema)
			if err != nil {
				t.Fatal(err)
			}
			rejected := 0
			for {
				if _, err := f.Next(); err == io.EOF {
					break
				} else if err != nil {
					rejected++
				}
			}
			if got := f.Schema().Columns; rejected != 300 || !slices.Equal(got, schema.Columns) {
				t.Errorf("%d rows rejected, columns %v", rejected, got)
			}
		})
	}
}
