package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
)

// released is what the outputs of a model know of its history.
type released struct {
	seq int64 // the highest one found in the newest predictions and markers
	any bool  // there are or were predictions
}

// newestPredictions is how many offsets from the end of each partition of the
// predictions are looked at. Those of a BATCH that was released again may lie
// behind those of a later one.
const newestPredictions = 512

// published reads how far the outputs have come.
func (j *journal) published(ctx context.Context, c Config) (out released, err error) {
	first, end, err := c.Client.Offsets(ctx, PredictionsTopic(c.Model))
	if err != nil && !errors.Is(err, ingest.ErrUnknownTopic) {
		return out, err
	}
	for p := range end {
		out.any = out.any || end[p] > 0
		r := cursor{fetcher: c.Client.Fetcher(PredictionsTopic(c.Model), p), next: -1}
		rs, err := r.take(ctx, max(first[p], end[p]-newestPredictions), end[p], c.Report)
		var lost *ingest.LostRange
		if err != nil && !errors.As(err, &lost) { // retention may take them while we look
			return out, err
		}
		for i := range rs {
			for _, h := range rs[i].Headers {
				if h.Key == "ce_sequence" {
					seq, _ := strconv.ParseInt(string(h.Value), 10, 64)
					out.seq = max(out.seq, seq)
				}
			}
		}
	}
	m, err := (&committer{journal: j, topic: ReleasedTopic(c.Model), report: c.Report}).newest(ctx)
	if err != nil && !errors.Is(err, ingest.ErrUnknownTopic) {
		return out, err
	}
	out.seq, out.any = max(out.seq, m.Seq), out.any || m.Seq > 0
	return out, nil
}

// outlived is an error if the outputs know of more than the log does, which then
// has lost it. Otherwise it returns behind which seq a log that is empty is to
// begin, so that no seq is ever given twice.
func (j *journal) outlived(ctx context.Context, c Config) (seq int64, err error) {
	out, err := j.published(ctx, c)
	if err != nil {
		return 0, err
	}
	if err := j.readOn(ctx, nil); err != nil { // so that it has every BATCH that was released until then
		return 0, err
	}
	f := j.log.Fold
	switch {
	case !f.Seeded():
		return 0, nil // which the claim says
	case f.Claim().Epoch == 0 && out.any && !c.NewModel:
		return 0, fmt.Errorf("%w: %q is empty, and %q has predictions up to seq %d: the log was deleted, or has lost everything; restore the topic from a backup, or begin a new model beside the old predictions with accrete learn --new-model", ErrLog, j.topic, PredictionsTopic(c.Model), out.seq)
	case f.Claim().Epoch == 0:
		return out.seq, nil
	case out.seq > f.Seq() && !f.IsAbandoned(out.seq):
		return 0, fmt.Errorf("%w: %q has lost its tail: it ends at seq %d, and predictions were released up to seq %d; go on from what it still holds with accrete rollback", ErrLog, j.topic, f.Seq(), out.seq)
	}
	return 0, nil
}
