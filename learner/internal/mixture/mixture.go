package mixture

import (
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
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
