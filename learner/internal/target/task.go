package target

import "fmt"

// Task is what a model predicts. The first label of a stream determines it unless it is configured.
type Task int

// The tasks.
const (
	Auto           Task = iota // not determined yet
	Classification             // the probability of each class
	Regression                 // a number, or several
	Novelty                    // how far a row is outside the support of the others; there are no labels
)

var taskNames = [...]string{"auto", "classification", "regression", "novelty"}

// String returns the name of t.
func (t Task) String() string {
	if t < 0 || int(t) >= len(taskNames) {
		return "invalid"
	}
	return taskNames[t]
}

// MarshalText writes what ParseTask reads.
func (t Task) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads like ParseTask.
func (t *Task) UnmarshalText(text []byte) error {
	v, err := ParseTask(string(text))
	if err == nil {
		*t = v
	}
	return err
}

// ParseTask reads the form that String writes.
func ParseTask(s string) (Task, error) {
	for i, name := range taskNames {
		if s == name {
			return Task(i), nil
		}
	}
	return 0, fmt.Errorf("unknown task %q: want auto, classification, regression or novelty", s)
}
