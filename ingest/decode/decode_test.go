package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner"
	"pgregory.net/rapid"
)

func decoder(t testing.TB, c Config) *Decoder {
	t.Helper()
	d, err := New(c, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// after gives a decoder that has read some records.
func after(t testing.TB, c Config, records ...string) *Decoder {
	t.Helper()
	d := decoder(t, c)
	for _, r := range records {
		if _, err := d.Decode([]byte(r)); err != nil {
			t.Fatalf("%s: %v", r, err)
		}
	}
	return d
}

// show is a row and the schema that it left, in one line.
func show(d *Decoder, r Row) string {
	s := d.Schema()
	label := ""
	switch r.Label.Task {
	case learner.Classification:
		label = s.Classes[r.Label.Class]
	case learner.Regression:
		label = fmt.Sprint(r.Label.Value)
		for _, v := range r.Label.More {
			label += fmt.Sprint(",", v)
		}
	}
	return fmt.Sprintf("%v %v y=%s w=%v k=%s %s", s.Columns, r.X, label, r.Weight, r.Key, s.Task)
}

func TestGoodRecords(t *testing.T) {
	flat := Config{Label: "is_fraud"}
	arm := Config{Labels: []string{"x", "y", "z"}}
	for _, c := range []struct {
		config Config
		before string
		record string
		want   string
	}{
		{Config{}, ``, `{"x":[1,2.5],"y":3}`, `[0 1] [1 2.5] y=3 w=1 k= regression`},
		{Config{}, ``, ` { "x" : [ -1e2 , 0.5 ] , "y" : "a" } ` + "\n", `[0 1] [-100 0.5] y=a w=1 k= classification`},
		{Config{}, ``, `{"x":[1]}`, `[0] [1] y= w=1 k= auto`},
		{Config{}, ``, `{"x":[1],"y":null}`, `[0] [1] y= w=1 k= auto`},
		{Config{}, ``, `{"y":true,"x":[1]}`, `[0] [1] y=true w=1 k= classification`},
		{Config{}, ``, `{"features":{"b":2,"a":1},"label":"ok"}`, `[a b] [1 2] y=ok w=1 k= classification`},
		{Config{}, `{"features":{"b":2,"a":1},"label":"ok"}`, `{"label":"bad","features":{"a":3,"b":4}}`, `[a b] [3 4] y=bad w=1 k= classification`},
		{Config{}, `{"features":{"b":2,"a":1},"label":"ok"}`, `{"label":"bad","features":{"\u0061":3,"b":4}}`, `[a b] [3 4] y=bad w=1 k= classification`},
		{Config{}, ``, `{"features":{"a":1},"label":1,"key":"k1","weight":0.25}`, `[a] [1] y=1 w=0.25 k=k1 regression`},
		{Config{}, ``, `{"features":{"a":1},"label":1,"key":17.50}`, `[a] [1] y=1 w=1 k=17.50 regression`},
		{Config{}, ``, `{"features":{"weight":1,"key":2,"x":3},"label":1}`, `[key weight x] [2 1 3] y=1 w=1 k= regression`},
		{Config{Key: "id", Weight: "n"}, ``, `{"features":{"a":1},"label":1,"id":"é\ud83d\ude00\n","n":2}`, "[a] [1] y=1 w=2 k=é😀\n regression"},
		{flat, ``, `{"amount":1.2,"age":3,"is_fraud":true}`, `[age amount] [3 1.2] y=true w=1 k= classification`},
		{flat, ``, `{"x":1,"y":2,"weight":70,"key":4,"features":5,"is_fraud":0}`, `[features key weight x y] [5 4 70 1 2] y=0 w=1 k= regression`},
		{flat, ``, `{"x":[1,2],"is_fraud":0}`, `[0 1] [1 2] y=0 w=1 k= regression`},
		{flat, ``, `{"is_fraud":0,"features":{"a":1}}`, `[a] [1] y=0 w=1 k= regression`},
		{Config{Label: "c", Weight: "weight"}, ``, `{"a":1,"weight":3,"c":"u"}`, `[a] [1] y=u w=3 k= classification`},
		{Config{Task: learner.Classification}, `{"x":[1],"y":1}`, `{"x":[1],"y":1.0}`, `[0] [1] y=1 w=1 k= classification`},
		{Config{Task: learner.Classification}, `{"x":[1],"y":"1"}`, `{"x":[1],"y":1e0}`, `[0] [1] y=1 w=1 k= classification`},
		{Config{Task: learner.Classification}, ``, `{"x":[1],"y":12345678901234567890123}`, `[0] [1] y=12345678901234567890123 w=1 k= classification`},
		{Config{Task: learner.Classification}, ``, `{"x":[1],"y":-0.0}`, `[0] [1] y=0 w=1 k= classification`},
		{Config{Task: learner.Classification}, ``, `{"x":[1],"y":-1.50}`, `[0] [1] y=-1.5 w=1 k= classification`},
		{Config{Missing: "zero"}, `{"features":{"a":1,"b":null}}`, `{"features":{"b":2}}`, `[a b] [0 2] y= w=1 k= auto`},
		{Config{Missing: "zero"}, ``, `{"x":[1,null]}`, `[0 1] [1 0] y= w=1 k= auto`},
		{Config{Unknown: "ignore"}, `{"features":{"a":1}}`, `{"features":{"a":2,"c":[{"d":[1,"]}"]}]},"more":{"e":null}}`, `[a] [2] y= w=1 k= auto`},
		{Config{Unknown: "ignore"}, ``, `{"features":{"a":2,"country":"US"}}`, `[a] [2] y= w=1 k= auto`},
		{Config{Unknown: "ignore"}, ``, `{"ts":5,"x":[2],"more":7}`, `[0] [2] y= w=1 k= auto`},
		{Config{Unknown: "ignore"}, ``, `{"ts":5,"features":{"a":1},"more":7}`, `[a] [1] y= w=1 k= auto`},
		{Config{Columns: []string{"b", "a"}, Unknown: "ignore", Label: "y"}, ``, `{"z":9,"b":2,"a":1,"s":"text","y":0}`, `[a b] [1 2] y=0 w=1 k= regression`},
		{Config{}, ``, `{"features":{"10":10,"9":9,"8":8,"7":7,"6":6,"5":5,"4":4,"3":3,"2":2,"1":1,"0":0}}`, `[0 1 2 3 4 5 6 7 8 9 10] [0 1 2 3 4 5 6 7 8 9 10] y= w=1 k= auto`},
		{Config{}, `{"x":[0,1]}`, `{"features":{"1":5,"0":4}}`, `[0 1] [4 5] y= w=1 k= auto`},
		{arm, ``, `{"a":5,"x":1,"y":-2e1,"z":0.5}`, `[a] [5] y=1,-20,0.5 w=1 k= regression`},
		{arm, `{"a":5,"x":1,"y":2,"z":3}`, `{"z":3,"features":{"a":6},"y":2,"x":1,"key":7,"weight":2}`, `[a] [6] y=1,2,3 w=2 k=7 regression`},
		{arm, ``, `{"features":{"x":1,"y":2},"x":3,"y":4,"z":5}`, `[x y] [1 2] y=3,4,5 w=1 k= regression`},
		{arm, ``, `{"a":5,"x":1,"y":2,"z":null}`, `[a] [5] y= w=1 k= regression`},
		{arm, ``, `{"a":5,"y":2}`, `[a] [5] y= w=1 k= regression`},
		{arm, ``, `{"a":5,"label":6}`, `[a label] [5 6] y= w=1 k= regression`},
		{Config{Labels: []string{"c"}}, ``, `{"a":1,"c":"u"}`, `[a] [1] y=u w=1 k= classification`},
		{Config{}, ``, `{"x":[1e30,-1e30,1e-400,-0]}`, `[0 1 2 3] [1e+30 -1e+30 0 -0] y= w=1 k= auto`},
	} {
		d := decoder(t, c.config)
		if c.before != "" {
			d = after(t, c.config, c.before)
		}
		row, err := d.Decode([]byte(c.record))
		if err != nil {
			t.Errorf("%s: %v", c.record, err)
		} else if got := show(d, row); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.record, got, c.want)
		}
	}
}

