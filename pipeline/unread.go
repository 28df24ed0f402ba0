package pipeline

import (
	"errors"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
)

// Unread are decisions whose input does not exist any more.
type Unread struct {
	FromSeq int64  `json:"from_seq"`
	ToSeq   int64  `json:"to_seq"`
	Why     string `json:"why"`
}

// pause states that the decisions from seq on cannot be replayed.
func (v *Verification) pause(seq int64, why error) {
	if n := len(v.Unread); n == 0 || v.Unread[n-1].ToSeq > 0 {
		v.Unread = append(v.Unread, Unread{FromSeq: seq, Why: why.Error()})
	}
}

// resume states that the decisions after seq can be replayed.
func (v *Verification) resume(seq int64) {
	n := len(v.Unread)
	if n == 0 || v.Unread[n-1].ToSeq > 0 {
		return
	}
	if last := &v.Unread[n-1]; last.FromSeq <= seq {
		last.ToSeq = seq
	} else {
		v.Unread = v.Unread[:n-1]
	}
}

// gone reports whether err means that the input of a BATCH was deleted, or that its
// topic was created again or replaced.
func gone(err error) bool {
	var gap *ingest.GapError
	return errors.As(err, &gap) || errors.Is(err, input.ErrRecreated) || errors.Is(err, input.ErrReplaced)
}
