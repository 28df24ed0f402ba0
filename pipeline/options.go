package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// options is what reaches the arithmetic or the bytes of a prediction, as it is
// journaled: a later default never alters a model that is there.
func (c Config) options() ([]byte, error) {
	l, err := c.Learner.Canonical()
	if err != nil {
		return nil, err
	}
	in, err := c.Decode.Effective()
	if err != nil {
		return nil, err
	}
	if n := max(1, c.Learner.Outputs); c.Model != "" && n != in.Outputs() { // a Fit decodes nothing
		return nil, fmt.Errorf("the records have %d labels, and the learner %d outputs", in.Outputs(), n)
	}
	d, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Learner json.RawMessage `json:"learner"`
		Input   json.RawMessage `json:"input"`
	}{l, d})
}

// differences lists the options in which want departs from have, for people.
func differences(have, want []byte) string {
	a, b := flat(have), flat(want)
	var out []string
	for k := range a {
		if a[k] != b[k] {
			out = append(out, fmt.Sprintf("%s is %s for this model and was set to %s", k, a[k], or(b[k], "nothing")))
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, fmt.Sprintf("%s is not set for this model and was set to %s", k, b[k]))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// flat is a JSON object of objects as "outer.inner" to JSON value.
func flat(b []byte) map[string]string {
	out := map[string]string{}
	var outer map[string]map[string]json.RawMessage
	if err := json.Unmarshal(b, &outer); err != nil {
		return map[string]string{"options": string(b)}
	}
	for o, inner := range outer {
		for k, v := range inner {
			out[o+"."+k] = string(v)
		}
	}
	return out
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
