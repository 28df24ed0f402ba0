package mixture

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

const (
	// enginePrior is the weight of the engine before the first row. The others share the
	// rest.
	enginePrior = 0.5

	// ChunkRows is the number of labelled rows that members learn together, counted from
	// the first row of all.
	ChunkRows = 32

	// leastShare bounds the variance of the best expert from below, as a share of that
	// of the labels.
	leastShare = 1e-6
)

// outerPrior are the weights of the mixture and of its stacks before the first row.
var outerPrior = []float64{0.8, 0.1, 0.1}

// others is the number of predictions that are graded besides those of the experts: the mixture,
// and the mixture of a scorer.
const others = 2

// Mixture mixes an engine with simple members, by weights that change with every labelled row. Its
// experts are the engine, the members, and calibrated twins of some of them.
//
// Its state has two parts. Type rows is what changes with every labelled row, also within a batch
// that has not been learned. Everything else changes with every ChunkRows of them, in Learn.
type Mixture struct {
	task     target.Task
	targets  int // of which each has weights of its own; 1 for classes
	kinds    []member.Kind
	members  []member.Member
	machines []machine      // among them
	sparse   *member.Sparse // likewise; nil if rows have no sparse part
	twins    []int          // for each twin, the expert that it calibrates
	static   []int          // the experts that a scorer has, of which the first is the engine
	experts  int

	prior, staticPrior []float64

	theta        []float64 // factors of the stacks
	factor       []float64 // of a scorer, see type factor; empty without classes
	combines     bool      // see type combined
	extrapolates bool
	span         span      // of the inputs that were learned, see margin
	steady       []float32 // scores × inputs: coefficients of the linear member that forgets nothing; nil in a mixture that does not extrapolate
	combinedBy   []float64 // factors of its stacks
	now, ahead   *rows     // after the rows learned, and after those predicted
	Static       Static
	factors      []float64      // roots of the column weights; nil before the first fit
	scaler       *warmup.Scaler // of the members before the first fit, once they have rows
	chunk        member.Chunk
	early        []target.Label // last labels of the rows of the warm-up
	memory       memory

	scratch
}

// scratch is memory that rows reuse.
type scratch struct {
	f, p          []float64 // experts × scores, experts × values
	tops, rests   []float64 // of the scores of each expert that is awake: see loss.Softmax.LinkSum, and LinkExp of loss.Logistic
	reach         []float64 // the least and the largest prediction of each target of a regression
	awake, broken []bool
	w, losses     []float64
	x             []float64   // of the stacks: inputs × scores
	inner         []float64   // values of the mixture without its stacks
	stackF        [][]float64 // of each stack
	stackP        [][]float64
	outerAwake    []bool
	everyStatic   []bool
	gradient      []float64
	diagonal      []float64
	outerP        []float64
	staticLosses  []float64
	staticAwake   []bool
	features      []float64 // features × scores, of the mixture of a scorer

	combinedX, combinedShares []float64 // of the combination: inputs of its stacks, shares of the experts
	combinedF, combinedP      []float64 // scores and values of a stack
}

// machine is a member that is a Machine, and its number as an expert.
type machine struct {
	member.Machine
	expert int
}

// Options are what mixtures of some versions of the warm-up do, and older ones do not.
type Options struct {
	Combines     bool // a scorer has stacks: see type combined
	Extrapolates bool // random features see inputs within the range of those learned: see margin
}

// New returns the Mixture of member.All and of others for the task of h, which must not be
// target.Auto.
func New(h target.Head, o Options, beside ...member.Kind) *Mixture {
	m := &Mixture{
		task: h.Task, targets: h.Targets(), static: []int{0},
		combines: o.Combines && h.Task != target.Novelty, extrapolates: o.Extrapolates && h.Task != target.Novelty,
	}
	for _, k := range slices.Concat(member.All, beside) {
		if !k.Suits(h.Task) {
			continue
		}
		m.kinds = append(m.kinds, k)
		m.members = append(m.members, k.New(h))
		if o, ok := m.members[len(m.members)-1].(member.Machine); ok {
			m.machines = append(m.machines, machine{o, len(m.members)})
		}
		if o, ok := m.members[len(m.members)-1].(*member.Sparse); ok {
			m.sparse = o
		}
		if !k.Labels {
			m.static = append(m.static, len(m.members))
		}
	}
	m.shareLinear()
	m.experts = 1 + len(m.members)
	if h.Task == target.Classification {
		m.twins = m.static[:min(len(m.static), calibrated)]
		m.experts += len(m.twins)
	}
	m.prior = slices.Repeat([]float64{(1 - enginePrior) / float64(m.experts-1)}, m.experts)
	m.staticPrior = slices.Repeat([]float64{(1 - enginePrior) / float64(len(m.static)-1)}, len(m.static))
	m.prior[0], m.staticPrior[0] = enginePrior, enginePrior
	m.theta = make([]float64, m.targets*len(stackForgetting)*(1+m.experts))
	if h.Task == target.Classification && !m.combines {
		m.factor = []float64{1}
	}
	if m.combines {
		m.combinedBy = make([]float64, m.targets*len(stackForgetting)*(1+len(m.static)))
	}
	m.now, m.ahead = m.layout(m.theta), m.layout(m.theta)
	m.now.start()
	m.awake, m.broken = make([]bool, m.experts), make([]bool, m.experts)
	m.w, m.losses = make([]float64, m.experts), make([]float64, m.experts)
	m.tops, m.rests = make([]float64, m.experts), make([]float64, m.experts)
	m.everyStatic = slices.Repeat([]bool{true}, len(m.static))
	m.outerAwake = slices.Repeat([]bool{true}, len(outerPrior))
	return m
}

