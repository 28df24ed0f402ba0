package modellog

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/snapshot"
)

// Start describes how a model began, unless it began with the empty state at the first records of
// its inputs. It is part of GENESIS. The chain of GENESIS is the hash of the Start, so that every
// later decision depends on it.
type Start struct {
	Kind   string        `json:"kind"`            // see Starts
	Name   string        `json:"name,omitempty"`  // of the file or the other model, for people
	SHA256 snapshot.Hash `json:"sha256,omitzero"` // of the file
	Rows   int64         `json:"rows,omitempty"`  // number of rows learned from the file

	// For a rebuild: the history of the other model up to Seq was learned again, without the
	// records that one of Without describes.
	Seq     int64         `json:"seq,omitempty"`
	Chain   snapshot.Hash `json:"chain,omitzero"` // of the other model, as of Seq
	Without []string      `json:"without,omitempty"`

	Step      int64         `json:"step"`
	StateHash snapshot.Hash `json:"state_hash"` // hash of the state that learning continues from
	// Positions are the positions of the inputs in that state, sorted by topic and partition. Other
	// inputs begin at their first record.
	Positions []snapshot.Position `json:"positions,omitempty"`
}

// Kinds of a Start.
const (
	StartEmpty    = "empty"    // the empty state, at Positions
	StartFile     = "file"     // the rows of a file
	StartSnapshot = "snapshot" // a snapshot file
	StartRebuild  = "rebuild"  // the history of another model
)

// Starts are the kinds of a Start.
var Starts = []string{StartEmpty, StartFile, StartSnapshot, StartRebuild}

// Hash returns the chain that a history with this Start begins with: the SHA-256 of
// "accrete start 1", a zero byte, and s as compact JSON.
func (s *Start) Hash() snapshot.Hash {
	var b bytes.Buffer
	b.WriteString("accrete start 1\x00")
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // a Start has no values that JSON cannot hold
		panic(err)
	}
	return sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// Is reports whether s and t begin with the same source, whatever their positions.
func (s *Start) Is(t *Start) bool {
	return s.Kind == t.Kind && s.SHA256 == t.SHA256 && s.Seq == t.Seq && s.Chain == t.Chain && slices.Equal(s.Without, t.Without)
}

func (s *Start) String() string {
	switch s.Kind {
	case StartFile:
		return fmt.Sprintf("the file %q (SHA-256 %.16s…, %d rows)", s.Name, s.SHA256, s.Rows)
	case StartSnapshot:
		return fmt.Sprintf("the snapshot %q (SHA-256 %.16s…)", s.Name, s.SHA256)
	case StartRebuild:
		return fmt.Sprintf("the history of model %q up to seq %d without %q", s.Name, s.Seq, s.Without)
	}
	return "the empty state at given positions"
}

// maxWithout bounds the number of filters in Without.
const maxWithout = 64

func (s *Start) check() error {
	if !slices.Contains(Starts, s.Kind) || len(s.Name) > maxText || s.Rows < 0 || s.Seq < 0 || s.Step < 0 || len(s.Without) > maxWithout {
		return fmt.Errorf("start of kind %.300q, name of %d bytes, %d rows, seq %d, step %d, without %d", s.Kind, len(s.Name), s.Rows, s.Seq, s.Step, len(s.Without))
	}
	for i, p := range s.Positions {
		if !snapshot.ValidTopic(p.Topic) || p.Partition < 0 || p.Next < 0 || i > 0 && s.Positions[i-1].Compare(p) >= 0 {
			return fmt.Errorf("start at position %d of %.300q/%d, or not sorted", p.Next, p.Topic, p.Partition)
		}
	}
	return nil
}
