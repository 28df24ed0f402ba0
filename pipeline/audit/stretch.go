package audit

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Stretch is a part of the history of a model that was decided by programs of the same versions.
type Stretch struct {
	FromSeq int64 `json:"from_seq"`
	ToSeq   int64 `json:"to_seq"`
	modellog.Versions
	Verified bool `json:"verified"` // this verification has verified at least a part of it
}

// stretches divides the history in a fold by the versions that decided it.
func stretches(f *modellog.Fold) (out []Stretch) {
	from, ok := f.Oldest()
	if !ok {
		return nil
	}
	now := Stretch{FromSeq: from.Seq + 1, ToSeq: from.Seq, Versions: from.Versions}
	for _, e := range from.Entries {
		if u, ok := e.Record.(*modellog.Upgrade); ok {
			if now.ToSeq >= now.FromSeq {
				out = append(out, now)
			}
			now = Stretch{FromSeq: u.Seq, Versions: u.Versions}
		}
		if seq, _, ok := modellog.Decided(e.Record); ok {
			now.ToSeq = seq
		}
	}
	if now.ToSeq >= now.FromSeq {
		out = append(out, now)
	}
	return out
}

// decided reports whether this program can replay the first decision after from.
func decided(c model.Config, from modellog.Recovery) bool {
	for _, e := range from.Entries {
		switch r := e.Record.(type) {
		case *modellog.Upgrade:
			return r.Versions == c.Versions()
		case *modellog.Batch:
			return from.Versions == c.Versions()
		}
	}
	return from.Versions == c.Versions()
}

// newestManifest is the last MANIFEST of a log, and the reason if it is void.
type newestManifest struct {
	manifest *modellog.Manifest
	void     string
}

func (n *newestManifest) see(_ *ingest.Record, v modellog.Verdict) {
	if m, ok := v.Record.(*modellog.Manifest); ok {
		n.manifest, n.void = m, v.Void
	}
}

// unreached returns the reason why the newest MANIFEST was not verified, or "" if it was. A
// MANIFEST that was written under an old claim, or twice, is void as intended, and does not matter.
func (n *newestManifest) unreached(f *modellog.Fold, to int64) string {
	m := n.manifest
	if m == nil {
		return ""
	}
	if n.void != "" && m.Owner == f.Claim().Owner && !slices.ContainsFunc(f.Snapshots(), func(s modellog.Stored) bool { return s.Manifest.Snapshot == m.Snapshot }) {
		return fmt.Sprintf("the newest MANIFEST (seq %d) is void: %s", m.Seq, n.void)
	}
	if newest := f.Snapshots(); len(newest) > 0 && newest[0].Manifest.Seq > to {
		return fmt.Sprintf("the newest MANIFEST is at seq %d, but the history could be replayed only up to seq %d", newest[0].Manifest.Seq, to)
	}
	return ""
}

// Unread are decisions whose input does not exist any more.
type Unread struct {
	FromSeq int64  `json:"from_seq"`
	ToSeq   int64  `json:"to_seq"`
	Why     string `json:"why"`
}

// pause records that the decisions from seq on cannot be replayed.
func (v *Verification) pause(seq int64, why error) {
	if n := len(v.Unread); n == 0 || v.Unread[n-1].ToSeq > 0 {
		v.Unread = append(v.Unread, Unread{FromSeq: seq, Why: why.Error()})
	}
}

// resume records that the decisions after seq can be replayed.
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
