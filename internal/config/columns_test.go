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
	for _, text := range []string{"{shop: category, row: id, \"*\": auto}", "[shop:category, \"*\", row:id]", "[shop:category, \"*:auto\", row:id]"} {
		c, err := load(t, least+"  columns: "+text+"\n", nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := fmt.Sprint(c.Input.Columns.Names(), c.Input.Columns.Types()); c.Input.Columns.Names() != nil || got != "[] map[row:id shop:category]" {
			t.Errorf("%s: %s", text, got)
		}
	}
	for text, want := range map[string]string{
		"{\"*\": category}":               "stands for the columns that are not named",
		"[amount, \"*\"]":                 "want name:type",
		"{\"*\": auto, a: auto}":          "not the type of a column",
		"[\"*\", \"*\"]":                  "duplicate",
		"[\"a:time\", \"a:id\"]":          "duplicate column",
		"[\"a:categry\", \"*\"]":          "did you mean category?",
		"[\"*:numeric\", \"*\"]":          "stands for the columns that are not named",
		"[\"a:numerc\"]":                  "did you mean numeric?; if the colon",
		"[\"a:numeric:norml\"]":           `"a": "numeric:norml" is not the type`,
		"[\"a:category:decay=0\"]":        `"a": "category:decay=0" is not the type of a column: want a half-life`,
		"[\"a:category:decay=0\", \"*\"]": `"a": "category:decay=0" is not`,
		"[\"b:a:time:trend:%Q\"]":         `"b:a": "%Q" in the format of times`,
		"[\"a:time\", \"b:string\"]":      "did you mean category?",
	} {
		if _, err := load(t, least+"  columns: "+text+"\n", nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	c, err := load(t, least+"  columns: {\"x:y\": boolean}\n", nil, nil)
	if err != nil || c.Input.Columns.Types()["x:y"] != "boolean" {
		t.Errorf("a name with a colon: %v, %v", c, err)
	}
	c, err = load(t, least+"  columns: {\"x:y\": \"numeric:normal\", at: time:since}\n", nil, nil)
	if got := fmt.Sprint(c.Input.Columns.Types()); err != nil || got != "map[at:time:since x:y:numeric:normal]" {
		t.Errorf("types with an option: %s, %v", got, err)
	}
	c, err = load(t, least+"  columns: {b: \"time:trend:%m/%d/%y %H:%M\", a: \"time:%d.%m.%Y\"}\n", nil, nil)
	if got := fmt.Sprint(c.Input.Columns.Types()); err != nil || got != "map[a:time:%d.%m.%Y b:time:trend:%m/%d/%y %H:%M]" {
		t.Errorf("formats of times: %s, %v", got, err)
	}
	_, err = load(t, least+"  columns: {a: categry}\n", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "did you mean category?") {
		t.Errorf("a type that does not exist: %v", err)
	}
}

// Costs of classes are keys below the option, or a JSON object in text.
func TestCostsAreAnObject(t *testing.T) {
	for _, test := range []struct{ yaml, want string }{
		{"none", "none"},
		{"f1", "f1"},
		{"{fraud: 50, ok: 1.5}", `{"fraud":50,"ok":1.5}`},
		{"{fraud: {\"1\": 50}}", `{"fraud":{"1":50}}`},
		{"\n    fraud:\n      ok: 50\n    late: 2", `{"fraud":{"ok":50},"late":2}`},
		{"{late: 2}", `{"late":2}`},
	} {
		c, err := load(t, least+"learner:\n  costs: "+test.yaml+"\n", nil, nil)
		if err != nil || string(c.Learner.Costs) != test.want {
			t.Errorf("%s: %v", test.yaml, err)
			continue
		}
		if c, err = load(t, least, nil, []string{"learner.costs=" + test.want}); err != nil || string(c.Learner.Costs) != test.want {
			t.Errorf("%s as text: %v", test.yaml, err)
		}
	}
	for _, text := range []string{"f2", "{fraud: much}", "{fraud: {fraud: 1}}", "[1]", "{}"} {
		if _, err := load(t, least+"learner:\n  costs: "+text+"\n", nil, nil); err == nil || !strings.Contains(err.Error(), "learner.costs") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A list as it is written in a file is not the name of a column or of a topic on the command line.
func TestListsOfTheCommandLineAreNotYAML(t *testing.T) {
	for set, want := range map[string]string{
		"input.columns={note: text}": "each with a type or without, such as amount,note:text",
		`input.columns=["note"]`:     "such as amount,note:text",
		"input.topics=[a, b]":        "such as a,b",
		"input.renames={a: b}":       "column=field",
		"input.columns=note:text":    "",
		"input.columns=a{b},c":       "",
	} {
		_, err := load(t, least, nil, []string{set})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}
