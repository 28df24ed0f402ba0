package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Replayer decides BATCHes of the model log again.
type Replayer struct {
	inputs  input.Partitions
	cursors *input.Cursors
	decider *Decider
	report  func(event.Event)
	Former  input.Former // topics that were replaced later in the history
}

// NewReplayer returns a Replayer that reads ahead within the budget b.
func NewReplayer(c *ingest.Client, ins input.Partitions, d *Decider, b *ingest.Budget, report func(event.Event)) *Replayer {
	return &Replayer{inputs: ins, cursors: input.NewCursors(c, b), decider: d, report: report}
}

// Close returns to the budget what was read ahead.
func (r *Replayer) Close() { r.cursors.Close() }

// Decide reads the records of b again and decides them as they were decided first. It returns
// ErrHistory if the input topics now have other records.
func (r *Replayer) Decide(ctx context.Context, b *modellog.Batch) (*Decided, error) {
	spans := make([]input.Span, 0, len(b.Ranges))
	for _, rg := range b.Ranges {
		in := r.inputs.Find(rg.Topic, rg.Partition)
		if (in == nil || !ingest.SameTopic(in.ID, rg.TopicID)) && r.Former.Has(rg.Topic, rg.TopicID) {
			return nil, fmt.Errorf("%w: BATCH %d has records of %s/%d, a topic that was replaced: %w", input.ErrHistory, b.Seq, rg.Topic, rg.Partition, input.ErrReplaced)
		}
		if in == nil {
			return nil, fmt.Errorf("%w: BATCH %d has records of %s/%d, which is not among the inputs: add the topic to input.topics again", input.ErrHistory, b.Seq, rg.Topic, rg.Partition)
		}
		if !ingest.SameTopic(in.ID, rg.TopicID) {
			return nil, input.Recreated(rg.Topic)
		}
		records, err := r.cursors.Take(ctx, in, rg.From, rg.To, r.report)
		var lost *ingest.GapError
		var past *ingest.PastEnd
		if errors.As(err, &lost) || errors.As(err, &past) {
			return nil, fmt.Errorf("%w: BATCH %d needs offsets %d to %d of %v: %w", input.ErrHistory, b.Seq, rg.From, rg.To, in, err)
		}
		if err != nil {
			return nil, err
		}
		spans = append(spans, input.Span{In: in, From: rg.From, To: rg.To, Records: records})
	}
	r.decider.know(b.Schemas)
	r.decider.renamed(b.Renames)
	if err := r.decider.Change(tableChanges(b)); err != nil {
		return nil, fmt.Errorf("%w: the changes of tables in BATCH %d cannot be applied: %w", input.ErrHistory, b.Seq, err)
	}
	d := r.decider.Decide(spans)
	d.Form = record.Form{}
	if o := b.Output; o != nil {
		if _, text := record.Schema(o.Format); text == "" {
			return nil, fmt.Errorf("%w: BATCH %d has predictions of the format %q, which this version cannot write", input.ErrHistory, b.Seq, o.Format)
		}
		d.Form = record.Form{Format: o.Format, ID: o.Schema}
	}
	for i := range d.Ranges {
		d.Ranges[i].TopicID = b.Ranges[i].TopicID // an upgrade of the broker may have assigned it since
		rg := d.Ranges[i]
		if want := b.Ranges[i]; rg != want && !planted.Fault("digest") {
			return nil, fmt.Errorf("%w: BATCH %d was decided on %d records of %s/%d with digest %016x, but the topic now has %d records with digest %016x there", input.ErrHistory, b.Seq, want.Records, want.Topic, want.Partition, want.Digest, rg.Records, rg.Digest)
		}
	}
	if d.Counts != b.Counts {
		return nil, fmt.Errorf("%w: BATCH %d was decided as %+v, but is now %+v: this version reads the records differently", input.ErrHistory, b.Seq, b.Counts, d.Counts)
	}
	return d, nil
}

// Skip returns ErrHistory if the topic of a GAP was deleted and created again, unless the new one has
// replaced it.
func (r *Replayer) Skip(g *modellog.Gap) error {
	if in := r.inputs.Find(g.Topic, g.Partition); in != nil && !ingest.SameTopic(in.ID, g.TopicID) && !r.Former.Has(g.Topic, g.TopicID) {
		return input.Recreated(g.Topic)
	}
	return nil
}
