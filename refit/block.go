package refit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// A BlockMatrix is a matrix whose columns come in blocks: A_i^j is what row i has
// in block j (Yu, Lin and Yang 2015, section 5.1).
type BlockMatrix interface {
	// Dims is the number of rows and of blocks of columns.
	Dims() (rows, blocks int)

	// Width is the number of columns in block j.
	Width(j int) int

	// Blocks is the blocks in which row i has anything, ascending. The caller does
	// not change it.
	Blocks(i int) []int

	// Dot is ⟨A_i^j, x⟩, and Add is dst += a A_i^j.
	Dot(i, j int, x []float64) float64
	Add(dst []float64, i, j int, a float64)
}

// Columns is the columns of a Dense matrix in blocks: block j ends where Ends[j]
// says, and the next begins there.
type Columns struct {
	A    *Dense
	Ends []int

	all []int
}

// NewColumns returns the columns of a in blocks of these widths. It panics if
// they are not all of the columns.
func NewColumns(a *Dense, widths ...int) *Columns {
	c := &Columns{A: a}
	end := 0
	for j, w := range widths {
		end += w
		c.Ends, c.all = append(c.Ends, end), append(c.all, j)
	}
	if end != a.p {
		panic("refit: blocks that are not all of the columns")
	}
	return c
}

func (c *Columns) Dims() (rows, blocks int) { return c.A.n, len(c.Ends) }
func (c *Columns) Width(j int) int          { return c.Ends[j] - c.begin(j) }
func (c *Columns) Blocks(int) []int         { return c.all }

func (c *Columns) begin(j int) int {
	if j == 0 {
		return 0
	}
	return c.Ends[j-1]
}

func (c *Columns) Dot(i, j int, x []float64) float64 {
	return vec.Dot(c.A.Row(i)[c.begin(j):c.Ends[j]], x)
}

func (c *Columns) Add(dst []float64, i, j int, a float64) {
	vec.Axpy(a, c.A.Row(i)[c.begin(j):c.Ends[j]], dst)
}

// A BlockLoss is φ_i of a few rows.
type BlockLoss interface {
	Rows() int // that the loss is of
	Value(z []float64) float64
	Slope(dst, z []float64) // sets dst to the gradient
	Conjugate(y []float64) float64

	// Prox sets y to the β that maximises ⟨s,β⟩ - φ*(β) - r/2 ‖β-y‖²: (41).
	Prox(y, s []float64, r float64)

	Gamma() float64    // strong convexity of Conjugate
	Start(y []float64) // sets y to a point to begin with
}

// Sum is the sum of a Loss over as many rows as it has targets: the BlockLoss of
// one row, mostly.
type Sum struct {
	Loss    Loss
	Targets []float64
}

func (l Sum) Rows() int      { return len(l.Targets) }
func (l Sum) Gamma() float64 { return l.Loss.Gamma() }

func (l Sum) Value(z []float64) (s float64) {
	for i, b := range l.Targets {
		s += l.Loss.Value(z[i], b)
	}
	return s
}

func (l Sum) Slope(dst, z []float64) {
	for i, b := range l.Targets {
		dst[i] = l.Loss.Slope(z[i], b)
	}
}

func (l Sum) Conjugate(y []float64) (s float64) {
	for i, b := range l.Targets {
		s += l.Loss.Conjugate(y[i], b)
	}
	return s
}

func (l Sum) Prox(y, s []float64, r float64) {
	for i, b := range l.Targets {
		y[i] = l.Loss.Prox(s[i], y[i], b, r)
	}
}

func (l Sum) Start(y []float64) {
	for i, b := range l.Targets {
		y[i] = l.Loss.Start(b)
	}
}

// A Regularizer is g_j of one block, strongly convex.
type Regularizer interface {
	Value(x []float64) float64     // of an x where it is finite
	Conjugate(v []float64) float64 // the maximum over x of ⟨v,x⟩ - g(x)

	// Prox sets x to the α that minimises ⟨c,α⟩ + g(α) + pull/2 ‖α-x‖², where pull
	// is 1/τ (44). A pull of 0 is allowed.
	Prox(x, c []float64, pull float64)

	Lambda() float64 // the strong convexity
}

