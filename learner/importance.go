package learner

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/internal/vec"
)

const (
	// importanceRows is the largest number of rows from which importances are estimated if the rows
	// are drawn. Their relative error is of the order of 1/√rows.
	importanceRows = 256

	// importanceChanges is the number of changed rows that are scored, which takes a core a few
	// tenths of a second. The more columns there are, the fewer rows are used, in whole panels: a
	// part of one would take as long.
	importanceChanges = 1 << 15
)

// importanceSample returns how many of at most n rows the importances of some columns are estimated
// from.
func importanceSample(n, columns int) int {
	rows := importanceChanges / max(1, columns) / vec.Lanes * vec.Lanes
	return min(n, max(vec.Lanes, rows))
}

// Importance returns how much each column of a row matters for the scores: the total-effect
// index (Jansen 1999), the mean square change of the scores when the column alone is drawn
// again, over twice their variance. It is 0 for a column that has no effect, and at most 1
// but for the error of the estimate; without interactions all of them add up to 1.
//
// The rows are drawn as if the columns that the model sees were independent and normal, with
// the mean and the deviation of the first rows: 256 of them, and fewer for more than 128
// columns. The error is ErrUnexplained for a model without a fit and for a given metric.
func (m *Model) Importance() ([]float64, error) {
	if err := m.hasImportance(); err != nil {
		return nil, err
	}
	d, n := len(m.scaler.ColumnWeights), importanceSample(importanceRows, len(m.scaler.ColumnWeights))
	draws := vec.NewNormals(vec.Key("importance", 0, 0))
	x, other := make([]float32, n*d), make([]float32, n*d)
	draws.Fill(x)
	draws.Fill(other)
	for i := range x {
		w := float32(m.scaler.ColumnWeights[i%d])
		x[i], other[i] = float32(x[i]*w), float32(other[i]*w)
	}
	return m.effectsOn(x, other, n), nil
}

// ImportanceOn is Importance for the rows of b, of which there must be two or more, instead of
// drawn ones: a column is drawn again by taking its value from another row. If there are many
// columns, it uses only some of the rows, at equal distances.
func (m *Model) ImportanceOn(b *Batch) ([]float64, error) {
	if err := m.hasImportance(); err != nil {
		return nil, err
	}
	n := b.Len()
	if n < 2 || b.Dim() != m.dim && m.dim != 0 {
		return nil, fmt.Errorf("%w: %d rows of %d values, want 2 rows or more of %d", ErrUnexplained, n, b.Dim(), m.dim)
	}
	m.Predict(b)
	x, d := slices.Clone(m.x), len(m.x)/n
	if some := importanceSample(n, d); some < n {
		for i := range some {
			at := i * n / some
			copy(x[i*d:(i+1)*d], x[at*d:(at+1)*d])
		}
		n = some
		x = x[:n*d]
	}
	other := make([]float32, len(x))
	from := rand.New(rand.NewPCG(1, 0)).Perm(n) // rows may be periodic
	for i, at := range from {
		next := from[(i+1)%n]
		copy(other[at*d:(at+1)*d], x[next*d:(next+1)*d])
	}
	return m.effectsOn(x, other, n), nil
}

// effectsOn is totalEffects for rows x and other, each moved into the range that random features see.
func (m *Model) effectsOn(x, other []float32, n int) []float64 {
	x, other = slices.Clone(m.seenOf(x)), slices.Clone(m.seenOf(other))
	return m.totalEffects(x, other, m.scores(nil, x, n, noSparse), n)
}

func (m *Model) hasImportance() error {
	if m.bank == nil || m.given != nil || m.head.Scores() == 0 {
		return fmt.Errorf("%w: the model has made no fit yet, or has a metric", ErrUnexplained)
	}
	return nil
}

// totalEffects estimates the total-effect index of each column from n scaled rows x with the scores
// f. other has as many rows, from which the values of columns that are drawn again are taken.
func (m *Model) totalEffects(x, other []float32, f []float64, n int) (out []float64) {
	d, k := len(x)/n, m.head.Scores()
	variance := 0.0
	for c := range k {
		mean, sum := 0.0, 0.0
		for i := range n {
			mean += float64(f[i*k+c] / float64(n))
		}
		for i := range n {
			e := f[i*k+c] - mean
			sum += float64(e * e)
		}
		variance += float64(sum / float64(n))
	}
	spans := m.spans(d)
	out = make([]float64, len(spans))
	if !(variance > 0) {
		return out
	}
	parts := min(len(spans), runtime.GOMAXPROCS(0))
	var team cores.Team
	team.Resize(parts)
	team.Run(parts, func(_, i int) {
		from, to := i*len(spans)/parts, (i+1)*len(spans)/parts
		m.changes(out[from:to], spans[from:to], slices.Clone(x), slices.Clone(other), f, n)
	})
	for j := range out {
		out[j] /= 2 * float64(n) * variance
	}
	return out
}

// span is the range of columns that the model sees for one column of the rows, of which there may be
// none.
type span struct{ from, to int }

// spans returns the span of each column of the rows, for a model that sees d columns.
func (m *Model) spans(d int) []span {
	all := make([]span, d)
	if m.encoding != nil {
		all = make([]span, m.encoding.Dim())
	}
	from := 0
	for j := range all {
		to := from + 1
		if m.encoding != nil {
			to = from + m.encoding.WidthOf(j)
		}
		all[j] = span{from, to}
		from = to
	}
	return all
}

// changes adds to dst, for each of the spans, the sum of the squared changes of the scores f when
// the columns of the span in the n rows x are replaced by those of other.
func (m *Model) changes(dst []float64, spans []span, x, other []float32, f []float64, n int) {
	d, k := len(x)/n, m.head.Scores()
	of, own := m.bank.Changing(x, m.coef, k), (*features.Changing)(nil)
	if m.static != nil && m.machines != nil {
		own = m.machines.Changing(x, m.static.Coef, k)
	}
	score, more := make([]float64, n*k), make([]float64, n*k) // more is of the machines of a mixture
	for j, at := range spans {
		if !differ(x, other, d, at) {
			continue
		}
		exchange(x, other, d, at.from, at.to)
		of.Sum(score, at.from, at.to)
		for i := range score {
			score[i] += m.intercept[i%k]
		}
		if own != nil {
			own.Sum(more, at.from, at.to)
		}
		m.complete(score, x, x, more, noSparse)
		exchange(x, other, d, at.from, at.to)
		for i, v := range score {
			e := v - f[i]
			dst[j] += float64(e * e)
		}
	}
}

// differ reports whether x and other, which have d columns, differ in those of the span.
func differ(x, other []float32, d int, at span) bool {
	for i := 0; i < len(x); i += d {
		if !slices.Equal(x[i+at.from:i+at.to], other[i+at.from:i+at.to]) {
			return true
		}
	}
	return false
}

// exchange exchanges the columns [from, to) of x and other, which have d.
func exchange(x, other []float32, d, from, to int) {
	for i := 0; i < len(x); i += d {
		for j := i + from; j < i+to; j++ {
			x[j], other[j] = other[j], x[j]
		}
	}
}

func noSparse(int) Sparse { return Sparse{} }