func TestBadRecords(t *testing.T) {
	named := `{"features":{"a":1,"b":2},"label":"ok"}`
	arm := Config{Labels: []string{"x", "y", "z"}}
	for _, c := range []struct {
		config Config
		before string
		record string
		want   string // how the error begins
	}{
		{Config{}, ``, ``, `json: the value is empty`},
		{Config{}, ``, ` `, `json: unexpected end, want '{'`},
		{Config{}, ``, `[]`, `json: '[' at byte 0, want '{'`},
		{arm, ``, `{"a":5,"x":1,"y":"2","z":3}`, `label: "y" is text "2", but each of the 3 labels must be a number, or null for none`},
		{arm, ``, `{"a":5,"x":[1,2,3],"y":2,"z":3}`, `label: "x" is a list, but each of the 3 labels must be a number`},
		{arm, ``, `{"a":5,"x":true,"z":3}`, `label: "x" is true, but each of the 3 labels must be a number`},
		{arm, ``, `{"a":5,"x":1,"y":NaN,"z":3}`, `json: NaN at byte 17 is not JSON`},
		{arm, ``, `{"a":5,"x":1,"y":2,"z":-1e31}`, `limits: the label "z" is -1e31, out of range ±1e+30`},
		{arm, ``, `{"a":5,"x":1,"y":2,"y":2,"z":3}`, `json: "y" is a second label with this name`},
		{arm, `{"a":5,"x":1,"y":2,"z":3}`, `{"a":5,"x":1,"y":2,"z":3,"w":4}`, `columns: unknown field "w"`},
		{Config{}, ``, `nonsense`, `json: 'n' at byte 0`},
		{Config{}, ``, "{\"x\":[1],\"y\":\"\xff\"}", `json: it is not valid UTF-8`},
		{Config{}, ``, "\xef\xbb\xbf{\"x\":[1]}", `json: '\ufeff' at byte 0`},
		{Config{}, ``, `{"x":[1]} {}`, `json: 2 bytes after the end`},
		{Config{}, ``, "{\"x\":[1]}\x00", `json: 1 bytes after the end`},
		{Config{}, ``, `{"x":[1],}`, `json: '}' at byte 9, want a name in quotes`},
		{Config{}, ``, `{"x":[1,]}`, `json: ']' at byte 8, want a value`},
		{Config{}, ``, `{"x":[1 2]}`, `json: '2' at byte 8, want ',' or ']'`},
		{Config{}, ``, `{"x":[1]`, `json: unexpected end, want ',' or '}'`},
		{Config{}, ``, `{'x':[1]}`, `json: '\'' at byte 1`},
		{Config{}, ``, `{"x":[01]}`, `json: invalid number at byte 6`},
		{Config{}, ``, `{"x":[1.]}`, `json: invalid number at byte 6`},
		{Config{}, ``, `{"x":[.5]}`, `json: '.' at byte 6`},
		{Config{}, ``, `{"x":[+1]}`, `json: '+' at byte 6`},
		{Config{}, ``, `{"x":[-]}`, `json: invalid number at byte 6`},
		{Config{}, ``, `{"x":[1e]}`, `json: invalid number at byte 6`},
		{Config{}, ``, `{"x":[0x10]}`, `json: 'x' at byte 7`},
		{Config{}, ``, `{"x":[NaN]}`, `json: NaN at byte 6 is not JSON`},
		{Config{}, ``, `{"x":[Infinity]}`, `json: Infinity at byte 6 is not JSON`},
		{Config{}, ``, `{"x":[1_0]}`, `json: '_' at byte 7`},
		{Config{}, ``, `{"x":[1e999]}`, `limits: "0" is +Inf, out of range ±1e+30`},
		{Config{}, ``, `{"x":[-1e31]}`, `limits: "0" is -1e+31, out of range ±1e+30`},
		{Config{Above: kernel.NonNegative}, ``, `{"x":[3,-1e-300]}`, `limits: "1" is -1e-300, but the kernel requires inputs of 0 or more`},
		{Config{Above: -1}, ``, `{"x":[3,-1]}`, `limits: "1" is -1, but the kernel requires inputs above -1`},
		{Config{}, ``, `{"x":[null]}`, `columns: x[0] is null`},
		{Config{}, ``, `{"x":[1,true]}`, `columns: x[1] is true`},
		{Config{}, ``, `{"x":["1"]}`, `columns: x[0] is text "1"`},
		{Config{}, ``, `{"x":[[1]]}`, `columns: x[0] is a list`},
		{Config{}, ``, `{"x":[]}`, `columns: x is empty`},
		{Config{}, `{"x":[1,2]}`, `{"x":[1]}`, `columns: x has 1 values, want 2`},
		{Config{}, named, `{"x":[1,2]}`, `columns: x is a list, but the columns have names, such as "a"`},
		{Config{}, ``, `{"x":[1],"x":[2]}`, `json: duplicate field "x"`},
		{Config{}, ``, `{"x":[1],"\u0078":[2]}`, `json: duplicate field "x"`},
		{Config{}, ``, `{"x":[1],"y":1,"y":1}`, `json: "y" is a second label`},
		{Config{}, ``, `{"x":[1],"y":1,"label":1}`, `json: "label" is a second label`},
		{Config{}, ``, `{"x":[1],"features":{"a":1}}`, `columns: both x and features`},
		{Config{}, ``, `{"features":{"a":1},"x":[1]}`, `columns: both x and features`},
		{Config{}, ``, `{"features":{"a":1,"a":2}}`, `json: duplicate field "a"`},
		{Config{}, named, `{"features":{"a":1,"b":1,"a":2}}`, `json: duplicate field "a"`},
		{Config{}, ``, `{"features":{}}`, `columns: no inputs`},
		{Config{}, ``, `{"a":1,"y":2}`, `columns: neither a list x nor an object features`},
		{Config{}, ``, `{"X":[1]}`, `columns: neither`},
		{Config{}, ``, `{"x":[1],"Y":1}`, `columns: unknown field "Y"`},
		{Config{}, ``, `{"ts":1,"features":{"a":1}}`, `columns: unknown field "ts"`},
		{Config{}, named, `{"features":{"a":1}}`, `columns: "b" is missing`},
		{Config{}, named, `{"features":{"a":1,"B":2}}`, `columns: unknown field "B"`},
		{Config{}, named, `{"features":{"a":1,"b":null}}`, `columns: "b" is null`},
		{Config{}, named, `{"features":{"a":1,"b":true}}`, `columns: "b" is true`},
		{Config{}, ``, `{"features":{"a":1,"b":"text"}}`, `columns: "b" is text "text"`},
		{Config{Unknown: "ignore"}, ``, `{"features":{"a":1,"b":true}}`, `columns: "b" is true`},
		{Config{Unknown: "ignore"}, ``, `{"features":{"a":1,"b":null}}`, `columns: "b" is null`},
		{Config{Label: "l"}, ``, `{"a":1,"b":{"c":1},"l":1}`, `columns: "b" is an object`},
		{Config{Label: "l"}, ``, `{"l":1}`, `columns: no inputs`},
		{Config{}, `{"x":[1],"y":1}`, `{"x":[1],"y":"one"}`, `label: it is text "one", but the task is regression`},
		{Config{}, `{"x":[1],"y":"one"}`, `{"x":[1],"y":1}`, `label: it is the number 1, but labels have been text or booleans so far`},
		{Config{}, ``, `{"x":[1],"y":1e31}`, `limits: the label is 1e31`},
		{Config{}, ``, `{"x":[1],"y":1e999}`, `limits: the label is 1e999`},
		{Config{Counts: true}, ``, `{"x":[1],"y":-1}`, `label: it is -1, but the loss poisson is for counts: want 0 or more`},
		{Config{Counts: true, Labels: []string{"y", "z"}}, ``, `{"x":[1],"y":0,"z":-0.5}`, `label: "z" is -0.5, but the loss poisson is for counts: want 0 or more`},
		{Config{Task: learner.Classification}, ``, `{"x":[1],"y":1e999}`, `label: it is out of range for a float64`},
		{Config{}, ``, `{"x":[1],"y":[1]}`, `label: it is a list`},
		{Config{}, ``, `{"x":[1],"y":""}`, `label: it is empty text`},
		{Config{}, ``, `{"x":[1],"y":"` + strings.Repeat("z", 257) + `"}`, `label: class name of 257 bytes`},
		{Config{MaxClasses: 2}, `{"x":[1],"y":"a"}`, `{"x":[1],"y":"b"}`, ``},
		{Config{}, ``, `{"x":[1],"weight":0}`, `weight: it is 0`},
		{Config{}, ``, `{"x":[1],"weight":-1}`, `weight: it is -1`},
		{Config{}, ``, `{"x":[1],"weight":1e7}`, `weight: it is 1e7`},
		{Config{}, ``, `{"x":[1],"weight":null}`, `weight: it is null`},
		{Config{}, ``, `{"x":[1],"key":true}`, `key: it is true`},
		{Config{}, ``, `{"x":[1],"y":"a` + "\n" + `"}`, `json: control character in a string`},
		{Config{}, ``, `{"x":[1],"y":"\ud800"}`, `json: invalid escape at byte 14`},
		{Config{}, ``, `{"x":[1],"y":"\udc00\ud800"}`, `json: invalid escape`},
		{Config{}, ``, `{"x":[1],"y":"\ud800\u0041"}`, `json: invalid escape`},
		{Config{}, ``, `{"x":[1],"y":"\u00g0"}`, `json: invalid escape`},
		{Config{}, ``, `{"x":[1],"y":"\q"}`, `json: invalid escape`},
		{Config{}, ``, `{"x":[1],"y":"\`, `json: string without a closing quote`},
		{Config{}, ``, `{"x":[1],"y":"a`, `json: string without a closing quote`},
		{Config{}, ``, `{"x":[1],"y":tru}`, `json: 't' at byte 13`},
		{Config{Unknown: "ignore"}, ``, `{"x":[1],"z":` + strings.Repeat("[", 100_000), `json: "z": nested deeper than 64 levels`},
		{Config{Unknown: "ignore"}, ``, `{"x":[1],"z":` + strings.Repeat(`{"a":`, 100_000), `json: "z": nested deeper than 64 levels`},
		{Config{MaxBytes: 10}, ``, `{"x":[1,2]}`, `limits: 11 bytes, the limit is 10`},
		{Config{MaxColumns: 2}, ``, `{"x":[1,2,3]}`, `limits: more than 2 inputs`},
		{Config{MaxColumns: 2}, ``, `{"features":{"a":1,"b":2,"c":3}}`, `limits: more than 2 fields`},
	} {
		d := decoder(t, c.config)
		if c.before != "" {
			d = after(t, c.config, c.before)
		}
		schema := d.Schema()
		copied := copyOf(schema)
		_, err := d.Decode([]byte(c.record))
		var e *Error
		switch {
		case c.want == "" && err == nil:
			continue
		case !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want):
			t.Errorf("%.80s: %v, want %s", c.record, err, c.want)
		case len(err.Error()) > 300:
			t.Errorf("%.80s: an error of %d bytes", c.record, len(err.Error()))
		case d.Schema() != schema || !reflect.DeepEqual(*schema, copied):
			t.Errorf("%.80s changed the schema to %v", c.record, *d.Schema())
		}
	}
	if _, err := decoder(t, Config{}).Decode(nil); err == nil || err.Error() != "json: the value is null" {
		t.Errorf("nil: %v", err)
	}
	d := after(t, Config{MaxClasses: 2}, `{"x":[1],"y":"a"}`, `{"x":[1],"y":"b"}`)
	if _, err := d.Decode([]byte(`{"x":[1],"y":"c"}`)); err == nil || !strings.HasPrefix(err.Error(), `label: "c" would be class 3`) {
		t.Errorf("third of two classes: %v", err)
	}
}

func copyOf(s *Schema) Schema {
	return Schema{Columns: slices.Clone(s.Columns), Task: s.Task, Classes: slices.Clone(s.Classes), Types: slices.Clone(s.Types), Writers: s.Writers}
}

// A schema that was handed out never changes, and its pointer changes exactly
// when there is something new.
func TestSchemaIsImmutable(t *testing.T) {
	d := decoder(t, Config{})
	var seen []*Schema
	var copies []Schema
	for _, r := range []string{`{"x":[1]}`, `{"x":[1],"y":"a"}`, `{"x":[1],"y":"a"}`, `{"x":[1],"y":"b"}`, `{"x":[1]}`, `{"x":[1],"y":"c"}`} {
		before := d.Schema()
		text, _ := json.Marshal(before)
		if _, err := d.Decode([]byte(r)); err != nil {
			t.Fatal(err)
		}
		now, _ := json.Marshal(d.Schema())
		if (before != d.Schema()) != (string(text) != string(now)) {
			t.Errorf("%s: pointer changed: %v; schema %s, then %s", r, before != d.Schema(), text, now)
		}
		seen, copies = append(seen, d.Schema()), append(copies, copyOf(d.Schema()))
	}
	for i := range seen {
		if !reflect.DeepEqual(*seen[i], copies[i]) {
			t.Errorf("schema %d became %v, was %v", i, *seen[i], copies[i])
		}
	}
	if text, _ := json.Marshal(decoder(t, Config{}).Schema()); string(text) != `{"columns":[],"task":"auto","classes":[]}` {
		t.Errorf("the empty schema is %s", text)
	}
}

// Decoding on from a stored schema is the same as never having stopped.
func TestSchemaGoesOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Missing: rapid.SampledFrom([]string{"quarantine", "zero"}).Draw(t, "missing"),
			Unknown: rapid.SampledFrom([]string{"quarantine", "ignore"}).Draw(t, "unknown"),
			Task:    rapid.SampledFrom([]learner.Task{learner.Auto, learner.Classification}).Draw(t, "task")}
		field := rapid.SampledFrom([]string{`"a":1`, `"b":2.5`, `"c":3`, `"a":null`, `"c":"t"`})
		label := rapid.SampledFrom([]string{``, `,"y":"p"`, `,"y":"q"`, `,"y":1`, `,"y":2`, `,"y":null`, `,"z":1`})
		records := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return `{"features":{` + strings.Join(rapid.SliceOfNDistinct(field, 1, 3, rapid.ID[string]).Draw(t, "fields"), ",") + `}` + label.Draw(t, "label") + `}`
		}), 1, 12).Draw(t, "records")
		one, _ := New(c, Schema{})
		two, _ := New(c, Schema{})
		for _, r := range records {
			text, _ := json.Marshal(two.Schema())
			var s Schema
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			var err error
			if two, err = New(c, s); err != nil {
				t.Fatal(err)
			}
			row1, err1 := one.Decode([]byte(r))
			row2, err2 := two.Decode([]byte(r))
			if fmt.Sprint(row1, err1, *one.Schema()) != fmt.Sprint(row2, err2, *two.Schema()) {
				t.Fatalf("%s: %v %v %v, and restored %v %v %v", r, row1, err1, *one.Schema(), row2, err2, *two.Schema())
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		config Config
		schema Schema
		want   string
	}{
		{Config{Format: "xml"}, Schema{}, "input.format"},
		{Config{Missing: "maybe"}, Schema{}, "input.missing"},
		{Config{Unknown: "maybe"}, Schema{}, "input.unknown"},
		{Config{Label: "a", Key: "a"}, Schema{}, "must differ, but two are"},
		{Config{Label: "a", Columns: []string{"a"}}, Schema{}, "input.columns"},
		{Config{Columns: []string{"a", "a"}}, Schema{}, "duplicate column"},
		{Config{Labels: []string{"a", "b", "a"}}, Schema{}, "must differ, but two are"},
		{Config{Labels: []string{"a", "b"}, Key: "b"}, Schema{}, "must differ, but two are"},
		{Config{Labels: []string{"a", ""}}, Schema{}, "without a name"},
		{Config{Labels: []string{"a", "b"}, Label: "c"}, Schema{}, "and a list of 2"},
		{Config{Labels: []string{"a", "b"}, Columns: []string{"b"}}, Schema{}, "input.columns"},
		{Config{Labels: []string{"a", "b"}, Task: learner.Classification}, Schema{}, "several labels need task regression"},
		{Config{Labels: []string{"a", "b"}}, Schema{Task: "classification"}, "has learned classification"},
		{Config{Labels: make([]string, 257)}, Schema{}, "at most 256"},
		{Config{Columns: []string{}}, Schema{}, "0 names"},
		{Config{Columns: []string{"a"}}, Schema{Columns: []string{"b"}}, "of the model"},
		{Config{Task: learner.Regression}, Schema{Task: "classification"}, "has learned classification"},
		{Config{MaxClasses: 2}, Schema{Classes: []string{"a", "b", "c"}}, "has learned 3"},
		{Config{}, Schema{Columns: []string{"a", "a"}}, "duplicate column"},
		{Config{}, Schema{Task: "guess"}, "unknown task"},
	} {
		if _, err := New(c.config, c.schema); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v, %+v): %v, want %q", c.config, c.schema, err, c.want)
		}
	}
}

