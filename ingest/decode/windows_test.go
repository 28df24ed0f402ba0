package decode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

var paid = Config{
	Label: "y", Infer: true, Missing: "impute", Types: map[string]string{"card": "id", "at": "ignored"},
	Windows: []Window{{Key: "card", Of: "amount", Distinct: "shop", Time: "at", Over: []string{"1h", "7d"}, Features: []string{"mean", "since", "distinct"}}},
}

// Windows add columns for their features and for what they are of and is no input, and the
// layout finds them. Rows of a file and their records have the same values.
func TestWindowsAddColumns(t *testing.T) {
	f, err := Read(strings.NewReader("at,card,shop,amount,y\n2024-01-01T00:00:00Z,007,a,1.5,no\n1704067201,7,b,,yes\n,,a,2,no\n"), "f", paid, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(paid, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	var keys []float64
	for range 3 {
		row, err := f.Next()
		if err != nil {
			t.Fatal(err)
		}
		fromFile := fmt.Sprint(row.X)
		value, err := f.Record(nil)
		if err != nil {
			t.Fatal(err)
		}
		if row, err = d.Decode(value); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(row.X); got != fromFile {
			t.Errorf("%s: %s, from the file %s", value, got, fromFile)
		}
		if err := row.Windows.Check(len(row.X)); err != nil {
			t.Fatal(err)
		}
		g := row.Windows.Groups[0]
		keys = append(keys, row.X[g.Key])
		for _, to := range g.To {
			if row.X[to] == row.X[to] {
				t.Errorf("column %d is %v before the learner sets it", to, row.X[to])
			}
		}
		if len(keys) == 1 && (row.X[g.Time] != 1704067200 || row.X[g.Of] != 1.5 || g.HalfLives[1] != 7*86400 || g.Lateness != 7*86400) {
			t.Errorf("%v: %+v", row.X, g)
		}
	}
	if keys[0] == keys[1] || keys[2] == keys[2] {
		t.Errorf("keys %v", keys)
	}
	want := []string{"amount", "amount_mean_1h_by_card", "amount_mean_7d_by_card", "at", "card", "shop", "shop_distinct_1h_by_card", "shop_distinct_7d_by_card", "since_by_card"}
	if s := d.Schema(); !slices.Equal(s.Columns, want) || s.Types[1] != "window" || s.Types[3] != "source" {
		t.Errorf("columns %v of types %v", s.Columns, s.Types)
	}
	again, err := New(paid, *d.Schema())
	if err != nil {
		t.Fatal(err)
	}
	row, err := again.Decode([]byte(`{"amount":1,"card":7,"shop":null}`))
	if err != nil || row.X[4] != keys[1] || !row.Windows.Equal(d.windows.layout) {
		t.Errorf("%v, %v", row, err)
	}
}

// The key and the timestamp of the record are columns, which no field has.
func TestWindowsOfTheRecord(t *testing.T) {
	d, err := New(Config{Label: "y", Infer: true, Windows: []Window{{Over: []string{"10m"}, Features: []string{"count"}}}}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	row, err := d.Decode([]byte(`{"a":1,"y":true}`))
	if err != nil {
		t.Fatal(err)
	}
	row.Key = []byte("k")
	d.SetKey(&row)
	d.SetTime(&row, 1500)
	g := row.Windows.Groups[0]
	if row.X[g.Key] != categoryOfKey([]byte("k")) || row.X[g.Time] != 1.5 {
		t.Errorf("%v, %+v", row.X, g)
	}
	if n := len(d.Schema().Fields()); n != 2 {
		t.Errorf("%d fields, want that of the record and the count", n)
	}
	for _, bad := range []string{`{"a":1,"count_10m_by_key":3}`, `{"a":1,"record.time":3}`, `{"x":[1,2,3,4]}`} {
		if _, err := d.Decode([]byte(bad)); err == nil {
			t.Errorf("%s is a row", bad)
		}
	}
}

func TestInvalidWindowsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"key=card":                          "want 1 to 16 half-lives",
		"key=card over=1x":                  "not a duration",
		"key=card over=1e-310d":             "not a duration",
		"key=card over=1h,60m":              "duplicate half-life",
		"key=card over=1h features=mean":    "needs the option of",
		"key=card over=1h features=median":  "unknown feature",
		"key=card over=1h of=card":          "is the key",
		"key=y over=1h":                     "is the label",
		"key=card over=1h keys=0.5":         "not a whole number",
		"key=card over=1h ke=5":             "did you mean key",
		"key=card over=1h key=shop":         "duplicate option",
		"key=card over=1h of=at":            "want a column of numbers",
		"key=card over=1h lateness=forever": "not a duration",
		"key=card over=1h,2h;":              "half-life",
	} {
		w, err := ParseWindow(strings.TrimSuffix(text, ";"))
		c := paid
		c.Windows = []Window{w}
		if strings.HasSuffix(text, ";") { // the same window twice
			c.Windows, want = []Window{w, w}, "two columns"
		}
		if err == nil {
			_, err = c.Effective()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	d, err := New(Config{Label: "y", Infer: true, Windows: []Window{{Key: "a", Of: "b", Over: []string{"1h"}}}}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`{"a":1,"b":"text","y":true}`, `{"a":1,"y":true}`} {
		if _, err := d.Decode([]byte(bad)); err == nil || len(d.Schema().Columns) > 0 {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := New(paid, Schema{Columns: []string{"amount"}}); err == nil || !strings.Contains(err.Error(), "no column") {
		t.Errorf("a model without the columns of the windows: %v", err)
	}
	if s := (learner.WindowFeature)(99).String(); s != "invalid" {
		t.Error(s)
	}
}