// shareLinear has each linear member share its coefficients with the first one, where they are equal.
func (m *Mixture) shareLinear() {
	var first *member.Linear
	for _, o := range m.members {
		if l, ok := o.(*member.Linear); ok && first == nil {
			first = l
		} else if ok {
			l.Share(first)
		}
	}
}

// calibrated is the number of experts that have calibrated twins, from the engine on.
const calibrated = 3

// Names returns the names of the experts, of which the first is that of the engine.
func (m *Mixture) Names(engine string) []string {
	names := []string{engine}
	for _, k := range m.kinds {
		names = append(names, k.Name)
	}
	for _, e := range m.twins {
		names = append(names, names[e]+", calibrated")
	}
	return names
}

// Row is what is predicted.
type Row struct {
	member.Row
	Engine []float64 // scores of the engine
}

// Begin begins a batch of n rows x that follows the rows learned. x is as in member.Row, but within
// the range: see Static.Within.
func (m *Mixture) Begin(x []float32, n int) {
	copy(m.ahead.all, m.now.all)
	for _, o := range m.machines {
		o.Ahead(x, n)
	}
}

// Commit makes what Update has done since Begin part of what was learned.
func (m *Mixture) Commit() { m.now, m.ahead = m.ahead, m.now }

// Predict sets f to the scores and p to the values of the prediction for r, after the
// rows of Update since Begin.
func (m *Mixture) Predict(f, p []float64, r *Row) {
	h := r.Head
	if h.Task == target.Classification && h.Classes < 2 {
		copy(f, r.Engine)
		h.Predict(p, f)
		return
	}
	m.ask(r)
	k, size := h.Scores(), len(p)
	m.inner = resized(m.inner, size)
	m.mixInner(m.inner, size)
	m.resizeStacks(k, size)
	for j := range m.targets {
		m.predictStacks(h, j)
		m.ahead.outer[j].Mix(m.w[:len(outerPrior)], m.outerAwake)
		lo, hi := j, j+1
		if m.task == target.Classification {
			lo, hi = 0, size
		}
		for c := lo; c < hi; c++ {
			p[c] = float64(m.w[0] * m.inner[c])
			for s := range stackForgetting {
				p[c] += float64(m.w[1+s] * m.stackP[s][c])
			}
		}
	}
	ScoresOf(h, f, p)
}

// ScoresOf sets f to the scores at which the head predicts p.
func ScoresOf(h *target.Head, f, p []float64) {
	switch {
	case h.Task == target.Regression:
		for j, u := range h.Scales {
			f[j] = (p[j] - u.Mean) / u.Deviation
		}
	case len(f) == 1:
		f[0] = logOdds(p)
	default:
		logsOf(f, p)
	}
}

