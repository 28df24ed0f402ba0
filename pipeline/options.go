package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// options encodes, for the model log, all options that affect the arithmetic or the
// bytes of a prediction. Defaults are included, so that a later change of a default
// does not alter an existing model.
func (c Config) options() ([]byte, error) {
	l, err := c.Learner.Canonical()
	if err != nil {
		return nil, err
	}
	in, err := c.Decode.Effective()
	if err != nil {
		return nil, err
	}
	if n := max(1, c.Learner.Targets); c.Model != "" && n != in.Targets() { // a Fit has no decoder
		return nil, fmt.Errorf("the records have %d labels, and the learner %d outputs", in.Targets(), n)
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

// differences describes the options in which have and want differ, for an error text.
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

// flat flattens a JSON object of objects: it maps "outer.inner" to the JSON value.
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
