package learner

import (
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/machine"
	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// newMixture returns a Mixture for the task of l.
func (l *Learner) newMixture() *mixture.Mixture {
	beside := []member.Kind{machine.Short(l.machineProblem), machine.Resetting(l.machineProblem)}
	if l.config.Sparse > 0 {
		beside = append(beside, member.SparseKind(l.config.Sparse))
	}
	v := warmup.Version(l.config.Warmup)
	return mixture.New(l.head, mixture.Options{Combines: v >= warmup.Fifteenth, Extrapolates: v >= warmup.Seventeenth}, beside...)
}

// machineProblem is what the kernel machines of a mixture are created with.
func (l *Learner) machineProblem() engine.Problem {
	if l.fit == nil {
		return engine.Problem{}
	}
	return l.problem(l.startIntercepts())
}

// machineBank returns the random features of the machines in the mixture of a scorer, nil if
// there are none.
func (l *Learner) machineBank() *features.Bank {
	blocks := l.mixture.Static.Blocks(machine.BlockSize(l.config.BlockSize))
	switch b := l.machines; {
	case blocks == 0:
		return nil
	case b == nil || l.fit != l.machinesOf || b.Blocks() > blocks:
		l.machines, l.machinesOf = machine.Bank(l.problem(nil)), l.fit
	}
	l.machines.Grow(blocks)
	return l.machines
}

// machineScores sets dst to the scores, rows × k, of the random features of the machines in
// the mixture s.
func machineScores(dst []float64, bank *features.Bank, x []float32, s *mixture.Static, k, rows int) []float64 {
	return engine.Scores(dst[:0], bank, x, s.Coef, make([]float64, k), rows)
}

// mixedPass is what a pass has of a mixture.
type mixedPass struct {
	mixedScores  []float64 // rows × scores
	servedScores []float64 // likewise, of a scorer
	ownFeatures  []float64 // likewise, of the random features of the machines in it
	last         []Label   // of the key of each row, before it
	seen         lastSeen  // of the rows predicted so far
	linear       []float64 // rows × Size: of the linear member with the greatest weight
	earlyX       []float32 // a row, scaled, before the first fit
	servedX      []float32 // the rows, scaled as a scorer has them before the first fit
	outliers     []bool    // which labels are outliers

	within     []float32 // x within the range that random features see, see mixture.Static; x itself if there is none
	moved      []float32 // memory of within
	beyondRows []int     // for each row, its index among those beyond the range, or −1; empty if there are none
	beyondX    []float32 // those rows, within the range
	beyondF    []float64 // their scores, like f
	beyond     []float64 // what a row adds to the scores of random features, see member.Row

	// Scorer are the predictions of a scorer for the same rows, with the State before the
	// pass: it has the members that need no labels.
	Scorer Predictions
}

// beginMixed computes the scores of the machines for the rows of p.
func (l *Learner) beginMixed(p *PredictedBatch) {
	var x []float32 // nil before the first fit
	if l.fit != nil {
		x = p.within
	}
	l.mixture.Begin(x, p.rows)
	p.ownFeatures = machineScores(p.ownFeatures, l.machineBank(), x, &l.mixture.Static, p.head.Scores(), p.rows)
}

// machineWork is the number of values of random features of the machines that justify another core:
// to compute them takes about 50 microseconds.
const machineWork = 1 << 16

// predictMixed replaces the predictions of p, which are those of the engine, by those of
// the mixture. Each row is predicted after the labels of the rows before it.
func (l *Learner) predictMixed(p *PredictedBatch) {
	m, k, size := l.mixture, p.head.Scores(), p.Size
	p.mixedScores, p.servedScores = state.Extend(p.mixedScores[:0], p.rows*k), state.Extend(p.servedScores[:0], p.rows*k)
	for i := range p.rows {
		copy(p.servedScores[i*k:(i+1)*k], p.engineScores(i))
	}
	x, within := p.x, p.within
	if s := m.Static.Early; s != nil {
		p.servedX = scaledRows(p.servedX[:0], s, p.raw, p.rows)
		x, within = p.servedX, p.servedX
	}
	m.Static.Apply(p.servedScores, x, within, p.ownFeatures, p.batch.Sparse)
	p.Scorer = Predictions{
		Task: p.Task, Size: size, Values: state.Extend(p.Scorer.Values[:0], p.rows*size),
		Decision: p.Decision, Intervals: p.Intervals, Leverages: p.Leverages,
		Mixture: MixtureInputs,
	}
	p.setRules(l.rules.Mixed())
	p.last, p.linear = p.last[:0], p.linear[:0]
	p.seen.reset()
	p.outliers = slices.Grow(p.outliers[:0], p.rows)[:p.rows]
	clear(p.outliers)
	for i := range p.rows {
		p.last = append(p.last, l.lastOf(p, i))
		served := p.Scorer.Row(i)
		p.head.Predict(served, p.servedScores[i*k:(i+1)*k])
		r := mixture.Row{Row: member.Row{Head: &p.head, At: i, Last: p.last[i], Sparse: p.batch.Sparse(i)}, Engine: p.engineScores(i)}
		if l.fit != nil {
			d := l.width()
			r.X = p.x[i*d : (i+1)*d]
			if p.isBeyond(i) {
				p.beyond = m.Beyond(p.beyond[:0], r.X, p.within[i*d:(i+1)*d])
				r.Beyond = p.beyond
			}
		} else if l.early != nil {
			p.earlyX = state.Extend(p.earlyX[:0], l.dim)
			l.early.Apply(p.earlyX, p.raw.X(i))
			r.X = p.earlyX
		}
		m.Predict(p.mixedScores[i*k:(i+1)*k], p.Row(i), &r)
		p.linear = append(p.linear, m.Linear(size)...)
		if y := p.batch.Label(i); y.Task != Auto {
			bounded := target.BoundedLabel(y)
			p.outliers[i] = m.Update(&r, p.Row(i), served, bounded, target.BoundedWeight(p.batch.Weight(i))*p.fate(i).age)
			if !p.outliers[i] {
				p.seen.put(p.batch.keys[i], bounded)
			}
		}
	}
}

// lastOf returns the last label of the key of row i of p, or of any key if there is none. Outliers
// do not count. The labels of the rows before row i must have been seen.
func (l *Learner) lastOf(p *PredictedBatch, i int) Label {
	key := p.batch.keys[i]
	if y := p.seen.of(key); y.Task != Auto {
		return y
	}
	if y := l.mixture.Last(key); y.Task != Auto {
		return y
	}
	if y := p.seen.any; y.Task != Auto {
		return y
	}
	return l.last
}

// lastSeen holds the last labels of the rows of a pass. Searching the rows for them would take long in
// a long pass, and without labels a pass has any length.
type lastSeen struct {
	any     Label            // of any key
	without Label            // of the empty key, which needs no map
	keyed   map[string]Label // of the others; nil if there are none
}

// reset forgets all labels and keeps the memory.
func (s *lastSeen) reset() {
	s.any, s.without = Label{}, Label{}
	clear(s.keyed)
}

// of returns the last label of a key, the zero Label if there is none.
func (s *lastSeen) of(key string) Label {
	if key == "" {
		return s.without
	}
	return s.keyed[key]
}

// put records y as the last label of a key.
func (s *lastSeen) put(key string, y Label) {
	s.any = y
	if key == "" {
		s.without = y
		return
	}
	if s.keyed == nil {
		s.keyed = map[string]Label{}
	}
	s.keyed[key] = y
}

// learnMixed lets the mixture learn row i of p, which l has already counted.
func (l *Learner) learnMixed(p *PredictedBatch, i int, y Label, weight float64) {
	var x []float32
	if l.fit != nil {
		x = p.x[i*l.width() : (i+1)*l.width()]
	}
	last := Label{}
	if p.isMixed { // nothing was predicted for the first row
		last = p.last[i]
	}
	if !p.outlier(i) {
		l.mixture.Remember(p.batch.keys[i], y)
	}
	due := l.mixture.Push(x, p.batch.Sparse(i), last, y, weight, l.labelled, l.warming())
	switch {
	case due && l.fit == nil: // members have little to learn
		l.mixture.Learn(&l.head)
	case due:
		l.team.Go(func() {
			l.mixture.Learn(&l.head)
			l.watch(p)
			l.callMeanwhile()
		})
	}
	if n := warmup.EarlyAt(l.labelled); l.fit == nil && int64(n) == l.labelled && l.config.Metric == nil {
		l.setEarly(n)
		l.mixture.StartEarly(&l.head, l.early, l.warmup.Scaled(l.early, l.dim), l.warmup.Labels, l.warmup.Weights)
	}
}

// outlier reports whether the label of row i is an outlier, which only a mixture of numbers looks
// for.
func (p *PredictedBatch) outlier(i int) bool { return p.isMixed && p.outliers[i] }

// setEarly sets the scaler that members have before the first fit to that of the first rows.
func (l *Learner) setEarly(rows int) {
	s := l.warmup.EarlyScaler(rows, l.dim)
	l.early = &s
}

// margin returns that of the kernel: see mixture.Margin. It is 0 without a fit.
func (l *Learner) margin() float32 {
	if l.fit == nil {
		return 0
	}
	if k, ok := l.fit.Kernel.(kernel.Scaled); ok {
		return mixture.Margin(k.LengthScale())
	}
	return 0
}

// startMixed starts the members again with the fit of the warm-up, and lets them learn the rows so
// far, which are x as the model sees them.
func (l *Learner) startMixed(x []float64) {
	d := l.width()
	scaled := make([]float32, len(x))
	for i := range l.warmup.Labels {
		l.fit.Scaler.Apply(scaled[i*d:(i+1)*d], x[i*d:(i+1)*d])
	}
	l.mixture.Start(&l.head, l.fit.Scaler.ColumnWeights, l.margin(), scaled, l.warmup.Labels, l.warmup.Weights)
}

// loadMixed reads the mixture of a learner whose other fields are loaded.
func (l *Learner) loadMixed(s *state.Reader, v mixture.Static) {
	if !l.config.Mixture || l.head.Task == Auto || s.Err != nil {
		return
	}
	l.mixture = l.newMixture()
	var factors []float64
	if l.fit != nil {
		factors = l.fit.Scaler.ColumnWeights
	} else if n := warmup.EarlyAt(l.labelled); n > 0 && l.config.Metric == nil {
		l.setEarly(n)
		l.mixture.LoadEarly(&l.head, l.early, l.warmup.Labels[:n])
	}
	l.mixture.Load(s, &l.head, factors, l.margin(), l.labelled, len(l.warmup.Labels), v)
}
