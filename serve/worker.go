package serve

import (
	"context"
	"slices"
	"time"

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

	main, canary predictor
}

const scoreAtOnce = 1000 // records

// answer writes the scores for the fetched records.
func (w *worker) answer(ctx context.Context, got ingest.Fetched) error {
	for rs := got.Records; len(rs) > 0; {
		n := min(scoreAtOnce, len(rs))
		began := time.Now()
		scored, bad, err := w.some(ctx, rs[:n])
		if err != nil {
			return err
		}
		var traces []record.Trace
		for i := 0; w.config.Traced && i < n; i++ {
			traces = record.AddTrace(traces, w.topic, &rs[i])
		}
		w.next = rs[n-1].Offset + 1
		if rs = rs[n:]; len(rs) == 0 {
			w.next = got.Next
		}
		w.config.Report(Scored{w.topic, w.partition, scored, bad, w.next, got.HighWatermark, got.End, traces, time.Since(began)})
	}
	if w.next < got.Next || len(got.Records) == 0 { // the last offsets have no records for a read-committed consumer
		w.next = got.Next
		w.config.Report(Scored{Topic: w.topic, Partition: w.partition, Next: w.next, End: got.HighWatermark, Stable: got.End})
	}
	return nil
}

func (w *worker) some(ctx context.Context, rs []ingest.Record) (scored, bad int, err error) {
	canary, err := w.prepare(ctx, rs)
	if err != nil {
		return 0, 0, err
	}
	out, beside, refused := make([]ingest.Record, len(rs)), make([]ingest.Record, len(rs)), 0
	var quarantined []ingest.Record
	labels := 0
	for i := range rs {
		if record.IsLabel(w.main.decoder, w.topic, &rs[i]) {
			labels++ // belongs to features in an earlier record; only the learner reads it
			continue
		}
		if canary && w.config.Canary.Chooses(rs[i].Key, rs[i].Value) {
			if err := w.canary.take(i, w.topic, w.partition, &rs[i]); err != nil {
				refused++
			} else if w.config.Canary.Shadow == "" {
				continue
			}
		}
		if err := w.main.take(i, w.topic, w.partition, &rs[i]); err != nil {
			quarantined = append(quarantined, record.Quarantined(w.topic, int32(w.partition), &rs[i], err, w.config.Values, w.config.Passed.Redact, w.quarantine.MaxMessageBytes))
		}
	}
	if records := w.main.decoder.WithoutRow(); records != nil {
		ev := WithoutRow{Records: records}
		for _, c := range w.main.model.Decode.Tables {
			ev.Tables = append(ev.Tables, c.Name())
		}
		w.config.Report(ev)
	}
	w.main.answer(out)
	if canary {
		if w.config.Canary.Shadow == "" {
			w.canary.answer(out)
		} else {
			w.canary.answer(beside)
		}
		w.config.Report(CanaryScored{Scored: len(w.canary.taken), Refused: refused})
	}
	if len(quarantined) > 0 {
		if err := w.producer.Publish(ctx, w.config.Quarantine, 0, quarantined); err != nil {
			return 0, 0, err
		}
	}
	for _, to := range []struct {
		topic      string
		partitions int
		records    []ingest.Record
	}{{w.config.Output, w.output.Partitions, out}, {w.config.Canary.Shadow, w.shadow.Partitions, beside}} {
		to.records = slices.DeleteFunc(to.records, func(r ingest.Record) bool { return r.Value == nil })
		if len(to.records) == 0 {
			continue
		}
		if err := w.producer.Publish(ctx, to.topic, w.partition%to.partitions, to.records); err != nil {
			return 0, 0, err
		}
	}
	return len(rs) - labels - len(quarantined), len(quarantined), nil
}

// prepare switches the predictors to the current models, and gives their decoders the schemas
// that the records need. It reports whether the canary can predict.
func (w *worker) prepare(ctx context.Context, rs []ingest.Record) (canary bool, err error) {
	predictors := []*predictor{&w.main}
	if err := w.main.use(w.Model(), w.output.MaxMessageBytes, &w.config); err != nil {
		return false, err
	}
	if m := w.CanaryModel(); m != nil {
		limit := w.output.MaxMessageBytes
		if w.config.Canary.Shadow != "" {
			limit = w.shadow.MaxMessageBytes
		}
		if err := w.canary.use(m, limit, &w.config); err != nil {
			w.config.Report(CanaryFailed{err})
		} else {
			predictors = append(predictors, &w.canary)
		}
	}
	for _, p := range predictors {
		if _, err := record.Learn(ctx, p.decoder, rs, w.config.Schemas, func(err error) { w.config.Report(Retrying{Err: err}) }); err != nil {
			return false, err
		}
	}
	return len(predictors) > 1, nil
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
		w.config.Report(Retrying{Err: err})
	}
	return err == nil
}

// predictor predicts records with a model. It must not be used concurrently.
type predictor struct {
	model   *Served
	decoder *decode.Decoder
	encoder *record.Encoder
	batch   learner.Batch
	taken   []record.Example
	at      []int // index of each taken record among the records of the batch
	windows int64 // seq of the last BATCH in the windows of the model; 0: no windows
}

// use makes m the model of the predictor, and discards the records it has taken.
func (p *predictor) use(m *Served, maxBytes int, c *Config) error {
	if p.model != m {
		decoder, err := m.NewDecoder(m.Decode)
		if err != nil {
			return err
		}
		p.model, p.decoder, p.encoder = m, decoder, record.NewEncoder(m.ID, m.Schema.Classes, maxBytes).OfScorer().Passing(c.Passed).In(c.Form).After(p.encoder)
		if p.windows = 0; len(m.Decode.Windows) > 0 {
			p.windows = m.Seq
		}
	}
	p.batch.Reset(len(m.Schema.Columns))
	p.taken, p.at = p.taken[:0], p.at[:0]
	return nil
}

// take decodes record i for a prediction.
func (p *predictor) take(i int, topic string, partition int, r *ingest.Record) error {
	row, err := p.model.Read(p.decoder, r)
	if err != nil {
		return err
	}
	p.taken, p.at = append(p.taken, record.Example{Topic: topic, Partition: int32(partition), Record: r, Key: row.Key, Sequence: p.windows}), append(p.at, i)
	p.batch.Append(row.X, learner.Label{}, row.Weight)
	p.batch.SetWindows(row.Windows)
	p.batch.SetSparse(row.Sparse)
	if p.model.Keyed() {
		p.batch.SetKey(string(row.Key))
	}
	return nil
}

// answer stores the prediction for each taken record in out, at the index of the record.
func (p *predictor) answer(out []ingest.Record) {
	answers := p.model.Predict(&p.batch)
	for j, x := range p.taken {
		x.Decision, x.Intervals, x.Quantiles, x.Mixture = answers.Decision, answers.Uncertainty(j), answers.Quantiles, answers.Mixture
		out[p.at[j]] = p.encoder.Record(x, answers.Task, answers.Row(j))
	}
}