// encoding/json reads whatever we read, and the same.
func TestAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		features := rapid.MapOfN(rapid.String(), rapid.Float64Range(-1e30, 1e30), 1, 8).Draw(t, "features")
		label := rapid.StringN(1, 20, 250).Draw(t, "label")
		b, err := json.Marshal(map[string]any{"features": features, "label": label})
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indent") {
			var out bytes.Buffer
			json.Indent(&out, b, " ", "\t")
			b = out.Bytes()
		}
		// Go's strings may hold bytes that are not UTF-8, and Marshal replaces them.
		var back struct {
			Features map[string]float64
			Label    string
		}
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		d, _ := New(Config{}, Schema{})
		row, err := d.Decode(b)
		if len(back.Features) < len(features) { // two names have become one
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if got := d.Schema().Classes[row.Label.Class]; got != back.Label {
			t.Errorf("label %q, want %q", got, back.Label)
		}
		if len(row.X) != len(back.Features) {
			t.Fatalf("%d inputs, want %d", len(row.X), len(back.Features))
		}
		for i, name := range d.Schema().Columns {
			if want, ok := back.Features[name]; !ok || math.Float64bits(want) != math.Float64bits(row.X[i]) {
				t.Errorf("%q is %v, want %v", name, row.X[i], want)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"x":[1,2.5e3],"y":"a"}`, `{"features":{"a":1,"b":-0.5},"label":true,"key":"k","weight":2}`, `{"a":1,"l":null,"z":{"q":[1]}}`, `{"x":[1e999]}`, `{"\u0078":["\ud83d\ude00"]}`} {
		for mode := range byte(8) {
			f.Add([]byte(s), mode)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, mode byte) {
		c := Config{MaxColumns: 1000}
		if mode&1 != 0 {
			c.Label = "l"
		}
		if mode&2 != 0 {
			c.Missing = "zero"
		}
		if mode&4 != 0 {
			c.Unknown = "ignore"
		}
		d, err := New(c, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time with the columns settled
			before := copyOf(d.Schema())
			row, err := d.Decode(b)
			if err != nil {
				if !reflect.DeepEqual(before, *d.Schema()) {
					t.Fatalf("%q: an error changed the schema", b)
				}
				if len(err.Error()) > 400 {
					t.Fatalf("an error of %d bytes", len(err.Error()))
				}
				continue
			}
			if !json.Valid(b) {
				t.Fatalf("%q is not JSON, and was read", b)
			}
			if len(row.X) != len(d.Schema().Columns) || len(row.X) == 0 {
				t.Fatalf("%q: %d inputs for %d columns", b, len(row.X), len(d.Schema().Columns))
			}
			for _, v := range row.X {
				if !(math.Abs(v) <= 1e30) {
					t.Fatalf("%q: an input is %v", b, v)
				}
			}
			if !(row.Weight > 0 && row.Weight <= maxWeight) {
				t.Fatalf("%q: weight %v", b, row.Weight)
			}
			if row.Label.Task == learner.Regression && !(math.Abs(row.Label.Value) <= 1e30) {
				t.Fatalf("%q: label %v", b, row.Label.Value)
			}
			// The second truth: encoding/json finds the same inputs under the same names.
			var m map[string]any
			if json.Unmarshal(b, &m) != nil {
				t.Fatalf("%q: read, but not by encoding/json", b)
			}
		}
	})
}

// Whatever happens to the bytes of a record, it is a row or an error, and an
// error leaves no trace: the good ones alone give the same schema.
func TestMangledRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	whole := []string{`{"features":{"age":41,"amount":-1.25e1,"risk":0.5},"label":"ok","key":"k"}`, `{"features":{"amount":1,"age":2,"risk":3},"label":"bad","weight":0.5}`, `{"features":{"risk":3,"amount":1,"age":2}}`}
	d, good := decoder(t, Config{}), decoder(t, Config{})
	rows, errs := 0, 0
	const n = 50_000
	for range n {
		b := []byte(whole[rng.IntN(len(whole))])
		for range rng.IntN(3) {
			i := rng.IntN(len(b))
			switch rng.IntN(4) {
			case 0:
				b[i] = byte(rng.Uint32())
			case 1:
				b = slices.Delete(b, i, i+1+rng.IntN(len(b)-i))
			case 2:
				b = slices.Insert(b, i, b[rng.IntN(len(b)):]...)
			case 3:
				b[i] = `{}[]",:0123456789.eE+-\ntf`[rng.IntN(25)]
			}
			if len(b) == 0 {
				b = []byte{0}
			}
		}
		row, err := d.Decode(b)
		if err != nil {
			errs++
			continue
		}
		rows++
		again, err := good.Decode(b)
		if err != nil || !json.Valid(b) || fmt.Sprint(row) != fmt.Sprint(again) {
			t.Fatalf("%q: %v, and without the bad ones %v, %v", b, row, again, err)
		}
	}
	if rows+errs != n || rows < n/4 || errs < n/4 {
		t.Errorf("%d rows and %d errors of %d", rows, errs, n)
	}
	if !reflect.DeepEqual(d.Schema(), good.Schema()) {
		t.Errorf("%v, and without the bad ones %v", d.Schema(), good.Schema())
	}
}