// ask sets the scores and values of all experts for r, and which of them are awake.
func (m *Mixture) ask(r *Row) {
	h := r.Head
	k, size := h.Scores(), h.PredictionSize()
	m.f, m.p = resized(m.f, m.experts*k), resized(m.p, m.experts*size)
	ask := func(e int, awake bool) {
		f := m.f[e*k : (e+1)*k]
		m.awake[e], m.broken[e] = awake, false
		for _, v := range f {
			if awake && !(math.Abs(v) < math.MaxFloat64) {
				m.awake[e], m.broken[e] = false, true
			}
		}
		if m.awake[e] {
			p := m.p[e*size : (e+1)*size]
			m.predict(h, e, p, f)
			m.limit(p)
		}
	}
	for e := range m.rests {
		m.rests[e] = 1
	}
	m.reach = m.reach[:0]
	for j := range m.ahead.bounds {
		lo, hi := m.ahead.bounds[j].reach()
		m.reach = append(m.reach, lo, hi)
	}
	copy(m.f, r.Engine)
	for c, v := range r.Beyond {
		m.f[c] += v
	}
	ask(0, true)
	for i, o := range m.members {
		e := 1 + i
		ask(e, o.Score(m.f[e*k:(e+1)*k], &r.Row))
	}
	for i, of := range m.twins {
		e := 1 + len(m.members) + i
		if h.Classes != 2 || !m.awake[of] {
			ask(e, false)
			continue
		}
		p := m.ahead.bins[i].of(m.f[of], m.p[of*size+1])
		m.f[e] = logOf(p) - logOf(1-p)
		ask(e, true)
	}
	if !slices.Contains(m.awake, true) { // nothing is left to predict with
		clear(m.f[:k])
		ask(0, true)
	}
	if _, ok := h.Loss.(loss.Softmax); ok {
		vec.Logs(m.rests, m.rests)
	}
}

// limit keeps the values of a regression within the limits of what is predicted.
func (m *Mixture) limit(p []float64) {
	for j := range m.ahead.bounds {
		p[j] = max(m.reach[2*j], min(m.reach[2*j+1], p[j]))
	}
}

// mixInner sets p to the mixture of the values of the experts.
func (m *Mixture) mixInner(p []float64, size int) {
	clear(p)
	for j := range m.targets {
		m.ahead.inner[j].Mix(m.w, m.awake)
		for e, w := range m.w {
			if !m.awake[e] {
				continue
			}
			if m.task == target.Regression {
				p[j] += float64(w * m.p[e*size+j])
				continue
			}
			for c, v := range m.p[e*size : (e+1)*size] {
				p[c] += float64(w * v)
			}
		}
	}
}

func (m *Mixture) resizeStacks(k, size int) {
	m.x = resized(m.x, (1+m.experts)*k)
	if len(m.stackF) == 0 {
		m.stackF, m.stackP = make([][]float64, len(stackForgetting)), make([][]float64, len(stackForgetting))
	}
	for s := range m.stackF {
		m.stackF[s], m.stackP[s] = resized(m.stackF[s], k), resized(m.stackP[s], size)
	}
}

// predictStacks sets the scores and values of the stacks of target j.
func (m *Mixture) predictStacks(h *target.Head, j int) {
	inputs := 1 + m.experts
	if m.task == target.Classification {
		m.stackInputs(h, m.x, m.inner)
		for s := range stackForgetting {
			m.ahead.stacks[s].score(m.stackF[s], m.x)
			h.Predict(m.stackP[s], m.stackF[s])
		}
		return
	}
	x := m.x[j*inputs : (j+1)*inputs]
	mean, deviation := m.scale(j)
	m.numberInputs(x, j, mean, deviation)
	for s := range stackForgetting {
		f := m.stackF[s][j : j+1]
		m.ahead.stacks[j*len(stackForgetting)+s].score(f, x)
		lo, hi := m.ahead.bounds[j].reach()
		m.stackP[s][j] = max(lo, min(hi, mean+float64(deviation*f[0])))
	}
}

// numberInputs sets the inputs of the stacks of target j, in the standard deviation of
// the best expert.
func (m *Mixture) numberInputs(x []float64, j int, mean, deviation float64) {
	size := m.targets
	x[0] = bounded((m.inner[j] - mean) / deviation)
	for e := range m.experts {
		x[1+e] = 0
		if m.awake[e] {
			x[1+e] = bounded((m.p[e*size+j] - m.inner[j]) / deviation)
		}
	}
}

func bounded(v float64) float64 { return max(-mostDeviations, min(mostDeviations, v)) }

// scale returns the mean of the recent labels of target j, and the standard deviation of
// the errors of the expert with the smallest recent errors. Before the first label it returns
// the prediction of the mixture as the mean, so that the stacks predict the same.
func (m *Mixture) scale(j int) (mean, deviation float64) {
	l := m.ahead.labels[3*j : 3*j+3]
	if l[0] == 0 {
		return m.inner[j], 1
	}
	// The variance of the labels counts as one more squared error, with a weight that falls
	// with the number of labels: the first few errors of an expert may be small by luck.
	variance := l[2] / l[0]
	least := (slices.Min(m.ahead.squares[j*m.experts:(j+1)*m.experts]) + variance/l[0]) / l[0]
	least = max(least, float64(leastShare*variance))
	if least = min(least, m.ahead.bounds[j].mostVariance()); least == 0 {
		least = 1
	}
	return l[1], math.Sqrt(least)
}

// resized returns a slice of n elements, with the memory of x if that suffices.
func resized(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}
