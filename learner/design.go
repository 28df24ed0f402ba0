package learner

import (
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/serving"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// ErrNoFeatures is the error of a model without features, or with a single class.
var ErrNoFeatures = errors.New("the model has no features yet: it needs 64 labelled rows, and labels that are not all equal")

// ErrNovelty is the error of a model that detects novelty.
var ErrNovelty = errors.New("the model detects novelty: it has no labels to fit its coefficients to again")

// ErrForest is the error of a model with a forest, whose leaves have seen the labels of
// rows and are no random features.
var ErrForest = errors.New("the model has a forest: only the coefficients of random features can be fitted again")

// ErrSparse is the error of a model of sparse inputs, most of which its random features do
// not see.
var ErrSparse = errors.New("the model has sparse inputs: only the coefficients of random features can be fitted again")

// ErrPruned is the error of a model that has only some of its random features.
var ErrPruned = errors.New("the model is pruned: its coefficients can be fitted again from the model that it was pruned from")

// ErrThinned is the error of a model with Config.Balance whose columns have statistics or times.
// These are of the rows that were learned, and which rows those were is not known when the rows are
// read again.
var ErrThinned = errors.New("the model was learned from a part of the rows (balance), and has categories or times whose statistics are of that part: which rows it was is not known any more")

// A Design holds rows as a model sees them: what a solver needs to fit the coefficients of the
// model again, with the same features.
type Design struct {
	Bank    *features.Bank
	Blocks  int
	X       []float32 // the labelled rows, scaled
	Rows    int
	Weights []float64 // of the rows, 0 or more
	Scores  int       // of a row: one for each target of a regression, one for two classes, otherwise one for each class
	Targets []float64 // Rows × Scores: the standardised label, or ±1 where the row is of the class

	fit    warmup.Fit
	task   Task
	labels []Label
}

// Refittable returns nil if the coefficients of m can be fitted again, and otherwise the error that
// says why no rows would do.
func (m *Model) Refittable() error {
	switch {
	case m.bank == nil || m.bank.Blocks() == 0 || m.head.Task == Classification && m.head.Classes < 2:
		return ErrNoFeatures
	case m.head.Task == Novelty:
		return ErrNovelty
	case m.forest != nil:
		return ErrForest
	case m.pruned != nil:
		return ErrPruned
	case m.static != nil && m.static.Sparse != nil:
		return ErrSparse
	}
	return nil
}

// Design returns the labelled rows of b as m sees them. They must be the rows that m learned last,
// and after them, as the last pending ones, those that it has not learned yet. The statistics of
// categories in a row are then those that it had when it was learned, without its own label. A row
// whose time since the last record of its key is not known has the weight 0.
func (m *Model) Design(b *Batch, pending int) (*Design, error) {
	if err := m.Refittable(); err != nil {
		return nil, err
	}
	d := &Design{
		Bank: m.bank, Blocks: m.bank.Blocks(), task: m.head.Task,
		fit: warmup.Fit{Scaler: m.scaler, Scales: m.head.Scales, Kernel: m.bank.Map().Kernel},
	}
	if b.Dim() != m.dim {
		return nil, fmt.Errorf("rows have %d values, the model has %d inputs", b.Dim(), m.dim)
	}
	labelled := new(Batch)
	labelled.Reset(b.Dim())
	for i, y := range b.labels {
		switch {
		case y.Task == Auto:
			continue
		case y.Task != m.head.Task || y.Class >= max(1, m.head.Classes):
			return nil, fmt.Errorf("label of task %v and class %d: the model's task is %v with %d classes", y.Task, y.Class, m.head.Task, m.head.Classes)
		case y.Targets() != m.head.Targets():
			return nil, fmt.Errorf("label has %d targets, the model has %d", y.Targets(), m.head.Targets())
		}
		labelled.Append(b.X(i), y, target.BoundedWeight(b.weights[i]))
		labelled.SetKey(b.Key(i))
	}
	d.labels, d.Weights = labelled.labels, labelled.weights
	d.X = scaledRows(nil, &m.scaler, m.designed(labelled, d.Weights, min(pending, labelled.Len())), labelled.Len())
	d.Rows, d.Scores = len(d.labels), max(target.SignedScores(m.head.Classes), m.head.Targets())
	for _, y := range d.labels {
		d.Targets = m.head.AppendSigned(d.Targets, y)
	}
	return d, nil
}

// Moves reports whether what m sees of a row depends on the rows learned before it.
func (m *Model) Moves() bool { return m.encoding != nil && m.encoding.Moves() }

// designed returns the rows of b as m saw them before it learned them, and sets the weights of rows
// for which that is not known to 0.
func (m *Model) designed(b *Batch, weights []float64, pending int) *Batch {
	if !m.Moves() {
		return m.inputs(b)
	}
	labels := make([]Label, b.Len())
	for i, y := range b.labels {
		labels[i] = target.BoundedLabel(y)
	}
	x, unknown := m.encoding.Window(b.x, labels, weights, pending)
	for i, u := range unknown {
		if u {
			weights[i] = 0
		}
	}
	w := m.encoding.Width()
	return new(Batch).derive(b.Len(), w, func(row []float64, i int) { copy(row, x[i*w:]) })
}

// Penalty returns the weight of ‖f‖²/2 beside the mean loss that leave-one-out
// chooses on the last 512 rows that have a weight, by their weights, for the square
// loss and the kernel itself.
func (d *Design) Penalty() float64 {
	return d.fit.PenaltyOf(warmup.Examples{X: d.X, Labels: d.labels, Weights: d.Weights}, d.Bank.Map(), d.task)
}

// Mixed reports whether m predicts with a mixture, of which the algorithm is a member.
func (m *Model) Mixed() bool { return m.static != nil && len(m.static.Engine) > 0 }

// Coefficients returns those of the algorithm in m, 2 rows for each random feature × scores, and an
// intercept for each score. They share memory with m.
func (m *Model) Coefficients() (coef []float32, intercept []float64) { return m.coef, m.intercept }

// Loss returns the loss that m was learned for; nil before the first label.
func (m *Model) Loss() loss.Loss { return m.head.Loss }

// With returns a model with the features of m, but with the loss l of the same task, and with the
// given coefficients and intercepts. In a mixture they become those of the algorithm, while the
// other members and the shares stay. If l differs from the loss of m, its scores mean something
// else, and the returned model is the algorithm alone. The returned model has no intervals, because
// those of m are for the predictions that m makes.
func (m *Model) With(l loss.Loss, coef []float32, intercept []float64) (*Model, error) {
	v := m.part()
	v.Intervals = nil
	if l != m.head.Loss {
		v.Mixture = nil
	}
	v.Head.Loss, v.Coef, v.Intercept = l, coef, intercept
	var a state.Arrays
	v.Save(&a)
	return NewModel(a)
}

// Serving returns the serving arrays of a State with the model m, which has features.
func (m *Model) Serving() []Array {
	var a state.Arrays
	m.part().Save(&a)
	return a
}

func (m *Model) part() serving.Part {
	at, blocks, kept := m.bank.Map(), m.bank.Blocks(), serving.Selection(nil)
	if p := m.pruned; p != nil {
		at, blocks, kept = p.Map, p.blocks, p.kept
	}
	return serving.Part{
		Decision: m.decision, Intervals: m.intervals, Posterior: m.posterior, Mixture: m.static,
		BlockSize: at.BlockSize, Seed: at.Seed, Sampling: at.Sampling,
		Head: m.head, Dim: m.dim, Metric: m.given,
		Fit: &warmup.Fit{
			Encoding: m.encoding, Scaler: m.scaler,
			Kernel: at.Kernel, Second: at.Second, Leverage: at.Leverage,
		},
		Served: engine.Served{
			Blocks: blocks, Intercept: m.intercept, Coef: m.coef,
			Forest: m.forest, LeafCoef: m.leafCoef,
		},
		Kept:    kept,
		Windows: m.windows,
	}
}

// pruned describes the features of the model that a pruned one was made from, and which of them it
// has kept.
type pruned struct {
	features.Map
	blocks int
	kept   serving.Selection
}

// Pruned returns m without the random features whose coefficients are all 0. The time that it takes
// to predict and its size in a file are in proportion to the features that are left. Pruned returns
// m itself if it has no such features, or if its features are made together: see
// features.Map.AllowsSelection.
func (m *Model) Pruned() (*Model, error) {
	if m.bank == nil || m.pruned != nil || !m.bank.Map().AllowsSelection() {
		return m, nil
	}
	per := 2 * m.head.Scores()
	kept, coef := make(serving.Selection, (len(m.coef)/per+7)/8), []float32(nil)
	for i := range len(m.coef) / per {
		for _, c := range m.coef[i*per : (i+1)*per] {
			if c != 0 {
				kept[i/8] |= 1 << (i % 8)
				coef = append(coef, m.coef[i*per:(i+1)*per]...)
				break
			}
		}
	}
	if len(coef) == len(m.coef) {
		return m, nil
	}
	v := m.part()
	v.Kept, v.Coef = kept, coef
	var a state.Arrays
	v.Save(&a)
	return NewModel(a)
}

// RandomFeatures returns the number of random features that m predicts with.
func (m *Model) RandomFeatures() int {
	if m.bank == nil {
		return 0
	}
	return m.bank.Blocks() * m.bank.Map().BlockSize
}