// A record costs memory in proportion to its own size, whatever it says.
func TestMemoryIsBounded(t *testing.T) {
	for _, s := range []string{
		`{"x":[` + strings.Repeat("1,", 90_000) + `1]}`,
		`{"x":[1],"z":` + strings.Repeat("[", 500_000),
		`{"x":[1],"y":"` + strings.Repeat(`\u0041`, 150_000) + `"}`,
		`{` + strings.Repeat(`"a":1,`, 150_000),
	} {
		b := []byte(s)
		d := decoder(t, Config{Label: "l", Unknown: "ignore"})
		if bytes := allocated(func() { d.Decode(b) }); bytes > 100*len(b) {
			t.Errorf("%.30s… of %d bytes: %d bytes allocated", s, len(b), bytes)
		}
	}
}

func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

func BenchmarkNamed(b *testing.B) {
	d := decoder(b, Config{})
	record := []byte(`{"features":{"age":41,"amount":1234.56,"balance":-0.0031,"country_code":276,"hour":13,"merchant_risk":0.731,"n_7d":12,"ratio":1.0625},"label":"ok","key":"c-1290381"}`)
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Decode(record); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDense(b *testing.B) {
	d := decoder(b, Config{})
	record := []byte(`{"x":[0.12345678901,1.5,-2.25,0.0003411,12,1e-3,0.77777777777777777,3.25,-1.0051,0.5],"y":1.25}`)
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Decode(record); err != nil {
			b.Fatal(err)
		}
	}
}
