// Package backup reads and writes the history of a model as a file. The file has the records of a
// model log that count, without the claims under which they were written, so that they can be
// written to another log.
//
// A file is compressed with gzip and has a JSON object on each line: a Header; for each record, its
// offset and time in the log, its type, and its value; and a trailer with the number of records and
// the SHA-256 of all lines before it. FORMAT.md beside package modellog has the details.
package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

const (
	format  = "accrete export"
	version = 1

	maxLine = 2 << 20 // bytes; the largest value, that of a CHUNK, takes less than half of it in base64
)

// Header describes the history in a file.
type Header struct {
	Format  string           `json:"format"`
	Version int              `json:"version"`
	Model   string           `json:"model"`
	Writer  string           `json:"writer"` // version of the program, for people
	Time    time.Time        `json:"time"`
	TopicID snapshot.TopicID `json:"topic_id"` // of the log; zero if the broker has none
	Begin   Begin            `json:"begin"`
	Seq     int64            `json:"seq"` // last seq
	Chain   snapshot.Hash    `json:"chain"`

	Snapshot *Snapshot `json:"snapshot,omitempty"` // the newest snapshot; nil if there is none
}

// Begin is the place at which the records begin: the beginning of the model, or its oldest snapshot
// if the log was trimmed.
type Begin struct {
	Seq   int64         `json:"seq"`
	Chain snapshot.Hash `json:"chain,omitzero"`
	modellog.Versions
	Config json.RawMessage `json:"config,omitempty"` // configuration in effect at that place
}

// Snapshot identifies the newest snapshot.
type Snapshot struct {
	Seq       int64         `json:"seq"`
	Step      int64         `json:"step"`
	StateHash snapshot.Hash `json:"state_hash"`
}

// Record is a record of the log.
type Record struct {
	Offset int64 // in the log that was exported
	Time   int64 // Unix milliseconds
	Size   int   // bytes of the value
	Record modellog.Record
}

// line is a line after the header. Either Record or Chunk has the value. The trailer
// has only Records and SHA256.
type line struct {
	Offset int64           `json:"offset"`
	Time   int64           `json:"time"`
	Type   string          `json:"type"`
	Record json.RawMessage `json:"record,omitempty"`
	Chunk  []byte          `json:"chunk,omitempty"`
}

type trailer struct {
	Records *int64         `json:"records"`
	SHA256  *snapshot.Hash `json:"sha256"`
}

func (h *Header) check() error {
	switch {
	case h.Format != format:
		return fmt.Errorf("%w: not an export of a model log", snapshot.ErrCorrupt)
	case h.Version > version:
		return fmt.Errorf("%w: export of version %d, this program reads up to %d", snapshot.ErrTooNew, h.Version, version)
	case h.Version < 1 || !snapshot.ValidTopic(h.Model) || h.Begin.Seq < 0 || h.Seq < max(h.Begin.Seq, 1) || h.Begin.Arithmetic < 1 || h.Begin.Decoder < 1:
		return fmt.Errorf("%w: version %d, model %.300q, seqs %d to %d, %v", snapshot.ErrCorrupt, h.Version, h.Model, h.Begin.Seq, h.Seq, h.Begin.Versions)
	case h.Begin.Seq == 0 && h.Begin.Chain != (snapshot.Hash{}):
		return fmt.Errorf("%w: a chain before the first decision", snapshot.ErrCorrupt)
	case len(h.Begin.Config) > 0:
		if err := snapshot.CheckConfig(h.Begin.Config); err != nil {
			return fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
		}
	}
	return nil
}

// errUnknown means that a record has members that this program would drop.
var errUnknown = errors.New("it has members that this program does not know")
