package learner

import (
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/learner/internal/decide"
	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/interval"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/posterior"
	"github.com/accrete-ml/accrete/learner/internal/serving"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/internal/windows"
)

// Predictions are those of a model for some rows.
type Predictions struct {
	Task   Task      // Auto while no label has been seen
	Size   int       // values for each row: the classes seen so far; the targets of a regression, times their quantiles if there are several; 2 for novelty; 0 while no label has been seen, or for novelty no fit made
	Values []float64 // rows × Size: the probability of each class, or the value in the label's units, or the score of novelty and its threshold, see Novel

	Decision  Decision  // for a class; the most probable one without Config.Costs
	Intervals Intervals // around numbers, at leverage 0; not Valid without Config.Intervals. See Uncertainty
	Leverages []float64 // of the rows with Config.Variance and from the first fit on, otherwise empty: 0 where as much as possible has been learned
	Quantiles Quantiles // which the values of a regression are; not Valid unless there are several of each target

	// Crossed reports for each row whether the scores were not in the order of their
	// quantiles, and have been sorted; nil unless there are several.
	Crossed []bool

	// Mixture is MixtureLabels or MixtureInputs with Config.Mixture, otherwise "".
	Mixture string
}

// The values of Predictions.Mixture: the members that are mixed.
const (
	MixtureLabels = "labels" // all members
	MixtureInputs = "inputs" // members that need no labels of earlier rows: those that a Model has
)

// Intervals gives the intervals around predicted numbers that contain the share
// Config.Intervals of the labels, and with Config.Variance their variances. Its methods are:
//
//	func (Intervals) Valid() bool                                 // whether there are intervals
//	func (Intervals) Bounds(v float64, j int) (low, high float64) // around the predicted number v of target j
//	func (Intervals) HasVariance() bool                           // whether there are variances
//	func (Intervals) Variance(j int) float64                      // of the label of target j around its prediction
//
// Predictions.Uncertainty returns those of a row.
type Intervals = interval.Rule

// Quantiles says which quantiles the values of a prediction are. Taus are their levels, and Central
// is the index of the one that predicts the number itself. Its methods take p, the values of a row, as
// Predictions.Row returns them:
//
//	func (Quantiles) Valid() bool                       // whether there are several of each target
//	func (Quantiles) Of(p []float64, j int) []float64   // those of target j, in the order of Taus
//	func (Quantiles) Point(p []float64, j int) float64  // the predicted number of target j
//	func (Quantiles) Points(dst, p []float64) []float64 // appends the predicted numbers of all targets to dst
type Quantiles = target.Quantiles

// Decision is a rule that decides for a class, given the probabilities of all. The zero value decides
// for the most probable one. Its methods are:
//
//	func (Decision) Class(p []float64) int             // the class for the probabilities p, as Predictions.Row returns them
//	func (Decision) Named() bool                       // whether it has costs of classes, by their names
//	func (Decision) Of(classes []string) Decision      // the rule for classes with these names
//	func (Decision) Cost(class, predicted int) float64 // of predicting a class for a row of another class
//
// If Named returns true, call Of with the names of the classes, in the order of their indices, and use
// the Decision that it returns: any other decides without the costs.
type Decision = decide.Rule

// Uncertainty returns the intervals and variances of the prediction for row i.
func (p *Predictions) Uncertainty(i int) Intervals { return p.Intervals.At(p.leverage(i)) }

// leverage returns that of row i.
func (p *Predictions) leverage(i int) float64 {
	if i < len(p.Leverages) {
		return p.Leverages[i]
	}
	return 0
}

// cross notes whether the scores of the next row crossed.
func (p *Predictions) cross(f []float64) {
	if p.Quantiles.Valid() {
		p.Crossed = append(p.Crossed, p.Quantiles.Crossed(f))
	}
}

// Row returns the values for row i.
func (p *Predictions) Row(i int) []float64 {
	v := p.Values[:len(p.Values):len(p.Values)] // without the memory of earlier predictions
	return v[i*p.Size : (i+1)*p.Size : (i+1)*p.Size]
}

// Model predicts, and does not learn: it is the serving part of a State. It
// gives the same predictions as the Learner, bit for bit. It is for one
// goroutine at a time.
type Model struct {
	head      target.Head
	dim       int              // 0 before the first row
	given     *Metric          // nil if there is none
	encoding  *encode.Encoding // likewise
	scaler    warmup.Scaler    // of no columns before the first fit
	bank      *features.Bank   // nil before the first fit
	intercept []float64
	coef      []float32
	forest    *forest.Forest // nil without trees
	leafCoef  []float32
	pruned    *pruned           // nil if it has all features of its blocks
	decision  *Decision         // nil without Config.Costs
	intervals *Intervals        // nil without Config.Intervals and Config.Variance
	posterior *posterior.Factor // nil without Config.Variance, and before the first fit
	static    *mixture.Static   // nil without Config.Mixture
	machines  *features.Bank    // random features of the kernel machines in the mixture; nil if there are none
	windows   *windows.Windows  // nil if there are none

	x      []float32 // scratch
	within []float32 // see seenOf
	f      []float64
	own    []float64 // scores of the random features of machines
	seen   Batch     // rows as the metric or the encoding has them
}

// Dim returns the length of the rows that m predicts, or 0 if it has seen none.
func (m *Model) Dim() int { return m.dim }

// Keyed reports whether m uses the keys of rows: see Batch.SetKey.
func (m *Model) Keyed() bool { return m.given != nil && m.given.Keys() > 0 }

// Columns describes what m sees of each raw column, nil if it sees all of them as they
// are. fitted is false before the first fit.
func (m *Model) Columns() (columns []Column, fitted bool) {
	if m.encoding != nil {
		columns = m.encoding.Columns()
	}
	return columns, m.bank != nil
}

