package pipeline

import (
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// gate compares two models on the same records: the current state of the learner, as a scorer would
// predict with it, and the snapshot that scorers serve. The goroutine that learns owns it. It does
// not influence what is learned.
type gate struct {
	config model.GateConfig
	tau    float64 // quantile of a quantile loss; 0: another loss
	log    kafkalog.Reader
	report func(event.Event)

	served modellog.Ref
	model  *learner.Model // model of served; nil: there is nothing to compare with
	names  []schema.Alias // names by which it reads columns
	sums   [][2]float64   // for each of the last records, the metric of the learner and that of model
	at     int            // index of the oldest in sums, once there are config.Over
}

// newGate returns nil if every snapshot is to pass.
func newGate(c model.Config) (*gate, error) {
	if c.Gate.Metric == "" {
		return nil, nil
	}
	if err := c.Gate.Validate(c.Learner); err != nil {
		return nil, err
	}
	g := &gate{config: c.Gate, log: kafkalog.Reader{Client: c.Client, Topic: model.LogTopic(c.Model), Key: c.VerifyKey, Again: true}, report: c.Report}
	if l, err := loss.Parse(c.Learner.Loss); err == nil {
		if q, ok := l.(loss.Quantile); ok {
			g.tau = q.Tau
		}
	}
	return g, nil
}

// follow loads the snapshot that scorers serve, if that has changed, and begins to compare with it.
func (g *gate) follow(ctx context.Context, j *journal.Journal) error {
	if g == nil {
		return nil
	}
	c, ok := j.Serves() // not ok if an append is in progress, for which learning does not wait
	if !ok || c.Snapshot == g.served {
		return nil
	}
	m, names, err := g.load(ctx, c.Snapshot)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // no scorer can load it either
		g.report(event.Damaged{ID: c.Snapshot.Snapshot.String(), Err: err})
	}
	g.served, g.model, g.names, g.sums, g.at = c.Snapshot, m, names, nil, 0
	return nil
}

func (g *gate) load(ctx context.Context, ref modellog.Ref) (*learner.Model, []schema.Alias, error) {
	_, s, err := g.log.Snapshot(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	known, err := record.ReadSchema(s.Schema)
	if err != nil {
		return nil, nil, err
	}
	m, err := learner.NewModel(s.State.Serving)
	return m, known.Aliases, err
}

// compare adds the metrics of the labelled rows of a pass. from is the index in b of its first row.
func (g *gate) compare(b *history.Decided, from int, pass *learner.PredictedBatch) {
	if g.model == nil || pass.Size == 0 {
		return
	}
	rows := b.Batch.Slice(from, from+pass.Len())
	if d := g.model.Dim(); d != 0 && d < rows.Dim() { // the model was published before these columns were adopted
		all := rows
		rows = rows.First(d)
		for _, a := range g.names {
			i, from := slices.Index(b.Schema.Columns, a.Column), slices.Index(b.Schema.Columns, a.Field)
			if 0 <= i && i < d && from >= 0 && b.Schema.TypeOf(from) == a.Type { // otherwise the type of the field has changed since
				rows.Fill(i, all, from)
			}
		}
	} else if d > rows.Dim() {
		return
	}
	out, now := g.model.Predict(rows), &pass.Predictions
	if pass.Scorer.Size > 0 { // a mixture predicts here without the members that scorers do not have
		now = &pass.Scorer
	}
	for i := range pass.Len() {
		y := b.Batch.Label(from + i)
		if y.Task == learner.Auto {
			continue
		}
		pair := [2]float64{g.metric(now, i, y), math.Inf(1)}
		if out.Size > 0 {
			pair[1] = g.metric(&out, i, y)
		}
		if math.IsInf(pair[1], 1) { // a model that has seen no labels is worse than any other
			pair[1] = pair[0] + 1
		}
		if len(g.sums) < g.config.Over {
			g.sums = append(g.sums, pair)
			continue
		}
		g.sums[g.at] = pair
		g.at = (g.at + 1) % g.config.Over
	}
}

// certain is the lower bound of the probability in the logarithmic loss, so that the loss remains
// finite.
const certain = 1e-9

// metric returns the metric of prediction i of all for the label y.
func (g *gate) metric(all *learner.Predictions, i int, y learner.Label) float64 {
	p := all.Row(i)
	if y.Task == learner.Classification {
		switch {
		case g.config.Metric == model.GateError && learner.Best(p) == y.Class:
			return 0
		case g.config.Metric == model.GateError:
			return 1
		case y.Class < len(p):
			return -math.Log(max(p[y.Class], certain))
		}
		return -math.Log(certain)
	}
	sum, q := 0.0, all.Quantiles
	targets := len(p) / q.Each()
	for j := range targets {
		switch d := y.At(j) - q.Point(p, j); {
		case g.config.Metric == model.GateError:
			sum += math.Abs(d)
		case q.Valid():
			for k, v := range q.Of(p, j) {
				sum += pinball(q.Taus[k], y.At(j)-v) / float64(q.Each())
			}
		case g.tau > 0:
			sum += pinball(g.tau, d)
		default:
			sum += d * d
		}
	}
	return sum / float64(targets)
}

// pinball returns the loss of the quantile tau at an error d.
func pinball(tau, d float64) float64 { return max(tau*d, (tau-1)*d) }

// verdict returns the verdict about a snapshot of the current state of the learner, or nil if it
// passes without a comparison.
func (g *gate) verdict() *modellog.Gate {
	if g == nil || len(g.sums) == 0 {
		return nil
	}
	v := &modellog.Gate{Metric: g.config.Metric, Rows: int64(len(g.sums)), WorseThan: g.config.WorseThan, Champion: g.served}
	for _, pair := range g.sums {
		v.Loss += pair[0] / float64(v.Rows)
		v.Served += pair[1] / float64(v.Rows)
	}
	v.Loss, v.Served = finite(v.Loss), finite(v.Served)
	v.Passed = v.Loss <= v.Served*(1+v.WorseThan)
	return v
}

// finite returns v, or the largest number if v is infinite or not a number, which a record of the
// log cannot hold.
func finite(v float64) float64 {
	if v < math.MaxFloat64 {
		return v
	}
	return math.MaxFloat64
}
