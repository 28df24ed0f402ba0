package decode

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest/decode/hints"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

func TestTimesOfAFormat(t *testing.T) {
	day := time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		typ, value string
		want       time.Time
	}{
		{"time:%d.%m.%Y", `"01.02.2024"`, day},
		{"time:%d.%m.%Y", `"1.2.2024"`, day},
		{"time:%m/%d/%y", `"2/1/24"`, day},
		{"time:%Y%m%d", `20240201`, day},
		{"time:%Y%m%d", `"20240201"`, day},
		{"time:%d %b %Y %I:%M %p", `"1 Feb 2024 03:04 PM"`, day.Add(15*time.Hour + 4*time.Minute)},
		{"time:%d/%b/%Y:%H:%M:%S %z", `"01/Feb/2024:13:55:36 +0200"`, day.Add(11*time.Hour + 55*time.Minute + 36*time.Second)},
		{"time:trend:%Y/%m/%dT%H:%M:%S", `"2024/02/01T00:00:05.5"`, day.Add(5500 * time.Millisecond)},
		{"time:%d.%m.%Y", `"2024-02-01"`, time.Time{}},
		{"time:%d.%m.%Y", `"30.02.2024"`, time.Time{}},
		{"time:%d.%m.%Y", `20240201`, time.Time{}},
		{"time:%d.%m.%Y", `true`, time.Time{}},
		{"time:%d.%m.%Y", `"` + strings.Repeat("1", 100) + `"`, time.Time{}},
	} {
		c := Config{Label: "y", Infer: true, Missing: "impute", Types: map[string]string{"at": test.typ}}
		d, err := New(c, Schema{})
		if err != nil {
			t.Fatalf("%s: %v", test.typ, err)
		}
		row, bad := d.Decode([]byte(`{"at":` + test.value + `,"y":1}`))
		if test.want.IsZero() {
			if bad == nil || !strings.Contains(bad.Error(), "columns") || !strings.Contains(bad.Error(), `"at" is`) || !strings.Contains(bad.Error(), "want a time") {
				t.Errorf("%s: %s is read as %v, %v", test.typ, test.value, row.X, bad)
			}
			continue
		}
		if bad != nil || row.X[0] != float64(test.want.UnixMilli())/1e3 {
			t.Errorf("%s: %s is %v, %v, want %v", test.typ, test.value, row.X, bad, test.want)
			continue
		}
		again, err := New(c, *d.Schema())
		if err != nil {
			t.Fatal(err)
		}
		if row, bad := again.Decode([]byte(`{"at":null,"y":1}`)); bad != nil || !math.IsNaN(row.X[0]) {
			t.Errorf("%s: null is %v, %v", test.typ, row.X, bad)
		}
	}
}

func TestInvalidFormatsOfTimes(t *testing.T) {
	for format, want := range map[string]string{
		"%d.%m":       "no day, month or year",
		"%H:%M":       "no day, month or year",
		"%d.%m.%Q":    `"%Q"`,
		"%d.%m.%Y %":  "ends with a %",
		"%d_%m_%Y":    `"_"`,
		"%Y2%m%d":     `"2"`,
		"%d. Jan, %Y": `"J"`,
	} {
		_, err := schema.ParseType(learner.TimeColumn.String() + ":" + format)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", format, err, want)
		}
	}
	if _, err := schema.ParseType("time:sometimes:%d.%m.%Y"); err == nil || !strings.Contains(err.Error(), "time:sometimes") {
		t.Errorf("a type that does not exist: %v", err)
	}
}

// The hint names a format that reads the date.
func TestHintsOfDatesHaveTheirFormat(t *testing.T) {
	for date, want := range map[string]string{
		"1/28/2024": "time:%m/%d/%Y", "28/1/2024": "time:%d/%m/%Y", "10/18/2024 09:00 AM": "time:%m/%d/%Y %I:%M %p", "18.10.24 9:00:01 PM": "time:%d.%m.%y %I:%M:%S %p",
		"01.02.2024": "time:%d.%m.%Y", "1.2.24 5:06": "time:%d.%m.%y %H:%M", "2024/02/01T05:06:07": "time:%Y/%m/%dT%H:%M:%S", "28-12-2024": "time:%d-%m-%Y",
		"1/2/2024": "time:%d/%m/%Y, or time:%m/%d/%Y if the month is first",
	} {
		c := hints.New()
		for range 100 {
			c.Text([]byte("at"), []byte(date))
		}
		_, got, _ := strings.Cut(c.Hint("at", "category"), "for example ")
		if got != want {
			t.Errorf("%s: %s, want %s", date, got, want)
		}
		typ, _, _ := strings.Cut(got, ",")
		if _, err := schema.ParseType(typ); err != nil {
			t.Errorf("%s: %v", date, err)
			continue
		}
		formats, _ := schema.TimeFormats(map[string]string{"at": typ})
		if _, ok := formats["at"].Parse([]byte(date)); !ok {
			t.Errorf("%s: %s does not read it", date, typ)
		}
	}
}