// A BlockProblem is
//
//	min over x of  P(x) = 1/n Σ φ_i(A_i x) + Σ g_j(x_j)
//
// for blocks i of rows and j of columns (Yu, Lin and Yang 2015, (37)).
type BlockProblem struct {
	A            BlockMatrix
	Losses       []BlockLoss   // of consecutive rows
	Regularizers []Regularizer // one a block of columns
}

// blocks is a BlockProblem with where things are.
type blocks struct {
	*BlockProblem
	row, column   []int // where the numbers of a block begin, and the end
	lambda, gamma float64
	norms         []float64   // ‖A_i‖² of each block of rows, by Frobenius
	parts         [][]float64 // ‖A_i^j‖² of its blocks of columns, only those that are not 0
	touching      [][]int     // the rows that have something in a block of columns
}

func newBlocks(p *BlockProblem) (*blocks, error) {
	rows, count := p.A.Dims()
	b := &blocks{BlockProblem: p, row: []int{0}, column: []int{0}, lambda: math.Inf(1), gamma: math.Inf(1), touching: make([][]int, count)}
	if len(p.Regularizers) != count || len(p.Losses) == 0 {
		return nil, fmt.Errorf("%d regularizers of %d blocks, %d losses", len(p.Regularizers), count, len(p.Losses))
	}
	widest := 0
	for j, g := range p.Regularizers {
		b.column = append(b.column, b.column[j]+p.A.Width(j))
		b.lambda = min(b.lambda, g.Lambda())
		widest = max(widest, p.A.Width(j))
	}
	for i, l := range p.Losses {
		b.row = append(b.row, b.row[i]+l.Rows())
		b.gamma = min(b.gamma, l.Gamma())
	}
	if end := b.row[len(p.Losses)]; end != rows {
		return nil, fmt.Errorf("losses of %d rows for a matrix of %d", end, rows)
	}
	if !(b.lambda > 0) {
		return nil, errors.New("a regularizer that is not strongly convex")
	}
	part := make([]float64, widest)
	for i := range p.Losses {
		squares := map[int]float64{}
		for r := b.row[i]; r < b.row[i+1]; r++ {
			for _, j := range p.A.Blocks(r) {
				b.touching[j] = append(b.touching[j], r)
				v := part[:p.A.Width(j)]
				clear(v)
				p.A.Add(v, r, j, 1)
				squares[j] += vec.Dot(v, v)
			}
		}
		var own []float64
		for j := range count {
			if s, ok := squares[j]; ok {
				own = append(own, s)
			}
		}
		slices.Sort(own)
		norm := 0.0
		for _, s := range own {
			norm += s
		}
		b.parts, b.norms = append(b.parts, own), append(b.norms, norm)
	}
	return b, nil
}

// of is the numbers of block i of x, which begin where at says.
func of(x []float64, at []int, i int) []float64 { return x[at[i]:at[i+1]:at[i+1]] }

// times sets the elements of dst at these rows to those of Ax.
func (b *blocks) times(dst, x []float64, from, to int) {
	for r := from; r < to; r++ {
		var s float64
		for _, j := range b.A.Blocks(r) {
			s += b.A.Dot(r, j, of(x, b.column, j))
		}
		dst[r] = s
	}
}

// timesTransposed sets dst to Aᵀy.
func (b *blocks) timesTransposed(dst, y []float64) {
	clear(dst)
	for r, w := range y {
		if w != 0 {
			for _, j := range b.A.Blocks(r) {
				b.A.Add(of(dst, b.column, j), r, j, w)
			}
		}
	}
}

