package refit

import (
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
