package learner

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features"
)

// steppers are the directions that a step of descent can take.
var steppers = []string{"rate", "adagrad", "precond"}

// newDirection returns the direction of a name, or says that there is none.
func newDirection(name string) (direction, error) {
	switch name {
	case "rate":
		return new(plain), nil
	case "adagrad":
		return new(adagrad), nil
	case "precond":
		return new(precond), nil
	}
	return nil, fmt.Errorf("no stepper is named %q: want one of %v", name, steppers)
}

// A direction turns the slope of some blocks into the step that descent takes
// in them.
type direction interface {
	// turn sets slope, the gradient of the mean loss in the coefficients of the
	// blocks of s, to what is to be added to them.
	turn(s *gradientStep, slope []float64)

	// react forgets what the gradients so far said, because of drift.
	react()

	// grow says how many coefficients there are now, widen that there is an output
	// more.
	grow(coefficients int)
	widen(h *head, from int)

	save(a *arrays)
	load(s *source, rows, outputs int)
}

// gradientStep is a step under way, as a direction sees it.
type gradientStep struct {
	head     *head
	features *features.Bank
	from, to int     // blocks
	rate     float64 // step size along the gradient
	since    int64   // steps before this one, from the last reaction to drift on

	x          []float32 // rows of the mini-batch
	shares     []float64 // of each row in the weight of all
	residue    []float64 // rows × scores: gradients in the scores, times the row's share
	smoothness float64   // bound of the loss's second derivative
	squares    float64   // of the gradients, weighted mean
}

// width is the number of random features in a block.
func (s *gradientStep) width() int { return s.features.Map().Width }

// plain goes along the gradient.
type plain struct{}

func (plain) turn(s *gradientStep, slope []float64) {
	// The blocks touched share the step; normalised features are these by √width.
	rate := s.rate / float64(s.width()*(s.to-s.from))
	for i := range slope {
		slope[i] *= -rate
	}
}

func (plain) react()                 {}
func (plain) grow(int)               {}
func (plain) widen(*head, int)       {}
func (plain) save(*arrays)           {}
func (plain) load(*source, int, int) {}

// adagrad gives each coefficient a step of its own: the gradient over the root
// of the sum of its squares so far (Duchi, Hazan and Singer 2011). It takes no
// notice of the rate.
type adagrad struct{ squares []float64 }

// adagradStep is how far the first step goes, in terms of features of norm 1.
const adagradStep = 0.5

func (a *adagrad) turn(g *gradientStep, slope []float64) {
	size := 2 * g.width() * g.head.sums()
	step := adagradStep / math.Sqrt(float64(2*g.width()*(g.to-g.from)))
	for i, s := range a.squares[g.from*size : g.to*size] {
		v := slope[i]
		s = min(s+float64(v*v), far)
		a.squares[g.from*size+i] = s
		slope[i] = 0
		if s > 1e-300 {
			slope[i] = -step * (v / math.Sqrt(s))
		}
	}
}

func (a *adagrad) react() { clear(a.squares) }

func (a *adagrad) grow(n int) { a.squares = append(a.squares, make([]float64, n-len(a.squares))...) }

func (a *adagrad) widen(h *head, from int) {
	a.squares = h.widen(a.squares, from)
	for i, s := range a.squares {
		a.squares[i] = math.Abs(s)
	}
}

func (a *adagrad) save(to *arrays) { put(to, "adagrad", 1, a.squares) }
func (a *adagrad) load(s *source, rows, outputs int) {
	a.squares = take[float64](s, "adagrad", rows*outputs, 1)
	s.want(len(a.squares) == 0 || slices.Min(a.squares) >= 0, "adagrad: a sum of squares is negative")
}
