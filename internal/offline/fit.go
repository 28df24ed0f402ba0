// Package offline learns and grades the rows of files, without Kafka.
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
	Classes func() []string // names so far, for a model with costs or shares by class

	learner *learner.Learner
	options []byte // encoded, for snapshots
	step    int64
	batch   learner.Batch
	keyed   bool // rows have keys
	meter   *ranking.Meter
	numbers *deviation.Meter // nil unless the loss has figures

	// Observed, if not nil, is called for each row with windows once they are set.
	Observed func(x []float64)

	// Predicted, if not nil, is called for each row, in order, with the pass that has its
	// prediction, before the row is learned.
	Predicted func(pass *learner.PredictedBatch, i int)
}

// NewFit returns a Fit of the empty model, for rows that are read with options in. They
// are for snapshots: whoever predicts with one has to read rows in the same way.
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

// Add adds a row, which is predicted and learned at the latest by Finish.
func (f *Fit) Add(row decode.Row) {
	if f.batch.Len() == 0 {
		f.batch.Reset(len(row.X))
	}
	f.batch.Append(row.X, row.Label, row.Weight)
	f.batch.SetTypes(row.Types)
	f.batch.SetWindows(row.Windows)
	f.batch.SetSparse(row.Sparse)
	if row.Timed {
		f.batch.SetTime(row.Time)
	}
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
			f.Observed(f.batch.X(i))
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

// measure adds the rows of a pass, which begin at a row of the batch, to the figures. Like
// the progressive error, these are without the first row of all, and weighted.
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

// meterNovelty adds a prediction to m, if something is known of the row, as one of two
// classes: what is normal, and what is novel.
func meterNovelty(m *ranking.Meter, p []float64, y learner.Label) {
	if y.Class == learner.Unlabelled {
		return
	}
	predicted := 0
	if learner.Novel(p) {
		predicted = 1
	}
	odds := max(0, min(1, p[0]/2)) // scores are between 0 and 2
	m.Add([]float64{1 - odds, odds}, predicted, y.Class-learner.KnownNormal, 1)
}

// Figures returns how well the classes were told apart so far, with the recall at a
// precision, and nil for a regression or a single class.
func (f *Fit) Figures(precision float64) *ranking.Figures {
	return f.meter.Figures(precision)
}

// Deviation returns the figures that the loss has for the predictions so far, and nil for
// the square loss and for classes.
func (f *Fit) Deviation() *deviation.Figures { return f.numbers.Figures() }

// Columns describes what the model sees of each column; nil if it sees all of them as
// they are.
func (f *Fit) Columns() []learner.Column { return f.learner.Columns() }

// Progress returns the progressive validation so far.
func (f *Fit) Progress() learner.Progress { return f.learner.Progress() }

// Finish learns the rows that were added but not learned yet, except for those that wait for
// their mini-batch to be full.
func (f *Fit) Finish() learner.Progress {
	f.learn()
	return f.Progress()
}

// Snapshot returns a snapshot of the current model, with the schema of the rows. It
// has no history, so its lineage is that of the options alone.
func (f *Fit) Snapshot(schema *decode.Schema) (*snapshot.Snapshot, error) {
	return f.snapshot(schema, f.learner.State())
}

// Final is Snapshot with the model that has learned every row, also those that wait for
// their mini-batch to be full. A learner that continues with it nevertheless has them wait.
// No rows can be added afterwards.
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