// primal is P(x), where z is Ax.
func (b *blocks) primal(x, z []float64) float64 {
	var s, g float64
	for i, l := range b.Losses {
		s += l.Value(of(z, b.row, i))
	}
	for j, r := range b.Regularizers {
		g += r.Value(of(x, b.column, j))
	}
	return s/float64(len(b.Losses)) + g
}

// dual is D(y), where u is Aᵀy.
func (b *blocks) dual(y, u []float64) float64 {
	var s, g float64
	n := float64(len(b.Losses))
	for i, l := range b.Losses {
		s += l.Conjugate(of(y, b.row, i))
	}
	v := make([]float64, len(u))
	for j, r := range b.Regularizers {
		block := of(v, b.column, j)
		for k, w := range of(u, b.column, j) {
			block[k] = -w / n
		}
		g += r.Conjugate(block)
	}
	return -g - s/n
}

// scale is Λ (38) as Scale has it: exact for one block of rows, to one part in
// 10,000 upwards for all of them and one or all blocks of columns, and otherwise
// an estimate.
func (b *blocks) scale(q, m int) float64 {
	top, norm := []float64(nil), 0.0
	for i, parts := range b.parts {
		s := 0.0
		for _, v := range parts[max(0, len(parts)-q):] {
			s += v
		}
		top = append(top, s)
		norm = max(norm, b.norms[i])
	}
	slices.Sort(top)
	n, p := len(b.Losses), len(b.Regularizers)
	if m == 1 {
		return top[n-1]
	}
	rows, columns := newSampler("scale rows", 0, n, m), newSampler("scale columns", 0, p, q)
	if m == n && (q == 1 || q == p) {
		scale := 0.0
		for j := range p / q {
			columns.order[0] = j
			scale = max(scale, b.spectral(rows.draw(), columns.order[:q], 300))
		}
		return scale * (1 + 1e-4)
	}
	bound := 0.0
	for _, v := range top[n-m:] {
		bound += v
	}
	scale := float64(m) * float64(q) / float64(p) * norm
	for range 8 {
		scale = max(scale, b.spectral(rows.draw(), columns.draw(), 12))
	}
	return min(1.2*scale, bound)
}

// spectral is ‖A_I^J‖₂² by power iterations, until it grows by less than one part
// in 10⁸ or after so many.
func (b *blocks) spectral(rows, columns []int, most int) float64 {
	x, u := make([]float64, b.column[len(b.Regularizers)]), make([]float64, b.column[len(b.Regularizers)])
	chosen := make([]bool, len(b.Regularizers))
	for _, j := range columns {
		chosen[j] = true
	}
	// The first vector is the rows' sum, which nothing of theirs is orthogonal to by chance.
	var last float64
	for step := range most {
		clear(u)
		var square float64
		for _, i := range rows {
			for r := b.row[i]; r < b.row[i+1]; r++ {
				s := 1.0
				if step > 0 {
					s = 0
					for _, j := range b.A.Blocks(r) {
						if chosen[j] {
							s += b.A.Dot(r, j, of(x, b.column, j))
						}
					}
				}
				square += float64(s * s)
				for _, j := range b.A.Blocks(r) {
					if chosen[j] {
						b.A.Add(of(u, b.column, j), r, j, s)
					}
				}
			}
		}
		if step > 0 && square-last <= 1e-8*square {
			return max(square, last)
		}
		if step > 0 {
			last = square
		}
		norm := math.Sqrt(vec.Dot(u, u))
		if norm == 0 {
			return last
		}
		for k := range u {
			x[k] = u[k] / norm
		}
	}
	return last
}

