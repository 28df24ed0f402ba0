package config

import (
	"fmt"
	"strings"
	"testing"
)

// Columns are a list of names, a list of names with types, or names with types below
// the key; in the environment and on the command line they are text.
func TestColumnsTakeTypes(t *testing.T) {
	const types = "[amount carrier at x:y] map[amount:numeric at:time carrier:category note:ignored]"
	for _, test := range []struct{ text, want string }{
		{"auto", "[] map[]"},
		{"[a, b]", "[a b] map[]"},
		{"{amount: numeric, carrier: category, at: time, note: ignored}", strings.Replace(types, " x:y", "", 1)},
		{"[\"amount:numeric\", \"carrier:category\", \"at:time\", \"x:y\", \"note:ignored\"]", types},
	} {
		c, err := load(t, least+"  columns: "+test.text+"\n", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(c.Input.Columns.Names(), c.Input.Columns.Types()); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
		again, err := load(t, least, nil, []string{"input.columns=" + c.Input.Columns.String()})
		if err != nil || fmt.Sprint(again.Input.Columns) != fmt.Sprint(c.Input.Columns) {
			t.Errorf("%s: as text %v, %v", test.text, again, err)
		}
	}
	c, err := load(t, least+"  columns: {\"x:y\": boolean}\n", nil, nil)
	if err != nil || c.Input.Columns.Types()["x:y"] != "boolean" {
		t.Errorf("a name with a colon: %v, %v", c, err)
	}
	_, err = load(t, least+"  columns: {a: categry}\n", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "did you mean category?") {
		t.Errorf("a type that does not exist: %v", err)
	}
}
