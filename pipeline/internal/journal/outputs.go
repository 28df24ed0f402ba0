package journal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// Outputs describes how far the output topics of a model show its history.
type Outputs struct {
	Seq int64 // highest seq among the newest predictions and markers
	Any bool  // there are or were predictions
}

// PredictionsAtOnce is the number of offsets that are read first, at the end of each partition of
// the predictions topic.
const PredictionsAtOnce = 512

// Published reads from the output topics up to which seq a model has published. released is the seq
// of the last RELEASED: all predictions up to it were published before the log said so.
//
// A successor publishes again what it cannot know to have been published, and may be killed before
// it has reached the last seq. Therefore each partition is read backwards until a prediction of a
// released seq is found: everything after the first prediction of an unreleased seq has then been
// read.
func (j *Journal) Published(ctx context.Context, c model.Config, released int64) (out Outputs, err error) {
	first, end, err := input.Offsets(ctx, c.Client, model.PredictionsTopic(c.Model), c.Report)
	if err != nil && !errors.Is(err, ingest.ErrUnknownTopic) {
		return out, err
	}
	for p := range end {
		out.Any = out.Any || end[p] > 0
		f := c.Client.Fetcher(model.PredictionsTopic(c.Model), p)
		for to, back := end[p], int64(PredictionsAtOnce); to > first[p]; back *= 2 {
			from := max(first[p], to-min(back, maxPredictions))
			lowest, highest, err := seqRange(ctx, f, from, to, c.Report)
			var lost *ingest.GapError
			if errors.As(err, &lost) { // deleted by retention in the meantime
				break
			}
			if err != nil {
				return out, err
			}
			if out.Seq = max(out.Seq, highest); lowest <= released {
				break
			}
			to = from
		}
	}
	m, err := j.NewestMarker(ctx)
	none := errors.Is(err, ingest.ErrUnknownTopic) || !c.Transactional && errors.Is(err, ingest.ErrDenied) // who writes no markers may lack the permission to read them
	if err != nil && !none {
		return out, err
	}
	out.Seq, out.Any = max(out.Seq, m.Seq), out.Any || m.Seq > 0
	return out, nil
}

// maxPredictions is the maximum number of offsets that are read at once.
const maxPredictions = 1 << 16

// seqRange returns the lowest and the highest seq of the predictions in [from, to). Predictions
// without a seq were written by an early release, and count as 0. If there are no predictions,
// lowest is math.MaxInt64.
func seqRange(ctx context.Context, f *ingest.Fetcher, from, to int64, report func(event.Event)) (lowest, highest int64, err error) {
	lowest = math.MaxInt64
	rs, err := input.NewCursor(f).Take(ctx, from, to, report)
	for i := range rs {
		seq := int64(0)
		for _, h := range rs[i].Headers {
			if h.Key == "ce_sequence" {
				seq, _ = strconv.ParseInt(string(h.Value), 10, 64)
			}
		}
		lowest, highest = min(lowest, seq), max(highest, seq)
	}
	return lowest, highest, err
}

// Outlived returns kafkalog.ErrLog if the outputs have a later seq than the log, because the log
// has then lost records. Otherwise it returns the seq after which an empty log has to begin, so
// that no seq is used twice.
func (j *Journal) Outlived(ctx context.Context, c model.Config) (seq int64, err error) {
	if err := j.ReadOn(ctx, nil); err != nil {
		return 0, err
	}
	out, err := j.Published(ctx, c, j.Log.Fold.Released())
	if err != nil {
		return 0, err
	}
	if err := j.ReadOn(ctx, nil); err != nil { // to read every BATCH whose predictions Published has seen
		return 0, err
	}
	f := j.Log.Fold
	switch {
	case !f.Seeded():
		return 0, nil // Claim returns the error
	case f.Claim().Epoch == 0 && out.Any && !c.NewModel:
		return 0, fmt.Errorf("%w: %q is empty, but %q has predictions up to seq %d: the log was deleted or lost all records; restore it from an export with accrete import, or start a new model beside the old predictions with accrete learn --new-model", kafkalog.ErrLog, j.Topic, model.PredictionsTopic(c.Model), out.Seq)
	case f.Claim().Epoch == 0:
		return out.Seq, nil
	case out.Seq > f.Seq() && !f.IsAbandoned(out.Seq) && !planted.Fault("outlived"):
		return 0, fmt.Errorf("%w: %q has lost its tail: it ends at seq %d, but predictions were published up to seq %d; continue from the records that remain with accrete rollback", kafkalog.ErrLog, j.Topic, f.Seq(), out.Seq)
	}
	return 0, nil
}
