package input

import (
	"errors"
	"fmt"
)

var (
	// ErrHistory means that the records in the topics are not those that the model
	// log says were learned.
	ErrHistory = errors.New("history does not match")

	// ErrTopic means that a topic does not exist or its configuration is unsuitable.
	ErrTopic = errors.New("topic cannot be used")
)

// ErrGap means that records were lost before they were learned.
var ErrGap = errors.New("input is lost")

// gapError is an ErrGap with the range of the lost records.
type gapError struct {
	topic     string
	partition int32
	from, to  int64
}

func (e *gapError) Error() string {
	return fmt.Sprintf("%v: records %d to %d of topic %q partition %d were deleted before they were learned: set input.on_gap to record to append a GAP to the model log and continue, or start a new model under another name", ErrGap, e.from, e.to-1, e.topic, e.partition)
}

func (e *gapError) Unwrap() error { return ErrGap }

var (
	ErrRecreated = errors.New("deleted and created again")
	ErrReplaced  = errors.New("it does not exist any more")
)

// Recreated returns the error for a topic that was deleted and created again.
func Recreated(topic string) error {
	return fmt.Errorf("%w: topic %q was %w since the model learned from it: if it has the same records again, continue with accrete adopt; otherwise start a new model under another name", ErrHistory, topic, ErrRecreated)
}

func replaced(in *Partition, offset int64) error {
	return fmt.Errorf("%w: record %d of %v differs from the one that was learned: the topic was deleted and recreated, or truncated and appended to; if it has the same records at other offsets, continue with accrete adopt, otherwise start a new model under another name", ErrHistory, offset, in)
}
