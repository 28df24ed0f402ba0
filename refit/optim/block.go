package optim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// A BlockMatrix is a matrix whose columns come in blocks: A_i^j is the part of row i
// in block j (section 5.1).
type BlockMatrix interface {
	// Dims returns the number of rows and of blocks of columns.
	Dims() (rows, blocks int)

	// Width returns the number of columns in block j.
	Width(j int) int

	// Blocks returns the blocks in which row i has elements, ascending. The caller
	// must not change them.
	Blocks(i int) []int

	// Dot returns ⟨A_i^j, x⟩, and Add adds a A_i^j to dst.
	Dot(i, j int, x []float64) float64
	Add(dst []float64, i, j int, a float64)
}

// A BlockProblem is
//
//	min over x of  P(x) = 1/n Σ φ_i(A_i x) + Σ g_j(x_j)
//
// for blocks i of rows and j of columns (37).
type BlockProblem struct {
	A            BlockMatrix
	Losses       []BlockLoss   // losses of consecutive blocks of rows
	Regularizers []Regularizer // one for each block of columns
}

// blocks is a BlockProblem together with its layout.
type blocks struct {
	*BlockProblem
	rowStart, columnStart []int // first index of each block, and the end
	lambda, gamma         float64
	norms                 []float64   // ‖A_i‖² of each block of rows, in the Frobenius norm
	parts                 [][]float64 // ‖A_i^j‖² for each block of rows over its blocks of columns, ascending, without zeros
	rowsOf                [][]int     // rows that have elements in each block of columns
}

func newBlocks(p *BlockProblem) (*blocks, error) {
	rows, count := p.A.Dims()
	b := &blocks{BlockProblem: p, rowStart: []int{0}, columnStart: []int{0}, lambda: math.Inf(1), gamma: math.Inf(1), rowsOf: make([][]int, count)}
	if len(p.Regularizers) != count || len(p.Losses) == 0 {
		return nil, fmt.Errorf("%d regularizers for %d blocks of columns, %d losses", len(p.Regularizers), count, len(p.Losses))
	}
	widest := 0
	for j, g := range p.Regularizers {
		b.columnStart = append(b.columnStart, b.columnStart[j]+p.A.Width(j))
		b.lambda = min(b.lambda, g.Lambda())
		widest = max(widest, p.A.Width(j))
	}
	for i, l := range p.Losses {
		b.rowStart = append(b.rowStart, b.rowStart[i]+l.Rows())
		b.gamma = min(b.gamma, l.Gamma())
	}
	if end := b.rowStart[len(p.Losses)]; end != rows {
		return nil, fmt.Errorf("losses for %d rows, but the matrix has %d", end, rows)
	}
	if !(b.lambda > 0) {
		return nil, errors.New("a regularizer is not strongly convex")
	}
	part := make([]float64, widest)
	for i := range p.Losses {
		squares := map[int]float64{}
		for r := b.rowStart[i]; r < b.rowStart[i+1]; r++ {
			for _, j := range p.A.Blocks(r) {
				b.rowsOf[j] = append(b.rowsOf[j], r)
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

// block returns block i of x, given the first index of each block.
func block(x []float64, start []int, i int) []float64 {
	return x[start[i]:start[i+1]:start[i+1]]
}

func (b *blocks) size() (rows, columns int) {
	return b.rowStart[len(b.Losses)], b.columnStart[len(b.Regularizers)]
}

func (b *blocks) convexity() float64 { return b.lambda }

// GapUnit returns the objective at the default start, of which relative gaps are multiples.
func (b *blocks) GapUnit() float64 {
	rows, columns := b.size()
	x, z := make([]float64, columns), make([]float64, rows)
	b.startPrimal(x)
	b.multiply(z, x)
	return b.primal(x, z)
}

// startPrimal moves x, which must be 0, to the default start: the proximal point of 0.
func (b *blocks) startPrimal(x []float64) {
	for j, r := range b.Regularizers {
		r.Prox(block(x, b.columnStart, j), make([]float64, b.A.Width(j)), 1)
	}
}

// multiply sets dst to Ax.
func (b *blocks) multiply(dst, x []float64) { b.multiplyRows(dst, x, 0, len(dst)) }

// multiplyRows sets the elements [from, to) of dst to those of Ax.
func (b *blocks) multiplyRows(dst, x []float64, from, to int) {
	for r := from; r < to; r++ {
		var s float64
		for _, j := range b.A.Blocks(r) {
			s += b.A.Dot(r, j, block(x, b.columnStart, j))
		}
		dst[r] = s
	}
}

// multiplyTransposed sets dst to Aᵀy.
func (b *blocks) multiplyTransposed(dst, y []float64) {
	clear(dst)
	for r, w := range y {
		if w != 0 {
			for _, j := range b.A.Blocks(r) {
				b.A.Add(block(dst, b.columnStart, j), r, j, w)
			}
		}
	}
}

// primal returns P(x), where z is Ax.
func (b *blocks) primal(x, z []float64) float64 {
	var s, g float64
	for i, l := range b.Losses {
		s += l.Value(block(z, b.rowStart, i))
	}
	for j, r := range b.Regularizers {
		g += r.Value(block(x, b.columnStart, j))
	}
	return s/float64(len(b.Losses)) + g
}

// dual returns D(y), where u is Aᵀy.
func (b *blocks) dual(y, u []float64) float64 {
	var s, g float64
	n := float64(len(b.Losses))
	for i, l := range b.Losses {
		s += l.Conjugate(block(y, b.rowStart, i))
	}
	v := make([]float64, len(u))
	for j, r := range b.Regularizers {
		at := block(v, b.columnStart, j)
		for k, w := range block(u, b.columnStart, j) {
			at[k] = -w / n
		}
		g += r.Conjugate(at)
	}
	return -g - s/n
}

// Columns is a Dense matrix with its columns in blocks.
type Columns struct {
	a    *matrix.Dense
	ends []int // of the blocks, in columns
	all  []int
}

// NewColumns returns the columns of a in blocks of the given widths. It panics if the widths do not
// add up to the number of columns of a.
func NewColumns(a *matrix.Dense, widths ...int) *Columns {
	c := &Columns{a: a}
	end := 0
	for j, w := range widths {
		end += w
		c.ends, c.all = append(c.ends, end), append(c.all, j)
	}
	if _, columns := a.Dims(); end != columns {
		panic("optim: the blocks do not cover all columns")
	}
	return c
}

func (c *Columns) Dims() (rows, blocks int) {
	rows, _ = c.a.Dims()
	return rows, len(c.ends)
}
func (c *Columns) Width(j int) int  { return c.ends[j] - c.begin(j) }
func (c *Columns) Blocks(int) []int { return c.all }

func (c *Columns) begin(j int) int {
	if j == 0 {
		return 0
	}
	return c.ends[j-1]
}

func (c *Columns) Dot(i, j int, x []float64) float64 {
	return vec.Dot(c.a.Row(i)[c.begin(j):c.ends[j]], x)
}

func (c *Columns) Add(dst []float64, i, j int, a float64) {
	vec.Axpy(a, c.a.Row(i)[c.begin(j):c.ends[j]], dst)
}
