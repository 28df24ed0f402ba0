package serve

import (
	"context"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
)

// worker scores one partition. It must not be used concurrently.
type worker struct {
	*Scorer
	part
	member   *ingest.Member
	producer *ingest.Producer

	model   *Served // the model of decoder and encoder
	decoder *decode.Decoder
	encoder *record.Encoder
	batch   learner.Batch
}

const scoreAtOnce = 1000 // records

// answer writes the scores for the fetched records.
func (w *worker) answer(ctx context.Context, got ingest.Fetched) error {
	for rs := got.Records; len(rs) > 0; {
		n := min(scoreAtOnce, len(rs))
		scored, bad, err := w.some(ctx, rs[:n])
		if err != nil {
			return err
		}
		w.next = rs[n-1].Offset + 1
		if rs = rs[n:]; len(rs) == 0 {
			w.next = got.Next
		}
		w.config.Report(Scored{w.topic, w.partition, scored, bad, w.next, got.HighWatermark, got.End})
	}
	if w.next < got.Next || len(got.Records) == 0 { // no records for a read_committed consumer
		w.next = got.Next
		w.config.Report(Scored{w.topic, w.partition, 0, 0, w.next, got.HighWatermark, got.End})
	}
	return nil
}

func (w *worker) some(ctx context.Context, rs []ingest.Record) (scored, bad int, err error) {
	if m := w.Model(); m != w.model {
		if err := w.use(m); err != nil {
			return 0, 0, err
		}
	}
	if _, err := record.Learn(ctx, w.decoder, rs, w.config.Schemas, func(err error) { w.config.Report(Retrying{err}) }); err != nil {
		return 0, 0, err
	}
	var good []record.Example
	var quarantined []ingest.Record
	w.batch.Reset(len(w.model.Schema.Columns))
	for i := range rs {
		if record.IsLabel(w.decoder, w.topic, &rs[i]) {
			continue // of features that came before, and the learner's to read
		}
		row, err := record.Decode(w.decoder, &rs[i])
		if err != nil {
			quarantined = append(quarantined, record.Quarantined(w.topic, int32(w.partition), &rs[i], err, w.config.Values, w.config.Passed.Redact, w.quarantine.MaxMessageBytes))
			continue
		}
		good = append(good, record.Example{Topic: w.topic, Partition: int32(w.partition), Record: &rs[i], Key: row.Key})
		w.batch.Append(row.X, learner.Label{}, row.Weight)
		w.batch.SetWindows(row.Windows)
		if w.model.Keyed() {
			w.batch.SetKey(string(row.Key))
		}
	}
	answers := w.model.Predict(&w.batch)
	out := make([]ingest.Record, len(good))
	for i, x := range good {
		x.Decision, x.Intervals, x.Quantiles, x.Mixture = answers.Decision, answers.Uncertainty(i), answers.Quantiles, answers.Mixture
		out[i] = w.encoder.Record(x, answers.Task, answers.Row(i))
	}
	if len(quarantined) > 0 {
		if err := w.producer.Publish(ctx, w.config.Quarantine, 0, quarantined); err != nil {
			return 0, 0, err
		}
	}
	if len(out) > 0 {
		if err := w.producer.Publish(ctx, w.config.Output, w.partition%w.output.Partitions, out); err != nil {
			return 0, 0, err
		}
	}
	return len(good), len(quarantined), nil
}

// use makes m the model of the worker.
func (w *worker) use(m *Served) error {
	d, err := decode.New(m.Decode, m.Schema)
	if err != nil {
		return err
	}
	w.model, w.decoder, w.encoder = m, d, record.NewEncoder(m.ID, m.Schema.Classes, w.output.MaxMessageBytes).OfScorer().Passing(w.config.Passed).In(w.config.Form)
	return nil
}

// commit commits the position for the next scorer of the partition, and reports
// whether it succeeded. If it fails, some records may be scored twice.
func (w *worker) commit(ctx context.Context) bool {
	offsets := make([]int64, w.partition+1)
	for i := range offsets {
		offsets[i] = -1
	}
	offsets[w.partition] = w.next
	err := w.member.Commit(ctx, map[string][]int64{w.topic: offsets})
	if err != nil && ctx.Err() == nil {
		w.config.Report(Retrying{err})
	}
	return err == nil
}
