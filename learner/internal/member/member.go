// Package member has the simple learners that a mixture holds beside an engine. Each
// predicts scores as the head of the model has them.
package member

import (
	"github.com/accrete-ml/accrete/learner/internal/sparse"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Row is what a member predicts from.
type Row struct {
	Head *target.Head
	X    []float32 // scaled; nil before the first fit of the warm-up
	At   int       // index in the pass under way

	// Beyond is what X adds to the scores of random features because it is beyond the range that they
	// see; empty if it is not.
	Beyond []float64

	// Last is the last label of the same key, or of any key if this one has no label yet. Its
	// Task is Auto before the first label.
	Last target.Label

	Sparse sparse.Row // without columns if there are none
}

// Chunk is labelled rows that are learned together.
type Chunk struct {
	X       []float32 // rows × inputs; nil before the first fit
	Labels  []target.Label
	Weights []float64
	Again   bool           // as in engine.Minibatch
	More    bool           // likewise
	Last    []target.Label // as in Row
	Sparse  sparse.Rows    // only for a mixture that has a Sparse
}

// Clear empties c and keeps its memory.
func (c *Chunk) Clear() {
	c.X, c.Labels, c.Weights, c.Last = c.X[:0], c.Labels[:0], c.Weights[:0], c.Last[:0]
	c.Sparse.Clear()
}

// Member is a simple learner at work. It changes in Start, Learn and Widen, and nowhere
// else.
type Member interface {
	// Score sets f to the scores of a row. It returns false if there is no prediction
	// for it.
	Score(f []float64, r *Row) bool

	// Start begins again, with rows that a new fit of the warm-up scales. columnFactors are the
	// square roots of its column weights. Start reports whether the member has to learn the rows so
	// far again.
	Start(h target.Head, columnFactors []float64) bool

	// Learn learns the rows of a chunk.
	Learn(c *Chunk)

	// Widen adds a class, for the new head h. total is the weight of all rows so far.
	Widen(h target.Head, total float64)

	// Save writes the state with names that begin with a prefix, and Load reads it into
	// a new member that was started like the one that was saved.
	Save(a *state.Arrays, prefix string)
	Load(s *state.Reader, prefix string)
}

// Static is a member whose predictions do not depend on the labels of earlier rows directly, so
// that a scorer, which sees no labels, can make them as well: an Affine, a Machine or a Sparse.
type Static interface {
	Member

	// Ready reports whether it has coefficients.
	Ready() bool
}

// Affine is a member whose scores are affine in the inputs.
type Affine interface {
	Static

	// AddTo adds share times the coefficients for score c of the head h to w, of which the
	// last is the intercept.
	AddTo(w []float64, c int, share float64, h *target.Head)
}

// Machine is a member whose scores are sums over random features. All machines use the first random
// features of the same map.
type Machine interface {
	Static

	// Ahead is called with the n rows x of a pass, scaled as in Row and within the range that random
	// features see, before any of them is predicted.
	Ahead(x []float32, n int)

	// Thin sets the factor by which learning may cost less: 1 if the predictions of the machine
	// count, and more if they hardly do. It is not part of the state.
	Thin(by int)

	// Intercept returns the intercept of score c, with which the machine predicts once it is Ready.
	Intercept(c int) float64

	// AddServed adds the coefficients of the random features that the machine predicts with to sum,
	// rows × scores, each times the share of its score. It returns sum, to which it appends rows if
	// it has too few.
	AddServed(sum, shares []float64) []float64
}

// Kind is a row of the table of members.
type Kind struct {
	Name string // for people
	Help string

	// Labels reports whether the predictions depend directly on the labels of earlier rows, so that
	// only the learner can make them.
	Labels bool

	// Suits reports whether it has predictions for a task.
	Suits func(t target.Task) bool

	New func(h target.Head) Member
}

// All are the members of a mixture beside the engine.
var All = []Kind{
	linearKind(0.998, false),
	linearKind(0.9995, false),
	linearKind(1, false),
	linearKind(0.9995, true),
	transitionsKind,
	lastValueKind,
}
