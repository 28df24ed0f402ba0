package learner

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/machine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// PredictedBatch holds rows that have been predicted and not been learned yet. It is
// valid until the next Predict.
type PredictedBatch struct {
	Predictions

	batch   *Batch
	resets  int // of batch
	learned bool
	raw     *Batch // its rows, with their lags or under the metric
	inputs  *Batch // raw as the model sees it
	lagged  Batch  // memory of raw
	encoded Batch  // memory of inputs
	rows    int
	head    target.Head
	x       []float32 // scaled
	f       []float64 // scores of all candidates of the engine, rows × columns
	columns int
	served  int // first column of f with the scores that the engine serves

	fates []fate // of its rows; empty if all of them count fully

	keeping map[int][]float64 // by row: the part of what Keep returned that is to hold the predictions of the baselines

	isMixed bool
	mixedPass
}

// Len returns the number of rows.
func (p *PredictedBatch) Len() int { return p.rows }

// Loss returns the loss of the prediction for row i: half the squared error in the label's units
// for the square loss; for the others that of package loss, with numbers in standard deviations and
// counts as multiples of their mean. The loss of several targets is the mean of theirs. Loss
// returns false if there is no label, or no prediction yet.
func (p *PredictedBatch) Loss(i int) (float64, bool) {
	y := p.batch.Label(i)
	if y.Task == Auto || y.Task == Novelty || p.Size == 0 {
		return 0, false
	}
	head, scores, row, ok := p.graded(i)
	if !ok {
		return 0, false
	}
	sum, n := 0.0, p.head.Targets()
	for j := range n {
		sum += head.GradedLoss(scores, row, y, j)
	}
	return sum / float64(n), true
}

// scores returns the scores of the prediction for row i.
func (p *PredictedBatch) scores(i int) []float64 {
	if k := p.head.Scores(); p.isMixed {
		return p.mixedScores[i*k : (i+1)*k]
	}
	return p.engineScores(i)
}

// engineScores returns the scores by which the engine predicts row i, in a mixture those of the row
// within the range that random features see.
func (p *PredictedBatch) engineScores(i int) []float64 {
	f := p.f
	if p.isBeyond(i) {
		f, i = p.beyondF, p.beyondRows[i]
	}
	at := i*p.columns + p.served
	return f[at : at+p.head.Scores()]
}

// isBeyond reports whether an input of row i is beyond the range that random features see.
func (p *PredictedBatch) isBeyond(i int) bool { return len(p.beyondRows) > 0 && p.beyondRows[i] >= 0 }

// Predict predicts the first rows of b, up to and including the one after which
// the model may change: only Len of the PredictedBatch says how many. The rows of b must
// stay as they are until the PredictedBatch is learned.
//
// All rows of a Learner have the same number of values, at least 1, which the first Predict
// settles. Predict panics for other rows, for types that do not fit them, and for rows with windows
// that Observe has not seen.
func (l *Learner) Predict(b *Batch) *PredictedBatch {
	l.requireDim(b)
	l.takeTypes(b)
	b.requireObserved()
	p := &l.pass
	p.batch, p.resets, p.learned, p.keeping = b, b.resets, false, nil
	p.rows, p.head = l.passLength(b), l.head
	l.read(p)
	p.Task, p.Size, p.Quantiles, p.Crossed = l.head.Task, l.head.PredictionSize(), l.head.Quantiles, p.Crossed[:0]
	if p.Task == Novelty && l.fit == nil {
		p.Size = 0 // there is nothing to be outside of
	}
	if l.config.Mixture {
		p.Mixture = MixtureLabels
	}
	p.isMixed = l.mixture != nil && p.Size > 0
	l.score(p)
	p.setRules(l.rules.Served())
	p.Leverages = p.Leverages[:0]
	if l.posterior != nil {
		p.Leverages = l.posterior.Leverages(p.Leverages, p.x, p.rows)
	}
	p.Values = state.Extend(p.Values[:0], p.rows*p.Size)
	switch {
	case p.isMixed:
		l.predictMixed(p)
	case p.Task != Novelty:
		for i := range p.rows {
			l.head.Predict(p.Row(i), p.scores(i))
			p.cross(p.scores(i))
		}
	case p.Size > 0:
		b := l.engine.Serving().Intercept[0]
		for i := range p.rows {
			l.head.PredictNovelty(p.Row(i), p.scores(i)[0], b)
		}
	}
	return p
}

