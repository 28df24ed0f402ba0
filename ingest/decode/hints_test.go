package decode

import (
	"fmt"
	"strings"
	"testing"
)

// Values that look as if another type suited them have a hint, in records and in files.
func TestHintsOfWhatValuesLookLike(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("day,big,note,name,code,clean,y\n")
	d, err := New(Config{Label: "y", Infer: true, Missing: "impute"}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	d.Look()
	for i := range 300 {
		day, note, name := fmt.Sprintf("%02d.02.2024", 1+i%28), fmt.Sprintf("the parcel %d came too late again", i), fmt.Sprintf("Ann No %d", i)
		row := fmt.Sprintf(`{"day":%q,"big":%d,"note":%q,"name":%q,"code":"the same few words here %d","clean":1e300,"y":1}`, day, 1<<60+i, note, name, i%9)
		row = strings.Replace(row, "1e300", "1e20", 1)
		if _, err := d.Decode([]byte(row)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&csv, "%s,%d,%s,%s,the same few words here %d,1e20,1\n", day, 1<<60+i, note, name, i%9)
	}
	f, err := Read(strings.NewReader(csv.String()), "f.csv", Config{Label: "y", Infer: true, Missing: "impute"}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	f.Look()
	for err == nil {
		_, err = f.Next()
	}
	for _, s := range []struct {
		from   string
		hint   func(name, typ string) string
		schema *Schema
	}{{"records", d.Hint, d.Schema()}, {"a file", f.Hint, f.Schema()}} {
		got := map[string]string{}
		for _, field := range s.schema.Fields() {
			got[field.Name] = s.hint(field.Name, field.Type)
		}
		for name, want := range map[string]string{"day": "dates such as 20.02.2024", "big": "such as 1152921504606847275", "note": "7 words", "name": "", "code": "", "clean": ""} {
			if (got[name] == "") != (want == "") || !strings.Contains(got[name], want) {
				t.Errorf("%s: the hint for %s is %q, want %q", s.from, name, got[name], want)
			}
		}
	}
	if h := d.Hint("note", "text"); h != "" {
		t.Errorf("a declared text has the hint %q", h)
	}
}

// A number of milliseconds is no time: times are read as seconds, whether they are inputs or only the
// event times of records or the times of windows.
func TestMillisecondsAreHintedAt(t *testing.T) {
	for name, c := range map[string]Config{
		"declared":        {Types: map[string]string{"at": "time"}},
		"declared too":    {Types: map[string]string{"at": "time:trend"}},
		"event":           {Time: "at"},
		"event, no input": {Time: "at", Types: map[string]string{"at": "id"}},
		"window":          {Windows: []Window{{Key: "k", Over: []string{"1h"}, Time: "at"}}},
		"":                {}, // numbers as any others
	} {
		c.Label, c.Infer = "y", true
		for unit, scale := range map[string]int{"s": 1, "ms": 1000} {
			d, err := New(c, Schema{})
			if err != nil {
				t.Fatal(err)
			}
			d.Look()
			if _, err := d.Decode([]byte(fmt.Sprintf(`{"at":%d,"k":"a","b":1,"y":1}`, 1767844800*scale))); err != nil {
				t.Fatal(err)
			}
			for _, f := range d.Schema().Fields() {
				hint := d.Hint(f.Name, f.Type)
				if want := f.Name == "at" && name != "" && unit == "ms"; strings.Contains(hint, "divide milliseconds") != want {
					t.Errorf("%s, %s of %s: the hint is %q", unit, f.Name, name, hint)
				}
			}
		}
	}
}

// Once enough rows have been looked at, rows are read as fast as without hints, which stay.
func TestLookingEnds(t *testing.T) {
	for form, row := range map[string]string{"records": `{"zip":%d,"clean":1.5,"y":1}`, "lines": "%d,1.5,1\n"} {
		f, err := Read(strings.NewReader(codes(form, row)), form, Config{Label: "y", Infer: true, Missing: "impute"}, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		f.Look()
		rows, began := 0, 0
		for {
			if _, err := f.Next(); err != nil {
				break
			}
			if rows++; began == 0 && f.d.plain() {
				began = rows
			}
		}
		if rows != 3000 || began == 0 || began > 1100 {
			t.Errorf("%s: of %d rows, those from %d on are read without looking", form, rows, began)
		}
		if hint := f.Hint("zip", "numeric"); !strings.Contains(hint, "the name of a code") {
			t.Errorf("%s: the hint is %q", form, hint)
		}
	}
}

// codes returns 3,000 rows with the name of a code.
func codes(form, row string) string {
	var b strings.Builder
	if form == "lines" {
		b.WriteString("zip,clean,y\n")
	}
	for i := range 3000 {
		fmt.Fprintf(&b, row, 1000+i%50)
		if form != "lines" {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
