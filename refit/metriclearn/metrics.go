package metriclearn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/refit/optim"
)

// A Task has points of dim numbers each, row-major, with their classes.
type Task struct {
	Points  []float64
	Classes []int
}

func validate(tasks []Task, dim int) error {
	const most = 1e75 // its fourth power is finite, and so is every product here
	for j, t := range tasks {
		if dim < 1 || len(t.Points) != dim*len(t.Classes) {
			return fmt.Errorf("task %d has %d numbers for %d points of dimension %d", j, len(t.Points), len(t.Classes), dim)
		}
		for i, v := range t.Points {
			if math.Abs(v) > most || math.IsNaN(v) {
				return fmt.Errorf("point %d of task %d has the coordinate %v", i/dim, j, v)
			}
		}
	}
	return nil
}

// Config is the configuration of the problem. The comment of a field names its default, for which
// the zero value stands.
type Config struct {
	Neighbors int     // number of nearest points of its class that a point should stay near: 3
	Impostors int     // number of nearest points of other classes that should be farther away than these: 1
	Shared    float64 // λ₀, the penalty of ‖X₀-I‖²/2: 0.01
	Own       float64 // λ_j, the penalty of ‖X_j‖²/2 of each task: 0.1
	Single    bool    // learn only the shared metric
}

func (c Config) effective() (Config, error) {
	c.Neighbors, c.Impostors = cmp.Or(c.Neighbors, 3), cmp.Or(c.Impostors, 1)
	c.Shared, c.Own = cmp.Or(c.Shared, 0.01), cmp.Or(c.Own, 0.1)
	switch {
	case c.Neighbors < 1 || c.Impostors < 1:
		return c, fmt.Errorf("%d neighbors and %d impostors: want 1 or more", c.Neighbors, c.Impostors)
	case !(c.Shared > 0 && c.Own > 0):
		return c, fmt.Errorf("penalties %v and %v: want more than 0", c.Shared, c.Own)
	}
	return c, nil
}

// Metrics are positive semidefinite matrices M: the squared distance of x and y
// is (x-y)ᵀM(x-y).
type Metrics struct {
	Dim    int
	Shared []float64   // Dim x Dim
	Own    [][]float64 // own metric of each task; empty if there is only the shared one
}

// Task returns the metric of a task: the sum of the shared metric and, if there is one, of the own
// metric of the task.
func (m *Metrics) Task(task int) []float64 {
	sum := slices.Clone(m.Shared)
	if task < len(m.Own) {
		vec.Axpy(1, m.Own[task], sum)
	}
	return sum
}

// Learn learns a metric that the tasks share and one for each task. The zero solver makes up to
// 1000 passes; it should have a gap to stop at. If it asks for more blocks a step than there are,
// it takes all of them.
func Learn(ctx context.Context, tasks []Task, dim int, c Config, solver optim.Config) (*Metrics, *optim.Solution, error) {
	return learn(ctx, tasks, dim, c, solver, optim.Start{})
}

func learn(ctx context.Context, tasks []Task, dim int, c Config, solver optim.Config, start optim.Start) (*Metrics, *optim.Solution, error) {
	p, err := Problem(tasks, dim, c)
	if err != nil {
		return nil, nil, err
	}
	solver.Primal, solver.Dual = min(solver.Primal, len(p.Regularizers)), min(solver.Dual, len(p.Losses))
	s, err := optim.SolveBlocks(ctx, p, solver, start)
	if s == nil {
		return nil, nil, err
	}
	m := &Metrics{Dim: dim, Shared: s.X[:dim*dim]}
	for at := dim * dim; at < len(s.X); at += dim * dim {
		m.Own = append(m.Own, s.X[at:at+dim*dim])
	}
	return m, s, err
}
