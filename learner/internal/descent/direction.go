package descent

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Directions are the names of the directions that a step can take, the default first.
// They are those of Config.Direction, whose JSON key is part of the format of model logs.
var Directions = []string{"rate", "adagrad", precondName}

const precondName = "precond"

// NewDirection returns the direction of a name.
func NewDirection(name string) (direction, error) {
	switch name {
	case "rate":
		return new(Plain), nil
	case "adagrad":
		return new(adagrad), nil
	case precondName:
		return new(precond), nil
	}
	return nil, fmt.Errorf("unknown direction %q: want one of %v", name, Directions)
}

// A direction turns the gradient in some blocks into the step in them.
type direction interface {
	// Apply turns slope, the gradient of the mean loss in the coefficients of the
	// blocks of s, into what is to be added to them.
	Apply(s *Step, slope []float64)

	// React forgets the gradients so far, because of drift.
	React()

	// Grow sets the number of coefficients; Widen adds a score, for the new head h.
	Grow(coefficients int)
	Widen(h *target.Head, from int)

	Save(a *state.Arrays)
	Load(s *state.Reader, rows, scores int)
}

// Step is the step under way, as a direction sees it.
type Step struct {
	Head     *target.Head
	Features *features.Bank
	from, to int     // blocks
	rate     float64 // step size along the gradient, or part of a Newton step
	Lambda   float64 // weight of ‖f‖²/2 in the objective
	Since    int64   // steps before this one, from the last reaction to drift on

	X          []float32 // rows of the mini-batch
	Shares     []float64 // of each row in the weight of all
	Residuals  []float64 // rows × scores: gradients in the scores, multiplied by the share of the row
	Smoothness float64   // bound of the loss's second derivative
	Squares    float64   // of the gradients, weighted mean
	Averaged   float64   // likewise, of the gradients in the scores of the average
}

// BlockSize returns the number of random features in a block.
func (s *Step) BlockSize() int { return s.Features.Map().BlockSize }

// Plain steps along the gradient.
type Plain struct{}

func (Plain) Apply(s *Step, slope []float64) {
	// The blocks share the step. Features of norm 1 are these divided by √BlockSize.
	rate := s.rate / float64(s.BlockSize()*(s.to-s.from))
	for i := range slope {
		slope[i] *= -rate
	}
}

func (Plain) React()                       {}
func (Plain) Grow(int)                     {}
func (Plain) Widen(*target.Head, int)      {}
func (Plain) Save(*state.Arrays)           {}
func (Plain) Load(*state.Reader, int, int) {}

// adagrad gives each coefficient a step size of its own: it divides the gradient by
// the root of the sum of its squares so far (Duchi, Hazan and Singer 2011). It ignores
// the rate.
type adagrad struct{ squares []float64 }

const (
	// adagradStep is the length of the first step, for features of norm 1. Chosen by
	// trial, see docs/constants.md.
	adagradStep = 0.5

	// minSquares is the least sum of squares that can be divided by.
	minSquares = 1e-300
)

func (a *adagrad) Apply(g *Step, slope []float64) {
	size := 2 * g.BlockSize() * g.Head.Scores()
	step := adagradStep / math.Sqrt(float64(2*g.BlockSize()*(g.to-g.from)))
	for i, s := range a.squares[g.from*size : g.to*size] {
		v := slope[i]
		s = min(s+float64(v*v), target.MaxMagnitude)
		a.squares[g.from*size+i] = s
		slope[i] = 0
		if s > minSquares {
			slope[i] = -step * (v / math.Sqrt(s))
		}
	}
}

func (a *adagrad) React() { clear(a.squares) }

func (a *adagrad) Grow(n int) { a.squares = append(a.squares, make([]float64, n-len(a.squares))...) }

func (a *adagrad) Widen(h *target.Head, from int) {
	a.squares = h.Widen(a.squares, from)
	for i, s := range a.squares {
		a.squares[i] = math.Abs(s)
	}
}

func (a *adagrad) Save(to *state.Arrays) { state.Put(to, "adagrad", 1, a.squares) }
func (a *adagrad) Load(s *state.Reader, rows, scores int) {
	a.squares = state.Take[float64](s, "adagrad", rows*scores, 1)
	s.Require(len(a.squares) == 0 || slices.Min(a.squares) >= 0, "adagrad: a sum of squares is negative")
}