// inputs returns the rows of b as the metric or the encoding has them, if there is one.
func (m *Model) inputs(b *Batch) *Batch {
	if m.encoding != nil {
		return encoded(&m.seen, b, m.encoding, b.Len())
	}
	if m.given == nil {
		return b
	}
	return underMetric(&m.seen, b, m.given, b.Len())
}

// Predict returns predictions for all rows of b, which must have Dim values each: it panics if they
// have not. The predictions are the caller's to keep. Rows with windows that Observe has not seen get their statistics, and are
// not added to the windows.
func (m *Model) Predict(b *Batch) Predictions {
	if m.dim != 0 && b.Dim() != m.dim {
		panic(fmt.Sprintf("learner: rows have %d values, the model has %d inputs", b.Dim(), m.dim))
	}
	m.look(b)
	n, size := b.Len(), m.head.PredictionSize()
	if m.head.Task == Novelty && m.bank == nil {
		size = 0 // there is nothing to be outside of
	}
	p := Predictions{Task: m.head.Task, Size: size, Values: make([]float64, n*size), Quantiles: m.head.Quantiles}
	p.setRules(m.decision, m.intervals)
	if m.static != nil {
		p.Mixture = MixtureInputs
	}
	if m.bank != nil {
		m.x = scaledRows(m.x[:0], &m.scaler, m.inputs(b), n)
	} else if m.static != nil && m.static.Early != nil {
		m.x = scaledRows(m.x[:0], m.static.Early, b, n)
	}
	if m.posterior != nil {
		p.Leverages = m.posterior.Leverages(nil, m.x, n)
	}
	k := m.head.Scores()
	m.f = m.scores(m.f[:0], m.x, n, b.Sparse)
	for i := range n {
		switch {
		case p.Task != Novelty:
			m.head.Predict(p.Row(i), m.f[i*k:(i+1)*k])
			p.cross(m.f[i*k : (i+1)*k])
		case size > 0:
			m.head.PredictNovelty(p.Row(i), m.f[i], m.intercept[0])
		}
	}
	return p
}

// scores appends the scores of n scaled rows x to dst. of returns the sparse part of a row.
func (m *Model) scores(dst []float64, x []float32, n int, of func(i int) Sparse) []float64 {
	within := m.seenOf(x)
	dst = engine.Scores(dst, m.bank, within, m.coef, m.intercept, n)
	if m.static != nil {
		m.own = machineScores(m.own, m.machines, within, m.static, m.head.Scores(), n)
	}
	m.complete(dst, x, within, m.own, of)
	return dst
}

// seenOf returns scaled rows x as random features and trees see them: in a mixture within the range
// of the rows that were learned. It is valid until the next call.
func (m *Model) seenOf(x []float32) []float32 {
	if m.static == nil || len(m.static.Range) == 0 {
		return x
	}
	m.within = m.static.Within(m.within[:0], x)
	return m.within
}

// complete turns f, the sums of the random features and the intercepts for scaled rows x, into the
// scores of these rows: it adds the leaves of trees, and applies the mixture. within is x as seenOf
// returns it, own holds the sums of the kernel machines of the mixture, and of returns the sparse
// part of a row.
func (m *Model) complete(f []float64, x, within []float32, own []float64, of func(i int) Sparse) {
	if m.forest != nil {
		m.forest.Sum(f, within, m.leafCoef, m.head.Scores())
	}
	if m.static != nil {
		m.static.Apply(f, x, within, own, of)
	}
}

// ErrLags is the error of a model with lags outside its Learner: its predictions depend on the
// labels of earlier rows.
var ErrLags = errors.New("only the learner can predict with a model that has lags: predictions depend on the labels of earlier records")

// NewModel returns the model of a State with these serving arrays, which may come from
// anywhere: invalid arrays are an error. A model with lags is ErrLags.
func NewModel(arrays []Array) (*Model, error) { return new(Model).Next(arrays) }

// Next returns the model of a State with these serving arrays, like NewModel. It shares the random
// features with m if they are the same. They usually are for two snapshots of one learner, and
// sharing them saves most of the time. Both models may then predict at the same time.
func (m *Model) Next(arrays []Array) (*Model, error) {
	s := &state.Reader{In: arrays}
	v := serving.Load(s)
	if err := s.End(); err != nil {
		return nil, err
	}
	if v.Lags > 0 {
		return nil, ErrLags
	}
	bank := m.bank
	if m.pruned != nil {
		bank = nil // its blocks are not those of a map
	}
	next := &Model{
		head: v.Head, dim: v.Dim, given: v.Metric,
		bank: v.Bank(bank), intercept: v.Intercept, coef: v.Coef,
		forest: v.Forest, leafCoef: v.LeafCoef,
		decision: v.Decision, intervals: v.Intervals, posterior: v.Posterior,
		static: v.Mixture, machines: v.MachineBank(m.machines), windows: v.Windows,
	}
	if v.Fit != nil {
		next.scaler, next.encoding = v.Fit.Scaler, v.Fit.Encoding
	}
	if v.Kept != nil {
		next.pruned = &pruned{v.FeatureMap(), v.Blocks, v.Kept}
	}
	return next, nil
}

// scaledRows appends the first n rows of b to dst, scaled.
func scaledRows(dst []float32, s *warmup.Scaler, b *Batch, n int) []float32 {
	from := len(dst)
	dst = state.Extend(dst, n*b.Dim())
	for i := range n {
		s.Apply(dst[from+i*b.Dim():from+(i+1)*b.Dim()], b.X(i))
	}
	return dst
}
