package refit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Labelled is points of a few numbers each, row-major, with their classes.
type Labelled struct {
	Points  []float64
	Classes []int
}

// A MetricConfig says how to learn metrics. The zero value of each field stands
// for what its comment names.
type MetricConfig struct {
	Neighbors int     // nearest points of its class that a point is kept near to: 3
	Impostors int     // nearest points of other classes that they are to be nearer than: 1
	Shared    float64 // λ₀, the weight of ‖X₀-I‖²/2: 0.01
	Own       float64 // λ_j, that of ‖X_j‖²/2 of each task: 0.1
	Single    bool    // no metrics but the shared one
}

func (c MetricConfig) effective() (MetricConfig, error) {
	c.Neighbors, c.Impostors = or(c.Neighbors, 3), or(c.Impostors, 1)
	c.Shared, c.Own = or(c.Shared, 0.01), or(c.Own, 0.1)
	if c.Neighbors < 1 || c.Impostors < 1 || !(c.Shared > 0 && c.Own > 0) {
		return c, fmt.Errorf("%d neighbors, %d impostors, weights %v and %v", c.Neighbors, c.Impostors, c.Shared, c.Own)
	}
	return c, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// MetricProblem returns the multi-task large margin nearest neighbour problem
// (Parameswaran and Weinberger 2010, in the form of Yu, Lin and Yang 2015, (50)):
// block 0 is the metric X₀ that all tasks share, and block j+1 that of task j's
// own, of dim x dim. SolveBlocks runs Algorithm 3 on it.
func MetricProblem(tasks []Labelled, dim int, c MetricConfig) (*BlockProblem, error) {
	c, err := c.effective()
	if err != nil {
		return nil, err
	}
	if err := validTasks(tasks, dim); err != nil {
		return nil, err
	}
	m := &margins{dim: dim, blocks: 1 + len(tasks)}
	if c.Single {
		m.blocks = 1
	}
	linear := make([][]float64, m.blocks)
	for j := range linear {
		linear[j] = make([]float64, dim*dim)
	}
	difference := make([]float64, dim)
	for j, l := range tasks {
		where := []int{0, j + 1}
		if c.Single {
			where = where[:1]
		}
		pairs, triplets := Triplets(l, dim, c.Neighbors, c.Impostors)
		at := func(i int) []float64 { return l.Points[i*dim : (i+1)*dim] }
		for _, p := range pairs {
			for k, v := range at(p[0]) {
				difference[k] = v - at(p[1])[k]
			}
			for _, b := range where {
				for k, v := range difference {
					vec.Axpy(v, difference, linear[b][k*dim:(k+1)*dim])
				}
			}
		}
		for _, t := range triplets {
			u, v, w := at(t.Point), at(t.Friend), at(t.Impostor)
			for k := range dim {
				m.across = append(m.across, v[k]-w[k])
			}
			for k := range dim {
				m.along = append(m.along, (u[k]-v[k])+(u[k]-w[k]))
			}
			m.where = append(m.where, where)
		}
	}
	n := len(m.where)
	if n == 0 {
		return nil, errNoTriplets
	}
	p := &BlockProblem{A: m}
	one := []float64{1}
	for range n {
		p.Losses = append(p.Losses, Sum{SmoothHinge{}, one})
	}
	for j, l := range linear {
		for k := range l {
			l[k] /= float64(n)
		}
		g := Semidefinite{Dim: dim, L2: c.Own, Linear: l}
		if j == 0 {
			g.L2, g.Constant = c.Shared, c.Shared*float64(dim)/2
			for k := range dim {
				l[k*dim+k] -= c.Shared
			}
		}
		p.Regularizers = append(p.Regularizers, g)
	}
	return p, nil
}

var errNoTriplets = errors.New("no triplets: it takes two classes and two points of one in some task")

func validTasks(tasks []Labelled, dim int) error {
	for j, l := range tasks {
		if dim < 1 || len(l.Points) != dim*len(l.Classes) {
			return fmt.Errorf("task %d has %d numbers for %d points of %d", j, len(l.Points), len(l.Classes), dim)
		}
		for i, v := range l.Points {
			if math.Abs(v) > 1e75 || math.IsNaN(v) {
				return fmt.Errorf("point %d of task %d has a coordinate %v", i/dim, j, v)
			}
		}
	}
	return nil
}

// margins is the matrix of MT-LMNN: row i has Z_i = aaᵀ - bbᵀ in the blocks that
// it belongs to, with a from the impostor to the point and b from the friend. So
// ⟨Z, X⟩ = (a-b)ᵀX(a+b), and Z = ((a-b)(a+b)ᵀ + (a+b)(a-b)ᵀ)/2.
type margins struct {
	dim, blocks   int
	across, along []float64 // a-b and a+b of each row
	where         [][]int
}

func (m *margins) Dims() (rows, blocks int) { return len(m.where), m.blocks }
func (m *margins) Width(int) int            { return m.dim * m.dim }
func (m *margins) Blocks(i int) []int       { return m.where[i] }

func (m *margins) Dot(i, _ int, x []float64) float64 {
	d := m.dim
	along := m.along[i*d : (i+1)*d]
	var s float64
	for k, v := range m.across[i*d : (i+1)*d] {
		s += float64(v * vec.Dot(along, x[k*d:(k+1)*d]))
	}
	return s
}

func (m *margins) Add(dst []float64, i, _ int, a float64) {
	d := m.dim
	across, along := m.across[i*d:(i+1)*d], m.along[i*d:(i+1)*d]
	for k := range d {
		row := dst[k*d : (k+1)*d]
		vec.Axpy(a/2*across[k], along, row)
		vec.Axpy(a/2*along[k], across, row)
	}
}

// Metrics are positive semidefinite matrices M: the squared distance of x and y
// is (x-y)ᵀM(x-y).
type Metrics struct {
	Dim    int
	Shared []float64   // Dim x Dim
	Own    [][]float64 // of each task; empty if there is no metric but the shared one
}

// Of returns the metric of a task: the shared one, and the task's own if there is
// such a task.
func (m *Metrics) Of(task int) []float64 {
	sum := slices.Clone(m.Shared)
	if task < len(m.Own) {
		vec.Axpy(1, m.Own[task], sum)
	}
	return sum
}

// LearnMetrics learns a metric that the tasks share and one for each of them. The
// zero solver runs up to 1000 passes; it should have a gap to stop at. It never has
// more blocks a step than there are.
func LearnMetrics(ctx context.Context, tasks []Labelled, dim int, c MetricConfig, solver Config) (*Metrics, *Solution, error) {
	return learnMetrics(ctx, tasks, dim, c, solver, Start{})
}

func learnMetrics(ctx context.Context, tasks []Labelled, dim int, c MetricConfig, solver Config, start Start) (*Metrics, *Solution, error) {
	p, err := MetricProblem(tasks, dim, c)
	if err != nil {
		return nil, nil, err
	}
	solver.Primal, solver.Dual = min(solver.Primal, len(p.Regularizers)), min(solver.Dual, len(p.Losses))
	s, err := SolveBlocks(ctx, p, solver, start)
	if s == nil {
		return nil, nil, err
	}
	m := &Metrics{Dim: dim, Shared: s.X[:dim*dim]}
	for at := dim * dim; at < len(s.X); at += dim * dim {
		m.Own = append(m.Own, s.X[at:at+dim*dim])
	}
	return m, s, err
}