// SolveBlocks minimises p, with DSPDC, SPDC or SDCA. Config counts blocks; x and y
// of the start and of the solution are all blocks, one after the other. A start
// has to be where regularizers and conjugates are finite; without X it is what
// the regularizers' Prox makes of 0.
func SolveBlocks(ctx context.Context, p *BlockProblem, c Config, start Start) (*Solution, error) {
	b, err := newBlocks(p)
	if err != nil {
		return nil, err
	}
	n, count := len(p.Losses), len(p.Regularizers)
	if c.Primal == 0 || c.Method == SPDC {
		c.Primal = count
	}
	if c.Dual == 0 {
		c.Dual = 1
	}
	if c.Theorem == 0 {
		c.Theorem = 2
	}
	if c.Passes == 0 {
		c.Passes = 1000
	}
	if c.Primal < 1 || c.Primal > count || c.Dual < 1 || c.Dual > n || c.Theorem < 1 || c.Theorem > 2 || !(c.Scale >= 0) {
		return nil, fmt.Errorf("%d of %d primal and %d of %d dual blocks, theorem %d, scale %v", c.Primal, count, c.Dual, n, c.Theorem, c.Scale)
	}
	x, y, err := b.start(start)
	if err != nil {
		return nil, err
	}
	var m method
	switch c.Method {
	case DSPDC, SPDC, "":
		if c.Scale == 0 {
			c.Scale = b.scale(c.Primal, c.Dual)
		}
		m = newBlockDSPDC(b, c, x, y)
	case SDCA:
		m = newBlockSDCA(b, c, x, y)
	default:
		return nil, fmt.Errorf("no method of blocks is named %q: want dspdc, spdc or sdca", c.Method)
	}
	s := &Solution{Scale: c.Scale}
	ax, aty := make([]float64, len(y)), make([]float64, len(x))
	zero := make([]float64, len(x))
	for j, r := range p.Regularizers {
		r.Prox(of(zero, b.column, j), make([]float64, b.A.Width(j)), 1)
	}
	b.times(ax, zero, 0, len(ax))
	unit := b.primal(zero, ax)
	h := harness{clock: c.Clock, progress: c.Progress, goal: max(c.Gap, c.Relative*unit), passes: c.Passes}
	err = h.run(ctx, m.step, func(exact bool) (float64, float64) {
		if exact || len(h.trace)%refreshEvery == 0 {
			m.refresh()
		}
		x, y, z, u := m.pair()
		if z == nil || exact {
			z = ax
			b.times(z, x, 0, len(z))
		}
		if u == nil || exact {
			u = aty
			b.timesTransposed(u, y)
		}
		return b.primal(x, z), b.dual(y, u)
	})
	s.X, s.Y, _, _ = m.pair()
	s.Trace, s.Reached, s.Point = h.trace, h.reached, h.trace[len(h.trace)-1]
	gap := s.Point.Gap()
	s.Certificate = Certificate{s.Point.Primal, s.Point.Dual, gap / unit, math.Sqrt(2 * max(0, gap) / b.lambda)}
	return s, err
}

func (b *blocks) start(s Start) (x, y []float64, err error) {
	x, y = make([]float64, b.column[len(b.Regularizers)]), make([]float64, b.row[len(b.Losses)])
	if s.X != nil && len(s.X) != len(x) || s.Y != nil && len(s.Y) != len(y) {
		return nil, nil, fmt.Errorf("a start of %d and %d numbers for blocks of %d and %d", len(s.X), len(s.Y), len(x), len(y))
	}
	if s.X != nil {
		copy(x, s.X)
	} else {
		for j, r := range b.Regularizers {
			r.Prox(of(x, b.column, j), make([]float64, b.A.Width(j)), 1)
		}
	}
	switch {
	case s.Y != nil:
		copy(y, s.Y)
	case s.X != nil:
		z := make([]float64, len(y))
		b.times(z, x, 0, len(z))
		for i, l := range b.Losses {
			l.Slope(of(y, b.row, i), of(z, b.row, i))
		}
	default:
		for i, l := range b.Losses {
			l.Start(of(y, b.row, i))
		}
	}
	for i, l := range b.Losses {
		if !(l.Conjugate(of(y, b.row, i)) <= math.MaxFloat64) {
			return nil, nil, fmt.Errorf("the start's block %d of y is not one of dual variables", i)
		}
	}
	return x, y, nil
}
