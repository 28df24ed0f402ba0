package config

import (
	"strings"
	"testing"
)

// Keys and labels that no record can have are problems of the configuration, not of the records.
func TestLateLabelsAreChecked(t *testing.T) {
	for _, test := range []struct{ labels, want string }{
		{"ttl: 1h, key: id, label_key: 'header:id'", ""},
		{"ttl: 1h, on_timeout: 'false'", ""},
		{"ttl: 1us", "input.labels.ttl: is 1µs: want 1ms or more"},
		{"ttl: 1h, key: 'header:'", "input.labels.key: the header has no name"},
		{"ttl: 1h, label_key: 'header:'", "input.labels.label_key: the header has no name"},
		{"ttl: 1h, key: y", `input.labels.key: "y" is the field of the label`},
		{"ttl: 1h, key: y, field: outcome", ""},
		{"ttl: 1h, label_key: outcome, field: outcome", `input.labels.label_key: "outcome" is the field of the label`},
		{"ttl: 1h, on_timeout: 'false'}}\nlearner: {task: regression, monitor: 0, step: {size: 0", "input.labels.on_timeout: is \"false\", but learner.task is regression"},
		{"ttl: 1h, on_timeout: '-1'}}\nlearner: {loss: poisson, monitor: 0, step: {size: 0", "input.labels.on_timeout: is \"-1\", but the loss poisson is for counts"},
		{"ttl: 1h, on_timeout: '0'}}\nlearner: {task: regression, monitor: 0, step: {size: 0", ""},
	} {
		text := "input: {topics: [a], label: y, labels: {topic: b, " + test.labels + "}}"
		_, err := load(t, "model: m\nkafka: {bootstrap.servers: 'localhost:9092'}\n"+text, nil, nil)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %q", text, err, test.want)
		}
	}
}
