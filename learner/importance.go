package learner

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
)

const (
	// importanceRows is the most rows that importances are estimated from, where they are drawn.
	// Their relative error is of the order of 1/√rows.
	importanceRows = 256

	// importanceWork bounds the multiplications of inputs by frequencies, about a fifth of a second
	// of a core: the more columns, the fewer rows, but LeastImportanceRows.
	importanceWork = 1e10

	// LeastImportanceRows is the number of rows that importances of many columns are estimated from.
	LeastImportanceRows = 16

	// importanceTogether is the number of rows that are scored at a time, or more.
	importanceTogether = 512
)

// importanceSample returns how many of at most n rows the importances are estimated from.
func (m *Model) importanceSample(n int) int {
	d := float64(len(m.scaler.ColumnWeights))
	return min(n, max(LeastImportanceRows, int(importanceWork/(d*d*float64(m.RandomFeatures())))))
}

// Importance returns how much each column of a row matters for the scores: the total-effect
// index (Jansen 1999), the mean square change of the scores when the column alone is drawn
// again, over twice their variance. It is 0 for a column that has no effect, and at most 1
// but for the error of the estimate; without interactions all of them add up to 1.
//
// The rows are drawn as if the columns that the model sees were independent and normal, with
// the mean and the deviation of the first rows: 256 of them, and fewer for more than about a
// hundred columns. The error is ErrUnexplained for a model without a fit and for a given metric.
func (m *Model) Importance() ([]float64, error) {
	if err := m.hasImportance(); err != nil {
		return nil, err
	}
	d, n := len(m.scaler.ColumnWeights), m.importanceSample(importanceRows)
	draws := vec.NewNormals(vec.Key("importance", 0, 0))
	x, other := make([]float32, n*d), make([]float32, n*d)
	draws.Fill(x)
	draws.Fill(other)
	for i := range x {
		w := float32(m.scaler.ColumnWeights[i%d])
		x[i], other[i] = float32(x[i]*w), float32(other[i]*w)
	}
	return m.totalEffects(x, other, m.scored(x, n), n), nil
}

// ImportanceOn is Importance for rows of b, two or more, instead of drawn ones: a column is drawn
// again as that of another row. Of many columns, it takes fewer rows than all, at equal distances.
func (m *Model) ImportanceOn(b *Batch) ([]float64, error) {
	if err := m.hasImportance(); err != nil {
		return nil, err
	}
	n := b.Len()
	if n < 2 || b.Dim() != m.dim && m.dim != 0 {
		return nil, fmt.Errorf("%w: %d rows of %d values, want 2 rows or more of %d", ErrUnexplained, n, b.Dim(), m.dim)
	}
	m.Predict(b)
	x, f, d, k := slices.Clone(m.x), slices.Clone(m.f), len(m.x)/n, m.head.Scores()
	if some := m.importanceSample(n); some < n {
		for i := range some {
			at := i * n / some
			copy(x[i*d:(i+1)*d], x[at*d:(at+1)*d])
			copy(f[i*k:(i+1)*k], f[at*k:(at+1)*k])
		}
		n = some
		x, f = x[:n*d], f[:n*k]
	}
	other := make([]float32, len(x))
	from := rand.New(rand.NewPCG(1, 0)).Perm(n) // rows may be periodic
	for i, at := range from {
		next := from[(i+1)%n]
		copy(other[at*d:(at+1)*d], x[next*d:(next+1)*d])
	}
	return m.totalEffects(x, other, f, n), nil
}

func (m *Model) hasImportance() error {
	if m.bank == nil || m.given != nil || m.head.Scores() == 0 {
		return fmt.Errorf("%w: the model has made no fit yet, or has a metric", ErrUnexplained)
	}
	return nil
}

// totalEffects estimates the total-effect index of each column from n scaled rows x with the
// scores f, and as many that the columns are drawn from.
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
	var rows []float32 // x with a column drawn again, one after the other
	score := func() {
		for f2 := m.scored(rows, len(rows)/d); len(f2) > 0; f2 = f2[n*k:] {
			sum := 0.0
			for i, v := range f2[:n*k] {
				e := v - f[i]
				sum += float64(e * e)
			}
			index := 0.0
			if variance > 0 {
				index = sum / (2 * float64(n) * variance)
			}
			out = append(out, index)
		}
		rows = rows[:0]
	}
	for from, j := 0, 0; from < d; j++ {
		to := from + 1
		if m.encoding != nil {
			to = from + m.encoding.WidthOf(j)
		}
		at := len(rows)
		rows = append(rows, x...)
		for i := range n {
			copy(rows[at+i*d+from:at+i*d+to], other[i*d+from:i*d+to])
		}
		if len(rows) >= importanceTogether*d {
			score()
		}
		from = to
	}
	score()
	return out
}

// scored returns the scores of n scaled rows.
func (m *Model) scored(x []float32, n int) []float64 {
	k := m.head.Scores()
	f := engine.Scores(nil, m.bank, x, m.coef, m.intercept, n)
	if m.forest != nil {
		m.forest.Sum(f, x, m.leafCoef, k)
	}
	if m.static != nil {
		m.own = machineScores(m.own, m.machines, x, m.static, k, n)
		m.static.Apply(f, x, m.own, func(int) Sparse { return Sparse{} })
	}
	return f
}
