package pipeline

import (
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/memory"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// bound tracks the memory limit of a learner. It reports the limit before anything is read, so that
// the garbage collector keeps to it from the start, and again whenever it grows or the options of
// an existing model lower it.
type bound struct {
	memory.Estimate
	report func(event.Event)
	last   int64 // limit that was reported last
}

// newBound returns the limit of a learner that has read nothing yet.
func newBound(c model.Config) (*bound, error) {
	b := &bound{report: c.Report}
	return b, b.of(c)
}

// of updates the limit for the options of c. It is called again once the log of an existing model
// was read, because the limit may be lower with the options that the model keeps.
func (b *bound) of(c model.Config) error {
	features, err := c.Learner.Effective()
	if err != nil {
		return err
	}
	before := b.Limit()
	b.Model, b.Features, b.Learners = features, int64(features.MaxFeatures), 1
	b.Factors = b.Features*int64(features.FeatureBytes()) + int64(features.ForestBytes()+features.VarianceBytes())
	more, bytes := features.MixtureFeatures()
	b.Features += int64(more)
	b.Factors += int64(more) * int64(bytes)
	if c.Decode.Adopt { // adopted columns are learned by a second model
		b.Features, b.Factors, b.Learners = 2*b.Features, 2*b.Factors, 2
	}
	if c.Refit.Every > 0 {
		b.Refit = memory.Refit(c.Refit.Window, features.MaxFeatures)
	}
	if b.Limit() < before {
		b.last = 0
	}
	b.tell()
	return nil
}

// restores updates the limit for the snapshots in a log, one of which is about to be read.
func (b *bound) restores(f *modellog.Fold) {
	for _, s := range f.Snapshots() {
		b.saves(s.Manifest.Size)
	}
}

// saves updates the limit for a snapshot of that many bytes.
func (b *bound) saves(size int64) {
	b.Snapshot = max(b.Snapshot, size)
	b.tell()
}

// has updates the limit for the contents of a history: its inputs, the rows that wait for labels,
// and the tables.
func (b *bound) has(h *history.History) {
	b.Encodes(h.Learner.Encoding())
	if s, ok := h.Late(); ok {
		b.Waits(s.Bytes)
	}
	b.Enriches(bytesOf(h.Tables()))
	b.tell()
}

// learns updates the limit for a BATCH that is about to be learned, and for the records that were
// read ahead.
func (b *bound) learns(d *history.Decided, read *ingest.Budget) {
	b.Decides(d)
	b.Reads(read.Most())
	b.tell()
}

// learned updates the limit for the contents of a history after a BATCH, and for the publication
// that the BATCH leads to.
func (b *bound) learned(h *history.History, out *history.Publication) {
	b.Publishes(out)
	b.has(h)
}

func (b *bound) tell() {
	if limit := b.Limit(); limit > b.last {
		b.last = limit
		b.report(event.Memory{Limit: limit})
	}
}
