// Package offline learns and evaluates the rows of files, without Kafka.
package offline

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/deviation"
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// Fit learns rows without Kafka. It reaches the same state as a pipeline that reads
// the same rows from one partition.
type Fit struct {
	Classes func() []string // returns the names so far; needed for a model with costs or shares of classes

	learner *learner.Learner
	options []byte // encoded options, for snapshots
	step    int64
	batch   learner.Batch
	types   []learner.ColumnType // of the row that was added last
	keyed   bool                 // rows have keys
	meter   *ranking.Meter
	numbers *deviation.Meter // nil unless the loss has figures

	// Observed, if not nil, is called for each row of a model with windows, once the features of
	// the windows are set in it.
	Observed func(x []float64, types []learner.ColumnType)

	// Predicted, if not nil, is called for each row, in order, before the row is learned. The pass
	// has its prediction.
	Predicted func(pass *learner.PredictedBatch, i int)
}

// NewFit returns a Fit with an empty model. in are the options with which its rows are read. They
// become part of snapshots, because rows must be read in the same way for predictions.
func NewFit(c learner.Config, in decode.Config) (*Fit, error) {
	in.Above = c.Above()
	options, err := record.Options(c, in)
	if err != nil {
		return nil, err
	}
	l, err := learner.New(c)
	if err != nil {
		return nil, err
	}
	return &Fit{learner: l, options: options, keyed: c.Keyed() || in.Key != "", meter: ranking.New(c.Task == learner.Novelty), numbers: deviation.New(deviation.Of(c))}, nil
}

const rowsAtOnce = 256

// Add adds a row. It is predicted and learned by the next call of Finish at the latest.
func (f *Fit) Add(row decode.Row) {
	if f.batch.Len() == 0 {
		f.batch.Reset(len(row.X))
	}
	row.AppendTo(&f.batch)
	f.types = row.Types
	if f.keyed {
		f.batch.SetKey(string(row.Key))
	}
	if f.batch.Len() == rowsAtOnce {
		f.learn()
	}
}

func (f *Fit) learn() {
	if f.Classes != nil {
		f.batch.SetClasses(f.Classes())
	}
	if f.learner.Observe(&f.batch); f.Observed != nil && f.learner.Windows() != nil {
		for i := range f.batch.Len() {
			f.Observed(f.batch.X(i), f.types)
		}
	}
	for from := 0; from < f.batch.Len(); {
		pass := f.learner.Predict(f.batch.Slice(from, f.batch.Len()))
		f.measure(pass, from)
		if f.Predicted != nil {
			for i := range pass.Len() {
				f.Predicted(pass, i)
			}
		}
		from += pass.Len()
		f.step = f.learner.Learn(pass).Step
	}
	f.batch.Reset(f.batch.Dim())
}

// measure adds the rows of a pass to the figures. from is the index of the first of them in the
// batch. Like the progressive error, the figures are weighted, and omit the very first row.
func (f *Fit) measure(pass *learner.PredictedBatch, from int) {
	if pass.Task == learner.Novelty && pass.Size > 0 {
		for i := range pass.Len() {
			meterNovelty(f.meter, pass.Row(i), f.batch.Label(from+i))
		}
		return
	}
	if pass.Task == learner.Regression && pass.Size > 0 {
		for i := range pass.Len() {
			f.numbers.AddRow(&pass.Predictions, i, f.batch.Label(from+i), f.batch.Weight(from+i))
		}
		return
	}
	if pass.Task != learner.Classification || pass.Size == 0 {
		return
	}
	rule := pass.Decision
	if rule.Named() && f.Classes != nil {
		rule = rule.Of(f.Classes())
	}
	for i := range pass.Len() {
		if y := f.batch.Label(from + i); y.Task == learner.Classification {
			p := pass.Row(i)
			f.meter.Add(p, rule.Class(p), y.Class, f.batch.Weight(from+i))
			addCost(f.meter, rule, p, y.Class, f.batch.Weight(from+i))
		}
	}
}

// meterNovelty adds a prediction to m if it is known whether the row is normal or novel. These
// count as two classes. Before the first fit there is no prediction.
func meterNovelty(m *ranking.Meter, p []float64, y learner.Label) {
	if y.Class == learner.Unlabelled || len(p) == 0 {
		return
	}
	predicted := 0
	if learner.Novel(p) {
		predicted = 1
	}
	odds := max(0, min(1, p[0]/2)) // scores are between 0 and 2
	m.Add([]float64{1 - odds, odds}, predicted, y.Class-learner.KnownNormal, 1)
}

// Figures returns how well the classes have been distinguished so far, including the recall at the
// given precision. It returns nil for a regression or a single class.
func (f *Fit) Figures(precision float64) *ranking.Figures {
	return f.meter.Figures(precision)
}

// Deviation returns the figures of the loss for the predictions so far. It returns nil for the
// square loss and for classes.
func (f *Fit) Deviation() *deviation.Figures { return f.numbers.Figures() }

// Columns describes what the model sees of each column. It returns nil if the model sees all
// columns as they are.
func (f *Fit) Columns() []learner.Column { return f.learner.Columns() }

// Progress returns the progressive validation so far.
func (f *Fit) Progress() learner.Progress { return f.learner.Progress() }

// Finish learns the rows that were added but not learned yet, except for rows that wait until their
// mini-batch is full.
func (f *Fit) Finish() learner.Progress {
	f.learn()
	return f.Progress()
}

// Snapshot returns a snapshot of the current model, with the schema of the rows. It has no history,
// so that its lineage is the hash of the options alone.
func (f *Fit) Snapshot(schema *decode.Schema) (*snapshot.Snapshot, error) {
	return f.snapshot(schema, f.learner.State())
}

// Final is Snapshot for a model that has learned every row, including rows that wait until their
// mini-batch is full. A learner that continues from it nevertheless lets these rows wait. No rows
// can be added afterwards.
func (f *Fit) Final(schema *decode.Schema) (*snapshot.Snapshot, error) {
	return f.snapshot(schema, f.learner.Finish())
}

func (f *Fit) snapshot(schema *decode.Schema, s learner.State) (*snapshot.Snapshot, error) {
	b, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(f.options)
	return &snapshot.Snapshot{
		Step: f.step, Lineage: hash, Rows: hash,
		Config: f.options, ConfigHash: hash,
		Schema: b, State: s,
	}, nil
}