// requireDim panics unless the rows of b have as many values as those before, if there are any.
func (l *Learner) requireDim(b *Batch) {
	dim := l.config.rowSize(b.Dim())
	if l.dim == 0 {
		l.dim = dim
	}
	if l.dim == 0 {
		panic("learner: the rows of the batch have no values: call its Reset with the number of inputs, and Append")
	}
	if dim != l.dim {
		panic(fmt.Sprintf("learner: rows have %d values, the model has %d inputs", dim, l.dim))
	}
	if m := l.config.Metric; m != nil && m.Dim() != l.dim {
		panic(fmt.Sprintf("learner: rows have %d values, the metric has %d columns", l.dim, m.Dim()))
	}
}

// read sets the raw rows of p, which have lags or are transformed by the metric, and the rows that
// these become.
func (l *Learner) read(p *PredictedBatch) {
	b := p.batch
	if p.raw = b; !l.lags.None() {
		p.raw = p.lagged.derive(p.rows, l.dim, func(x []float64, i int) { l.lags.Set(x, b, i) })
	}
	if m := l.config.Metric; m != nil {
		p.raw = underMetric(&p.lagged, b, m, p.rows)
	}
	if p.inputs = p.raw; l.fit != nil && l.fit.Encoding != nil {
		p.inputs = encoded(&p.encoded, p.raw, l.fit.Encoding, p.rows)
	}
}

// score sets the scaled rows of p, and the scores of the engine and of the members of the mixture.
func (l *Learner) score(p *PredictedBatch) {
	p.within, p.beyondRows = nil, p.beyondRows[:0]
	if l.fit == nil {
		p.columns, p.served = l.head.Scores(), 0
		p.x, p.f = p.x[:0], engine.Scores(p.f[:0], nil, nil, nil, l.priorIntercept, p.rows)
		if p.isMixed {
			l.beginMixed(p)
		}
		return
	}
	p.columns, p.served = l.engine.Columns(), l.engine.Served()
	p.x = scaledRows(p.x[:0], &l.fit.Scaler, p.inputs, p.rows)
	if p.isMixed {
		l.setWithin(p)
	}
	if p.isMixed && p.rows*machine.AllFeatures >= machineWork {
		l.team.Go(func() { l.beginMixed(p) })
	} else if p.isMixed {
		l.beginMixed(p)
	}
	if len(p.beyondRows) > 0 {
		p.beyondF = l.engine.Score(p.beyondF[:0], p.beyondX, len(p.beyondX)/l.width())
	}
	p.f = l.engine.Score(p.f[:0], p.x, p.rows) // last, because the engine learns these rows next
	l.team.Wait()
}

// setWithin sets the rows of p within the range that random features see, and which rows are beyond
// it. These have scores of their own, because what is learned from a row are its inputs as they are.
func (l *Learner) setWithin(p *PredictedBatch) {
	d := l.width()
	p.within = l.mixture.Static.Within(p.moved[:0], p.x)
	if len(l.mixture.Static.Range) == 0 {
		return
	}
	p.moved, p.beyondX = p.within, p.beyondX[:0]
	for i := range p.rows {
		at, within := -1, p.within[i*d:(i+1)*d]
		if !slices.Equal(within, p.x[i*d:(i+1)*d]) {
			at = len(p.beyondX) / d
			p.beyondX = append(p.beyondX, within...)
		}
		p.beyondRows = append(p.beyondRows, at)
	}
	if len(p.beyondX) == 0 {
		p.beyondRows = p.beyondRows[:0]
	}
}

// setRules sets the rules of p to those that are not nil.
func (p *Predictions) setRules(d *Decision, i *Intervals) {
	if d != nil {
		p.Decision = *d
	}
	if i != nil {
		p.Intervals = *i
	}
}

// passLength returns the number of rows of b up to and including the one after which the model may
// change. It also decides the fates of these rows.
func (l *Learner) passLength(b *Batch) int {
	n, p := l.labelled, &l.pass
	p.fates = p.fates[:0]
	l.ahead.Set(&l.weighing)
	for i := range b.Len() {
		y := b.Label(i)
		if !l.weighing.None() {
			p.fates = append(p.fates, l.fateOf(b, i, n))
		}
		if y.Task != Auto && !p.fate(i).Thinned {
			if n++; l.changesAfter(n, y) {
				return i + 1
			}
		}
	}
	return b.Len()
}
