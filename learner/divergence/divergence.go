// Package divergence compares two samples of rows. It estimates the logarithm of the ratio of their
// densities and the divergences that follow from it, tests whether both samples have the same
// distribution, and finds the columns in which they differ. A Monitor does this for a stream.
//
// Samples are rows × dim numbers in row-major order, NaN for a missing value. All results are a
// function of the samples alone.
package divergence

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Estimate compares a sample p with a reference q.
type Estimate struct {
	KL       float64  // Kullback-Leibler divergence KL(p‖q) in nats, see kl
	Direct   float64  // Pearson divergence of p from q, see pearson
	Relative float64  // Pearson divergence of p from 0.1·p + 0.9·q
	P        float64  // p-value of the hypothesis that p and q have the same distribution, see same
	Columns  []Column // in their order
}

// Column says how much a column differs.
type Column struct {
	Distance float64 // largest difference of the distribution functions (Kolmogorov, Smirnov)
	P        float64 // p-value of the hypothesis that there is no difference
}

// MinRows is the least number of rows of a sample.
const MinRows = 20

const (
	frequencies  = 32 // random features of the density ratio; a compromise with the time, which grows with its cube
	seed         = 1
	permutations = 199
	relativeTo   = 0.1 // share of p in the denominator of Relative (Yamada et al. 2013)
	clip         = 8   // standard deviations
)

// penalties are the values of λ that are compared on held-out rows.
var penalties = []float64{1e-1, 1e-2, 1e-3, 1e-4}

// Compare returns the estimates for the sample p and the reference q.
func Compare(p, q []float64, dim int) (Estimate, error) {
	if dim < 1 || len(p)%dim != 0 || len(q)%dim != 0 {
		return Estimate{}, fmt.Errorf("divergence: %d and %d values in rows of %d", len(p), len(q), dim)
	}
	if len(p)/dim < MinRows || len(q)/dim < MinRows {
		return Estimate{}, fmt.Errorf("divergence: samples of %d and %d rows: want at least %d", len(p)/dim, len(q)/dim, MinRows)
	}
	for _, x := range [][]float64{p, q} {
		if slices.ContainsFunc(x, func(v float64) bool { return math.IsInf(v, 0) }) {
			return Estimate{}, errors.New("divergence: a value is infinite")
		}
	}
	e := Estimate{Columns: make([]Column, dim)}
	for j := range e.Columns {
		e.Columns[j] = kolmogorov(column(p, dim, j), column(q, dim, j))
	}
	s := newScale(append(slices.Clone(p), q...), dim)
	a, b := s.apply(p), s.apply(q)
	m := features.Map{Kernel: kernel.Gaussian{Scale: medianDistance(append(slices.Clone(a), b...), dim)}, Dim: dim, BlockSize: frequencies, Seed: seed}
	u, v := newTable(m, a), newTable(m, b)
	e.KL, e.Direct, e.Relative, e.P = kl(u, v), pearson(u, v, 0), pearson(u, v, relativeTo), same(u, v)
	return e, nil
}

// table holds the features of rows: a constant, and cosines and sines whose squares add up to 1.
type table struct {
	width int
	z     []float64
}

func newTable(m features.Map, x []float32) table {
	bank := features.NewBank(m)
	bank.Grow(1)
	n, f := len(x)/m.Dim, 2*m.BlockSize
	phi := make([]float32, n*f)
	bank.Features(phi, 0, x)
	t := table{width: f + 1, z: make([]float64, 0, n*(f+1))}
	scale := 1 / math.Sqrt(float64(m.BlockSize))
	for i := range n {
		t.z = append(t.z, 1)
		for _, v := range phi[i*f : (i+1)*f] {
			t.z = append(t.z, float64(v)*scale)
		}
	}
	return t
}

func (t table) rows() int           { return len(t.z) / t.width }
func (t table) row(i int) []float64 { return t.z[i*t.width : (i+1)*t.width] }

// part returns every second row of t, starting with row first.
func (t table) part(first int) table {
	s := table{width: t.width}
	for i := first; i < t.rows(); i += 2 {
		s.z = append(s.z, t.row(i)...)
	}
	return s
}

func (t table) mean() []float64 {
	sum := make([]float64, t.width)
	for i := range t.rows() {
		vec.Axpy(1/float64(t.rows()), t.row(i), sum)
	}
	return sum
}

// gram returns the lower triangle of the mean of weight(i)·zzᵀ over the rows.
func (t table) gram(weight func(i int) float64) []float64 {
	g := make([]float64, t.width*t.width)
	for i := range t.rows() {
		z, w := t.row(i), weight(i)/float64(t.rows())
		for j, v := range z {
			vec.Axpy(w*v, z[:j+1], g[j*t.width:j*t.width+j+1])
		}
	}
	return g
}

func column(x []float64, dim, j int) []float64 {
	var c []float64
	for i := j; i < len(x); i += dim {
		if v := x[i]; v == v {
			c = append(c, v)
		}
	}
	slices.Sort(c)
	return c
}
