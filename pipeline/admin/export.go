package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/internal/transfer"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/backup"
)

// ErrCopy means that a model log cannot be exported, or that a model cannot be imported
// to it.
var ErrCopy = transfer.Err

// Copy is the result of an export or import. Its fields are:
//
//	Header  backup.Header
//	Records int64
//	SHA256  snapshot.Hash // of the uncompressed records
//	Signed  bool          // an import: the records in the file had signatures
type Copy = transfer.Result

// Export writes the history of a model to a file: all records of the log that count, up to the end
// of the log at the time of the call. It writes nothing to the log. A learner may run at the same
// time.
func Export(ctx context.Context, c model.Config, to io.Writer) (Copy, error) {
	c = c.Quiet()
	c.Keep = math.MaxInt
	j, err := journal.OpenComplete(ctx, c, nil)
	if err != nil {
		return Copy{}, err
	}
	if _, err := j.Outlived(ctx, c); err != nil { // otherwise the export would lack the end of the history
		return Copy{}, err
	}
	f := j.Log.Fold
	if f.Claim().Epoch == 0 || f.Seq() == 0 {
		return Copy{}, fmt.Errorf("%w: %q has no decisions yet", ErrCopy, j.Topic)
	}
	h := backup.Header{
		Model: c.Model, Writer: c.Writer, Time: time.Now().UTC().Truncate(time.Second), TopicID: f.Genesis().TopicID,
		Seq: f.Seq(), Chain: f.Chain(),
	}
	if s := f.Snapshots(); len(s) > 0 {
		m := s[0].Manifest
		h.Snapshot = &backup.Snapshot{Seq: m.Seq, Step: m.Step, StateHash: m.StateHash}
	}
	keep, end := transfer.Kept(f), j.Log.Next()
	begin, err := beginningOf(j, c, &h)
	if err != nil {
		return Copy{}, err
	}
	w, err := backup.NewWriter(to, h)
	if err != nil {
		return Copy{}, err
	}
	if begin == nil {
		j.Log.Rewind(0)
	} else {
		j.Log.Rewind(begin.Start.Offset)
		j.Log.Fold = begin.fold
	}
	var failed error
	err = j.Log.ReadOn(ctx, func(r *ingest.Record, v modellog.Verdict) {
		if failed == nil && r.Offset < end && v.Counts() && keep.Has(v) {
			failed = w.Add(r.Offset, r.Time, r.Key, r.Value)
		}
	})
	var gap *ingest.GapError
	if errors.As(err, &gap) {
		return Copy{}, fmt.Errorf("the learner deleted old history from %q in the meantime, try again: %w", j.Topic, err)
	}
	if err = errors.Join(err, failed); err != nil {
		return Copy{}, err
	}
	out := Copy{Header: h}
	out.Records, out.SHA256, err = w.Close()
	return out, err
}

// beginning is the MANIFEST at which the history of a trimmed log begins.
type beginning struct {
	*modellog.Manifest
	fold *modellog.Fold
}

// beginningOf sets h.Begin to the place where the history in the log begins. It returns nil if the
// log still has the beginning of the model.
func beginningOf(j *journal.Journal, c model.Config, h *backup.Header) (*beginning, error) {
	f := j.Log.Fold
	snapshots := f.Snapshots()
	if from, ok := f.Recover(len(snapshots)); ok {
		h.Begin = backup.Begin{Seq: from.Seq, Chain: from.Chain, Versions: from.Versions}
		return nil, nil
	}
	if len(snapshots) == 0 {
		return nil, fmt.Errorf("%w: %q has neither its beginning nor a complete snapshot", ErrCopy, j.Topic)
	}
	m := snapshots[len(snapshots)-1].Manifest
	v, _ := f.VersionsAt(m.Seq)
	h.Begin = backup.Begin{Seq: m.Seq, Chain: m.Chain, Versions: v, Config: m.Config}
	var options []modellog.Option
	if c.VerifyKey != nil {
		options = append(options, modellog.WithKey(c.VerifyKey))
	}
	return &beginning{m, modellog.FoldAt(m, math.MaxInt, options...)}, nil
}
