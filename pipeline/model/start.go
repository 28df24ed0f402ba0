package model

import (
	"errors"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Start is how a new model begins: with the state that the rows of a file lead to, with
// that of a snapshot, or with the empty state, and at which records of its inputs.
type Start struct {
	Name   string        // of the file, for people
	SHA256 snapshot.Hash // of the file; zero: there is no file

	// Snapshot is a snapshot file, and Rows yields the rows of any other file, as values of
	// JSON records. At most one of them is set.
	Snapshot []byte
	Rows     func(yield func(value []byte) error) error

	From From
}

// ErrStart means that a model cannot begin as requested.
var ErrStart = errors.New("the model cannot begin like that")

// Kind returns that of the record in the log.
func (s *Start) Kind() string {
	switch {
	case s.Snapshot != nil:
		return modellog.StartSnapshot
	case s.Rows != nil:
		return modellog.StartFile
	}
	return modellog.StartEmpty
}

// Is reports whether the log began with the same source.
func (s *Start) Is(have *modellog.Start) bool {
	return have != nil && have.Is(&modellog.Start{Kind: s.Kind(), SHA256: s.SHA256})
}

// KeepChoices gives c the mixture, the normal scores and the forest of the snapshot of s, or
// none, unless they are configured.
func (s *Start) KeepChoices(c *Config) {
	if s == nil || s.Snapshot == nil {
		return
	}
	file, err := snapshot.Decode(s.Snapshot, 0)
	if err != nil {
		return // a start says what is wrong
	}
	if l, err := record.ReadLearner(file.Config); err == nil {
		c.keepChoices(l)
	}
}
