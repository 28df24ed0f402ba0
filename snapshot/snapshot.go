// Package snapshot implements the snapshot file of a model and the state hash. FORMAT.md specifies
// every byte. Package modellog implements the log that carries such files in Kafka.
package snapshot

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// Snapshot is a model together with its place in its history and in its input. A program that trains a
// learner.Learner sets Model, Schema and State at least: see the example of serve.NewServed.
type Snapshot struct {
	Model      string // at most 249 bytes, like a topic name
	Epoch      int64  // of the claim under which it was taken; 0 without a model log
	Seq        int64  // of the last BATCH or GAP that it includes; 0 before the first
	Step       int64  // mini-batches learned
	Chain      Hash   // of the model log as of Seq
	Lineage    Hash   // chain over the labelled rows as of the last change of the model
	Rows       Hash   // the same chain as of the last labelled row
	ConfigHash Hash   // where that chain began

	// Config is compact JSON, the options in effect, as package ingest/record encodes them. Its member
	// input, a decode.Config, says how records are read: with the defaults if Config is empty or {}. A
	// learner that continues with the snapshot needs the member learner as well.
	Config []byte

	// Schema is compact JSON, the decoder's state: a decode.Schema. It has the names of the inputs
	// in Columns, the Task, the names of the classes in Classes, by their indices, and in Types the
	// types of the columns unless all are numeric. Whoever predicts needs all of them. It may be
	// empty only for a model that has seen no row.
	Schema []byte

	State learner.State

	Positions []Position // positions in the input after the last record decided, sorted by topic and partition
	LearnedTo []Position // the same, after the last record that the served model has learned from

	Info Info

	// StateHash is the hash that Decode read; for a whole file, it is verified.
	// Append computes the hash and ignores this field.
	StateHash Hash
}

// HeadBytes is the number of bytes at the beginning of a file that Is needs to decide.
const HeadBytes = len(magic)

// Is reports whether a file that begins with head is a snapshot.
func Is(head []byte) bool { return strings.HasPrefix(string(head), magic) }

// Size returns the approximate size of the file of s in bytes.
func (s *Snapshot) Size() int64 {
	n := int64(len(s.Config) + len(s.Schema) + 4096)
	for _, as := range [][]learner.Array{s.State.Serving, s.State.Resuming} {
		for _, a := range as {
			bytes, _ := typeOf(a.Data).bytes(int64(a.Shape[0]), int64(a.Shape[1]))
			n += bytes + 128
		}
	}
	return n
}

// Position is the place in a partition from which reading continues.
type Position struct {
	Topic       string  `json:"topic"`
	TopicID     TopicID `json:"topic_id"`
	Partition   int32   `json:"partition"`
	Next        int64   `json:"next"`               // offset of the first record not yet decided
	Fingerprint uint64  `json:"fingerprint,string"` // of the record before it
}

// Info describes how a snapshot was written, not the model. Two files that differ only in Info hold
// the same snapshot.
type Info struct {
	Writer string // program and version
	Time   int64  // milliseconds since 1970
}

// The errors that a caller decides on. Every error of this package about the
// bytes of its input wraps exactly one of them.
var (
	ErrTooNew    = errors.New("written by a later version of Accrete")
	ErrCorrupt   = errors.New("damaged")
	ErrTruncated = errors.New("truncated")
	ErrLimit     = errors.New("over the size limit")
	ErrMismatch  = errors.New("parts that do not belong together")
)

// Hash is a SHA-256.
type Hash [32]byte

func (h Hash) String() string                { return hex.EncodeToString(h[:]) }
func (h Hash) MarshalText() ([]byte, error)  { return hex.AppendEncode(nil, h[:]), nil }
func (h *Hash) UnmarshalText(b []byte) error { return unhex(h[:], b) }

// ID is a random or hashed name, unique for all purposes.
type ID [16]byte

func (id ID) String() string                { return hex.EncodeToString(id[:]) }
func (id ID) MarshalText() ([]byte, error)  { return hex.AppendEncode(nil, id[:]), nil }
func (id *ID) UnmarshalText(b []byte) error { return unhex(id[:], b) }

func unhex(dst, src []byte) error {
	if len(src) != 2*len(dst) {
		return fmt.Errorf("%d hex digits, want %d", len(src), 2*len(dst))
	}
	_, err := hex.Decode(dst, src)
	return err
}

// TopicID is the id that Kafka gave a topic. It is printed as the tools of Kafka print it.
type TopicID [16]byte

func (id TopicID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }
func (id TopicID) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, id[:]), nil
}
func (id *TopicID) UnmarshalText(b []byte) error {
	if len(b) != 22 {
		return fmt.Errorf("topic id of %d characters, want 22", len(b))
	}
	_, err := base64.RawURLEncoding.Strict().Decode(id[:], b)
	return err
}

// Compare orders positions by topic, then partition.
func (p Position) Compare(q Position) int {
	if c := strings.Compare(p.Topic, q.Topic); c != 0 {
		return c
	}
	return int(p.Partition) - int(q.Partition)
}
