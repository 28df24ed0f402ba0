package model

import (
	"errors"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Start describes how a new model begins: with which state, and at which records of its inputs. The
// state is the one that the rows of a file lead to, that of a snapshot, or the empty state.
type Start struct {
	Name   string        // name of the file, for people
	SHA256 snapshot.Hash // hash of the file; zero: there is no file

	// Snapshot is a snapshot file, and Rows yields the rows of any other file, as values of
	// JSON records. At most one of them is set.
	Snapshot []byte
	Rows     func(yield func(value []byte) error) error

	// Earlier yields the rows as earlier versions read the file, with which a model may have begun. It
	// is nil if they are those of Rows.
	Earlier func(yield func(value []byte) error) error

	From From
}

// ErrStart means that a model cannot begin as requested.
var ErrStart = errors.New("the model cannot begin like that")

// Kind returns the kind of s as the model log records it.
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

// KeepChoices copies to c the choices in the options of the snapshot of s, such as the mixture, the
// normal scores and the forest, unless they are configured. Without a snapshot it does nothing.
func (s *Start) KeepChoices(c *Config) {
	if s == nil || s.Snapshot == nil {
		return
	}
	file, err := snapshot.Decode(s.Snapshot, 0)
	if err != nil {
		return // the start itself will report the error
	}
	if l, err := record.ReadLearner(file.Config); err == nil {
		c.keepChoices(l)
	}
}
