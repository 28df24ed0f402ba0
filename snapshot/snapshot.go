// Package snapshot is what a model leaves behind: the snapshot file and the state
// hash. FORMAT.md says what every byte is. Package modellog has the log that
// carries such files in Kafka.
package snapshot

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// Snapshot is a model, and where it stood in its history and in its input.
type Snapshot struct {
	Model      string // at most 249 bytes, as a topic's name
	Epoch      int64  // of the claim under which it was taken; 0 without a model log
	Seq        int64  // BATCH or GAP of the model log that it stands behind; 0 before the first
	Step       int64  // mini-batches learned
	Chain      Hash   // of the model log as of Seq
	Lineage    Hash   // chain over the labelled rows as of the last change of the model
	Rows       Hash   // the same chain as of the last labelled row
	ConfigHash Hash   // where that chain began
	Config     []byte // compact JSON, the options in force
	Schema     []byte // compact JSON, the decoder's state
	State      learner.State

	Positions []Position // of the input, behind the last record decided; by topic and partition
	LearnedTo []Position // the same, behind the last record that the served model has learned from

	Info Info

	// StateHash is what Decode found and, for a whole file, has verified. Append
	// computes it and does not read this field.
	StateHash Hash
}

// Size is about how many bytes the file of s has.
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

// Position is where the reading of a partition goes on.
type Position struct {
	Topic       string  `json:"topic"`
	TopicID     TopicID `json:"topic_id"`
	Partition   int32   `json:"partition"`
	Next        int64   `json:"next"`               // offset of the first record not yet decided
	Fingerprint uint64  `json:"fingerprint,string"` // of the record before it
}

// Info is about the writing of a snapshot and not about the model. Two files
// that differ in nothing else hold the same snapshot.
type Info struct {
	Writer string // program and version
	Time   int64  // milliseconds since 1970
}

// What a caller decides on. Every error of this package that is about the bytes
// it was given wraps exactly one of them.
var (
	ErrTooNew    = errors.New("written by a later version of Accrete")
	ErrCorrupt   = errors.New("damaged")
	ErrTruncated = errors.New("cut short")
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

// TopicID is the id that Kafka gave a topic, spelled as Kafka's tools spell it.
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
