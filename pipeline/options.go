package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest/record"
)

// options encodes the options of the model, for the model log.
func (c Config) options() ([]byte, error) {
	b, err := record.Options(c.Learner, c.Decode)
	if err != nil {
		return nil, err
	}
	if n := max(1, c.Learner.Targets); n != c.Decode.Targets() {
		return nil, fmt.Errorf("the input has %d labels, but the learner has %d targets", c.Decode.Targets(), n)
	}
	return b, nil
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
