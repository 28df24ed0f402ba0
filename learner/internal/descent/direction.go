package descent

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Directions are the directions that a step of descent can take.
var Directions = []string{"rate", "adagrad", "precond"}

// NewDirection returns the direction of a name, or says that there is none.
func NewDirection(name string) (direction, error) {
	switch name {
	case "rate":
		return new(Plain), nil
	case "adagrad":
		return new(adagrad), nil
	case "precond":
		return new(precond), nil
	}
	return nil, fmt.Errorf("no stepper is named %q: want one of %v", name, Directions)
}

// A direction turns the slope of some blocks into the step that descent takes
// in them.
type direction interface {
	// Turn sets slope, the gradient of the mean loss in the coefficients of the
	// blocks of s, to what is to be added to them.
	Turn(s *Step, slope []float64)

	// React forgets what the gradients so far said, because of drift.
	React()

	// Grow says how many coefficients there are now, widen that there is an output
	// more.
	Grow(coefficients int)
	Widen(h *target.Head, from int)

	Save(a *state.Arrays)
	Load(s *state.Reader, rows, outputs int)
}

// Step is a step under way, as a direction sees it.
type Step struct {
	Head     *target.Head
	Features *features.Bank
	from, to int     // blocks
	rate     float64 // step size along the gradient
	Since    int64   // steps before this one, from the last reaction to drift on

	X          []float32 // rows of the mini-batch
	Shares     []float64 // of each row in the weight of all
	Residue    []float64 // rows × scores: gradients in the scores, times the row's share
	Smoothness float64   // bound of the loss's second derivative
	Squares    float64   // of the gradients, weighted mean
}

// BlockSize is the number of random features in a block.
func (s *Step) BlockSize() int { return s.Features.Map().Width }

// Plain goes along the gradient.
type Plain struct{}

func (Plain) Turn(s *Step, slope []float64) {
	// The blocks touched share the step; normalised features are these by √width.
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

// adagrad gives each coefficient a step of its own: the gradient over the root
// of the sum of its squares so far (Duchi, Hazan and Singer 2011). It takes no
// notice of the rate.
type adagrad struct{ squares []float64 }

// adagradStep is how far the first step goes, in terms of features of norm 1.
const adagradStep = 0.5

func (a *adagrad) Turn(g *Step, slope []float64) {
	size := 2 * g.BlockSize() * g.Head.Scores()
	step := adagradStep / math.Sqrt(float64(2*g.BlockSize()*(g.to-g.from)))
	for i, s := range a.squares[g.from*size : g.to*size] {
		v := slope[i]
		s = min(s+float64(v*v), target.MaxMagnitude)
		a.squares[g.from*size+i] = s
		slope[i] = 0
		if s > 1e-300 {
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
func (a *adagrad) Load(s *state.Reader, rows, outputs int) {
	a.squares = state.Take[float64](s, "adagrad", rows*outputs, 1)
	s.Require(len(a.squares) == 0 || slices.Min(a.squares) >= 0, "adagrad: a sum of squares is negative")
}
