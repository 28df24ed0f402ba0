package decode

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// The event time of a row is the field input.time, whether that is an input or not, or the
// timestamp of the record. Rows without one are known as such.
func TestRowsHaveTheirEventTime(t *testing.T) {
	for _, test := range []struct {
		config  Config
		value   string
		seconds float64
		timed   bool
		columns int
	}{
		{Config{}, `{"a":1,"y":true}`, 12.5, true, 1},
		{Config{Time: "at"}, `{"a":1,"at":7,"y":true}`, 7, true, 2},
		{Config{Time: "at"}, `{"a":1,"at":"1970-01-01T00:01:00Z","y":true}`, 60, true, 2},
		{Config{Time: "at", Types: map[string]string{"at": schema.ID}}, `{"a":1,"at":1700000000.25,"y":true}`, 1700000000.25, true, 2},
		{Config{Time: "at", Types: map[string]string{"at": schema.Ignored}}, `{"a":1,"at":"1970-01-01T01:00:00+01:00","y":true}`, 0, true, 2},
		{Config{Time: "at", Types: map[string]string{"at": schema.ID}}, `{"a":1,"at":null,"y":true}`, 0, false, 2},
		{Config{Time: "at", Types: map[string]string{"at": schema.ID}}, `{"a":1,"y":true}`, 0, false, 2},
		{Config{Time: "o.at", Depth: 3}, `{"a":1,"o":{"at":9},"y":true}`, 9, true, 2},
		{Config{Time: "at", Windows: []Window{{Key: "k", Time: "at", Over: []string{"1h"}}}, Types: map[string]string{"at": schema.ID, "k": schema.ID}}, `{"a":1,"at":7,"k":"x","y":true}`, 7, true, 5},
		{Config{Time: "1"}, `{"x":[5,6],"y":true}`, 6, true, 2},
	} {
		c := test.config
		c.Infer, c.Missing = true, "impute"
		if c.Time != "1" {
			c.Label = "y"
		}
		d, err := New(c, Schema{})
		if err != nil {
			t.Errorf("%+v: %v", test.config, err)
			continue
		}
		row, err := d.Decode([]byte(test.value))
		if err != nil {
			t.Errorf("%s: %v", test.value, err)
			continue
		}
		if d.SetTime(&row, 12_500); row.Time != test.seconds || row.Timed != test.timed || len(row.X) != test.columns {
			t.Errorf("%+v of %s: the time is %v, known %v, of %d columns; want %v, %v and %d", test.config, test.value, row.Time, row.Timed, len(row.X), test.seconds, test.timed, test.columns)
		}
		if _, err := New(c, *d.Schema()); err != nil {
			t.Errorf("%+v: not from its own schema: %v", test.config, err)
		}
		for i, name := range d.Schema().Columns {
			if typ := d.Schema().Fields()[i].Type; name == "at" && schema.IsExcluded(c.Types["at"]) != (typ == learner.SourceColumn.String()) {
				t.Errorf("%+v: the time has the type %s", test.config, typ)
			}
		}
	}
}

func TestEventTimesAreChecked(t *testing.T) {
	for _, c := range []Config{
		{Label: "at", Time: "at"}, {Weight: "at", Time: "at"}, {Key: "at", Time: "at"}, {Labels: []string{"b", "at"}, Time: "at"}, {Time: "a t"},
		{Time: "at", Columns: []string{"a"}}, {Time: "at", Types: map[string]string{"at": "category"}}, {Time: "at", Sparse: true},
	} {
		if _, err := c.Effective(); err == nil || !strings.Contains(err.Error(), "input.time") && !strings.Contains(err.Error(), "more than one") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for value, want := range map[string]string{
		`{"a":1,"y":true}`:                    "first record does not have",
		`{"a":1,"at":"noon","y":true}`:        "want times or seconds",
		`{"a":1,"at":true,"y":true}`:          "want times or seconds",
		`{"x":[1],"y":true}`:                  "first record does not have",
		`{"a":1,"at":1e300,"y":true}`:         "out of range",
		`{"a":1,"at":[1],"y":true}`:           "",
		`{"features":{"a":1},"at":5,"y":"b"}`: "",
	} {
		d, err := New(Config{Time: "at", Infer: true, Label: "y"}, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Decode([]byte(value)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
}
