package metriclearn

import (
	"errors"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim"
)

// errNoTriplets means that the problem has no rows.
var errNoTriplets = errors.New("no triplets: at least one task needs two classes, and two points of one of them")

// Problem returns the multi-task large margin nearest neighbour problem (Yu, Lin and Yang 2015,
// (50)). Block 0 is the metric X₀ that all tasks share, and block j+1 the own metric of task j,
// both dim × dim. optim.SolveBlocks runs Algorithm 3 on it.
func Problem(tasks []Task, dim int, c Config) (*optim.BlockProblem, error) {
	c, err := c.effective()
	if err != nil {
		return nil, err
	}
	if err := validate(tasks, dim); err != nil {
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
	for j, t := range tasks {
		where := []int{0, j + 1}
		if c.Single {
			where = where[:1]
		}
		pairs, triplets := neighborhoods(t, dim, c.Neighbors, c.Impostors)
		addPairs(linear, where, t, dim, pairs)
		for _, triplet := range triplets {
			m.add(t, triplet, where)
		}
	}
	n := len(m.where)
	if n == 0 {
		return nil, errNoTriplets
	}
	p := &optim.BlockProblem{A: m, Regularizers: regularizers(linear, n, dim, c)}
	classOne := []float64{1}
	for range n {
		p.Losses = append(p.Losses, optim.Sum{Loss: loss.SmoothedHinge{}, Targets: classOne})
	}
	return p, nil
}

// addPairs adds the squared distances of pairs, which are linear in the metrics, to the linear
// terms of the blocks in where.
func addPairs(linear [][]float64, where []int, t Task, dim int, pairs [][2]int) {
	difference := make([]float64, dim)
	for _, p := range pairs {
		u, v := point(t, dim, p[0]), point(t, dim, p[1])
		for k := range dim {
			difference[k] = u[k] - v[k]
		}
		for _, b := range where {
			for k, v := range difference {
				vec.Axpy(v, difference, linear[b][k*dim:(k+1)*dim])
			}
		}
	}
}

// point returns point i of a task.
func point(t Task, dim, i int) []float64 { return t.Points[i*dim : (i+1)*dim] }

// regularizers returns the regularizers of the metrics, with the linear terms divided by n. That of
// the shared metric is λ₀/2 ‖X₀-I‖².
func regularizers(linear [][]float64, n, dim int, c Config) []optim.Regularizer {
	var all []optim.Regularizer
	for j, l := range linear {
		for k := range l {
			l[k] /= float64(n)
		}
		g := optim.Semidefinite{Dim: dim, L2: c.Own, Linear: l}
		if j == 0 {
			g.L2, g.Constant = c.Shared, c.Shared*float64(dim)/2
			for k := range dim {
				l[k*dim+k] -= c.Shared
			}
		}
		all = append(all, g)
	}
	return all
}

// margins is the matrix of the problem. Row i is Z_i = aaᵀ - bbᵀ in each of its blocks, where a is
// the vector from the impostor to the point, and b the vector from the friend to the point. So ⟨Z,
// X⟩ = (a-b)ᵀX(a+b), and Z = ((a-b)(a+b)ᵀ + (a+b)(a-b)ᵀ)/2.
type margins struct {
	dim, blocks   int
	across, along []float64 // a-b and a+b of each row
	where         [][]int   // the blocks of each row
}

func (m *margins) add(t Task, triplet triplet, where []int) {
	u, v, w := point(t, m.dim, triplet.point), point(t, m.dim, triplet.friend), point(t, m.dim, triplet.impostor)
	for k := range m.dim {
		m.across = append(m.across, v[k]-w[k])
		m.along = append(m.along, (u[k]-v[k])+(u[k]-w[k]))
	}
	m.where = append(m.where, where)
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
