package decode

import (
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// Every record is an example of novelty. A label is no input, and says what is known of
// the row if it is a truth value.
func TestNoveltyNeedsNoLabels(t *testing.T) {
	d, err := New(Config{Task: learner.Novelty, Label: "bad", Missing: "impute"}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	for value, known := range map[string]int{
		`{"a":1,"b":2}`:              learner.Unlabelled,
		`{"a":1,"b":2,"bad":null}`:   learner.Unlabelled,
		`{"a":1,"b":2,"bad":[1]}`:    learner.Unlabelled,
		`{"a":1,"b":2,"bad":7}`:      learner.Unlabelled,
		`{"a":1,"b":2,"bad":true}`:   learner.KnownNovel,
		`{"a":1,"b":2,"bad":"true"}`: learner.KnownNovel,
		`{"a":1,"b":2,"bad":1}`:      learner.KnownNovel,
		`{"a":1,"b":2,"bad":false}`:  learner.KnownNormal,
		`{"a":1,"b":2,"bad":0}`:      learner.KnownNormal,
	} {
		row, err := d.Decode([]byte(value))
		if err != nil || len(row.X) != 2 || row.Label.Task != learner.Novelty || row.Label.Class != known {
			t.Errorf("%s: %+v, %v, want class %d", value, row, err, known)
		}
	}
	if got := d.Schema().Task; got != "novelty" {
		t.Errorf("task %s", got)
	}
	if _, err := New(Config{Task: learner.Novelty, Labels: []string{"a", "b"}}, Schema{}); err == nil {
		t.Error("two labels are accepted")
	}
}
