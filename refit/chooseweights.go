package refit

import (
	"context"
	"errors"
)

// folds is how many parts the rows of a class are held out in, one after another.
const folds = 3

// ladder is the weights that ChooseWeights looks at.
var ladder = [...]float64{0.3, 0.1, 0.03, 0.01, 0.003}

// ChooseWeights returns c with weights in place of those that are 0. A third of
// the rows of each class is held out, each third in turn: under the best weights,
// the three nearest of the others are the least often of another class, by the
// metrics that are learned from the others. From the defaults on it looks for the
// best rung of a ladder for one weight, and for the other, until neither gains. Of
// the solver's goals here a relative gap of 1e-2 or 40 passes are enough. The
// defaults are what is returned where there are too few rows.
func ChooseWeights(ctx context.Context, tasks []Labelled, dim int, c MetricConfig, solver Config) (MetricConfig, error) {
	free := [2]bool{c.Shared == 0, c.Own == 0 && !c.Single}
	c, err := c.effective()
	if err != nil {
		return c, err
	}
	if err := validTasks(tasks, dim); err != nil {
		return c, err
	}
	solver.Relative, solver.Passes = max(solver.Relative, 1e-2), 40
	h := newHeldOut(tasks, dim)
	least, err := h.wrong(ctx, c, solver)
	for last := -1; last != least && err == nil; {
		last = least
		for weight, choose := range free {
			best := c
			for _, rung := range ladder {
				next := c
				if weight == 0 {
					next.Shared = rung
				} else {
					next.Own = rung
				}
				if !choose || err != nil {
					break
				}
				var n int
				if n, err = h.wrong(ctx, next, solver); err == nil && n < least {
					best, least = next, n
				}
			}
			c = best
		}
	}
	if errors.Is(err, errNoTriplets) {
		err = nil
	}
	return c, err
}

// heldOut is tasks in parts to learn from and to check, and the errors by weights.
type heldOut struct {
	dim          int
	learn, check [folds][]Labelled
	start        [folds]Start // where the last metrics ended
	seen         map[MetricConfig]int
}

// newHeldOut deals the rows of each class out to the parts in turn.
func newHeldOut(tasks []Labelled, dim int) *heldOut {
	h := &heldOut{dim: dim, seen: map[MetricConfig]int{}}
	for part := range folds {
		learn, check := make([]Labelled, len(tasks)), make([]Labelled, len(tasks))
		for j, l := range tasks {
			seen := map[int]int{}
			for i, class := range l.Classes {
				to := &learn[j]
				if seen[class]%folds == part {
					to = &check[j]
				}
				seen[class]++
				to.Points = append(to.Points, l.Points[i*dim:(i+1)*dim]...)
				to.Classes = append(to.Classes, class)
			}
		}
		h.learn[part], h.check[part] = learn, check
	}
	return h
}

// wrong is how many of the rows' three nearest are of another class.
func (h *heldOut) wrong(ctx context.Context, c MetricConfig, solver Config) (n int, err error) {
	if n, ok := h.seen[c]; ok {
		return n, nil
	}
	for part := range folds {
		m, s, err := learnMetrics(ctx, h.learn[part], h.dim, c, solver, h.start[part])
		if err != nil {
			return 0, err
		}
		h.start[part] = Start{X: s.X, Y: s.Y}
		for j, l := range h.check[part] {
			for i, nearest := range nearestPoints(h.learn[part][j], h.dim, 3, m.Of(j), l.Points) {
				for _, at := range nearest {
					if h.learn[part][j].Classes[at] != l.Classes[i] {
						n++
					}
				}
			}
		}
	}
	h.seen[c] = n
	return n, nil
}
