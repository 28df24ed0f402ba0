package metriclearn

import (
	"context"
	"errors"

	"github.com/accrete-ml/accrete/refit/optim"
)

// folds is the number of parts among which the rows of a class are divided.
const folds = 3

// candidates are the penalties that choosePenalties tries: half a decade apart, around
// the defaults.
var candidates = [...]float64{0.3, 0.1, 0.03, 0.01, 0.003}

// tuningGap and tuningPasses bound the cost of trying penalties. A rough solution is enough,
// because the nearest neighbours do not depend on the last digits of a metric.
const (
	tuningGap    = 1e-2
	tuningPasses = 40
)

// heldOutNeighbors is the number of nearest neighbours of a row that are checked.
const heldOutNeighbors = 3

// choosePenalties returns c with values for the penalties that are 0. It holds out a third of the
// rows of each class, each third in turn, and learns metrics from the others. For each row held
// out, it counts how many of its three nearest neighbours among the others are of another class.
// The best penalties are those with the fewest such errors. The search starts at the defaults and
// tries all candidates for one penalty and then for the other, until neither improves. If there are
// too few rows, it returns the defaults.
func choosePenalties(ctx context.Context, tasks []Task, dim int, c Config, solver optim.Config) (Config, error) {
	chooseShared, chooseOwn := c.Shared == 0, c.Own == 0 && !c.Single
	c, err := c.effective()
	if err != nil {
		return c, err
	}
	if err := validate(tasks, dim); err != nil {
		return c, err
	}
	solver.Relative, solver.Passes = max(solver.Relative, tuningGap), tuningPasses
	h := newHeldOut(tasks, dim, solver)
	least, err := h.errors(ctx, c)
	for last := -1; last != least && err == nil; {
		last = least
		if chooseShared {
			c, least, err = h.search(ctx, c, least, func(c *Config, penalty float64) { c.Shared = penalty })
		}
		if chooseOwn && err == nil {
			c, least, err = h.search(ctx, c, least, func(c *Config, penalty float64) { c.Own = penalty })
		}
	}
	if errors.Is(err, errNoTriplets) {
		err = nil
	}
	return c, err
}

// search returns c with the best candidate for one penalty, and the number of errors with it; least
// is the number of errors with c.
func (h *heldOut) search(ctx context.Context, c Config, least int, set func(c *Config, penalty float64)) (Config, int, error) {
	best := c
	for _, penalty := range candidates {
		next := c
		set(&next, penalty)
		n, err := h.errors(ctx, next)
		if err != nil {
			return best, least, err
		}
		if n < least {
			best, least = next, n
		}
	}
	return best, least, nil
}

// heldOut has the tasks divided into parts to learn from and to check, and the numbers of errors of
// the configurations that were tried.
type heldOut struct {
	dim          int
	solver       optim.Config
	learn, check [folds][]Task
	start        [folds]optim.Start // the last solution
	seen         map[Config]int
}

// newHeldOut distributes the rows of each class over the parts in turn.
func newHeldOut(tasks []Task, dim int, solver optim.Config) *heldOut {
	h := &heldOut{dim: dim, solver: solver, seen: map[Config]int{}}
	for part := range folds {
		learn, check := make([]Task, len(tasks)), make([]Task, len(tasks))
		for j, t := range tasks {
			seen := map[int]int{}
			for i, class := range t.Classes {
				to := &learn[j]
				if seen[class]%folds == part {
					to = &check[j]
				}
				seen[class]++
				to.Points = append(to.Points, point(t, dim, i)...)
				to.Classes = append(to.Classes, class)
			}
		}
		h.learn[part], h.check[part] = learn, check
	}
	return h
}

// errors returns how many of the nearest neighbours of all rows are of another class than the row.
func (h *heldOut) errors(ctx context.Context, c Config) (n int, err error) {
	if n, ok := h.seen[c]; ok {
		return n, nil
	}
	for part := range folds {
		m, s, err := learn(ctx, h.learn[part], h.dim, c, h.solver, h.start[part])
		if err != nil {
			return 0, err
		}
		h.start[part] = optim.Start{X: s.X, Y: s.Y}
		for j, t := range h.check[part] {
			for i, nearest := range nearestPoints(h.learn[part][j], h.dim, heldOutNeighbors, m.Task(j), t.Points) {
				for _, at := range nearest {
					if h.learn[part][j].Classes[at] != t.Classes[i] {
						n++
					}
				}
			}
		}
	}
	h.seen[c] = n
	return n, nil
}
