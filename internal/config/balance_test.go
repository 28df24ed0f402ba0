package config

import (
	"strings"
	"testing"
)

// What contradicts class-balanced sampling and weights by age is named, with the option.
func TestWeighingIsChecked(t *testing.T) {
	const head = "model: m\nkafka: {bootstrap.servers: \"localhost:9092\"}\n"
	for _, test := range []struct{ text, want string }{
		{"input: {topics: [a], label: y}\nlearner: {balance: balanced}", ""},
		{"input: {topics: [a], label: y}\nlearner: {balance: {fraud: 1, ok: 2.5}}", ""},
		{"input: {topics: [a], label: y, time: at}\nlearner: {half_life: 30d}", ""},
		{"input: {topics: [a], label: y, labels: {topic: b, ttl: 1h}}\nlearner: {half_life: 36h, balance: balanced}", ""},
		{"input: {topics: [a], label: y}\nlearner: {balance: half}", "balance"},
		{"input: {topics: [a], label: y}\nlearner: {balance: {fraud: 1}}", "two classes"},
		{"input: {topics: [a], label: y}\nlearner: {balance: {fraud: 1, ok: -1}}", "share of class"},
		{"input: {topics: [a], label: y}\nlearner: {balance: {fraud: 1, ok: {fraud: 2}}}", "share of class"},
		{"input: {topics: [a], label: y}\nlearner: {balance: balanced, task: regression}", "not for regression"},
		{"input: {topics: [a], label: [x, y]}\nlearner: {balance: balanced}", "not for regression"},
		{"input: {topics: [a], label: y}\nlearner: {balance: balanced, intervals: 0.9}", "not for regression"},
		{"input: {topics: [a], label: y}\nlearner: {balance: balanced, task: novelty}", "novelty"},
		{"input: {topics: [a], label: y}\nlearner: {half_life: soon}", "not a duration"},
		{"input: {topics: [a], label: y}\nlearner: {half_life: -1h}", "not a duration"},
		{"input: {topics: [a], label: y}\nlearner: {half_life: 1ns}", "learner.half_life: is 1e-09 s: want 0 (none), or 0.001 to 1e+12"},
		{"input: {topics: [a], label: y, time: at}", "learner.half_life, which is not set"},
		{"input: {topics: [a], label: y, time: at, labels: {topic: b, ttl: 1h}}\nlearner: {half_life: 1h}", "input.labels.time"},
		{"input: {topics: [a], label: y, time: at, sparse: 18}\nlearner: {half_life: 1h}", "input.sparse"},
		{"input: {topics: [a], label: y}\nlearner: {half_life: 1h, algorithm: all}\nrefit: {every: 1h}", "refit"},
	} {
		c, err := load(t, head+test.text, nil, nil)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.text, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %q", test.text, err, test.want)
		case test.want == "" && c.Learner.HalfLife == "30d":
			if s, err := ParseHalfLife(c.Learner.HalfLife); s != 30*86400 || err != nil {
				t.Errorf("30d is %v s, %v", s, err)
			}
		}
	}
}
