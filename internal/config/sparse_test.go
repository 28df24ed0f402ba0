package config

import (
	"strings"
	"testing"
)

func TestWhatExcludesSparseInputs(t *testing.T) {
	for option, text := range map[string]string{
		"":                     "input: {topics: [a], label: y, sparse: 18}",
		"input.sparse: is":     "input: {topics: [a], label: y, sparse: 7}",
		"learner.mixture":      "input: {topics: [a], label: y, sparse: 18}\nlearner: {mixture: off}",
		"learner.task":         "input: {topics: [a], label: y, sparse: 18}\nlearner: {task: novelty}",
		"input.labels.ttl":     "input: {topics: [a], label: y, sparse: 18, labels: {ttl: 1h}}",
		"input.lags":           "input: {topics: [a], label: y, sparse: 18, lags: 1}",
		"refit.every":          "input: {topics: [a], label: y, sparse: 18}\nrefit: {every: 1h}",
		"input.sparse: cannot": "input: {topics: [a], label: y, sparse: 18, on_change: adopt}",
	} {
		_, err := load(t, "model: m\nkafka: {bootstrap.servers: 'localhost:9092'}\n"+text, nil, nil)
		switch {
		case option == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case option != "" && (err == nil || !strings.Contains(err.Error(), option)):
			t.Errorf("%s: %v, want a problem of %s", text, err, option)
		}
	}
}
