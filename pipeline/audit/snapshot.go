package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// ErrVersion means that the model log does not have a snapshot.
var ErrVersion = errors.New("no such version")

// Snapshot reads a whole snapshot, including the part that a learner resumes from, out of the model
// log of c. version is a step, an RFC 3339 time for the newest snapshot at that time, "champion"
// for the snapshot that scorers serve, or "" for the newest. The error is ErrVersion if there is no
// such snapshot.
func Snapshot(ctx context.Context, c model.Config, version string) (*snapshot.Snapshot, error) {
	c = c.Quiet()
	c.Keep = math.MaxInt
	written := map[int64]time.Time{} // times of the MANIFESTs, by offset
	j, err := journal.OpenComplete(ctx, c, func(rec *ingest.Record, v modellog.Verdict) {
		if _, ok := v.Record.(*modellog.Manifest); ok {
			written[v.Offset] = time.UnixMilli(rec.Time)
		}
	})
	if err != nil {
		return nil, err
	}
	all := j.Log.Fold.Snapshots() // newest first
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %s has no snapshot yet", ErrVersion, j.Topic)
	}
	is, err := named(version, j.Log.Fold, written)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, is)
	if at < 0 {
		return nil, fmt.Errorf("%w as %s in %s, which has %d snapshots of the steps %d to %d", ErrVersion, version, j.Topic, len(all), all[len(all)-1].Manifest.Step, all[0].Manifest.Step)
	}
	return j.Load(ctx, all[at])
}

// named returns the condition that selects the snapshot of a version.
func named(version string, f *modellog.Fold, written map[int64]time.Time) (func(modellog.Stored) bool, error) {
	if version == "" {
		return func(modellog.Stored) bool { return true }, nil
	}
	if version == "champion" {
		served, _ := f.Serves()
		return func(s modellog.Stored) bool { return s.Offset == served.Snapshot.Offset }, nil
	}
	if step, err := strconv.ParseInt(version, 10, 64); err == nil {
		return func(s modellog.Stored) bool { return s.Manifest.Step == step }, nil
	}
	at, err := time.Parse(time.RFC3339, version)
	if err != nil {
		return nil, fmt.Errorf("%w as %.100q: want a step, a time such as 2026-01-02T15:04:05Z, or champion", ErrVersion, version)
	}
	return func(s modellog.Stored) bool { return !written[s.Offset].After(at) }, nil
}
