package learner

import (
	"fmt"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// importanceRows is the number of rows that importances are estimated from. Their relative
// error is of the order of 1/√rows.
const importanceRows = 256

// Importance returns how much each column of a row matters for the scores: the total-effect
// index (Jansen 1999), the mean square change of the scores when the column alone is drawn
// again, over twice their variance. It is 0 for a column that has no effect, and at most 1
// but for the error of the estimate; without interactions all of them add up to 1.
//
// The rows are drawn as if the columns that the model sees were independent and normal, with
// the mean and the deviation of the first rows. The error is ErrUnexplained for a model
// without a fit and for a given metric.
func (m *Model) Importance() ([]float64, error) {
	if m.bank == nil || m.given != nil || m.head.Scores() == 0 {
		return nil, fmt.Errorf("%w: the model has made no fit yet, or has a metric", ErrUnexplained)
	}
	d, n, k := len(m.scaler.ColumnWeights), importanceRows, m.head.Scores()
	draws := vec.NewNormals(vec.Key("importance", 0, 0))
	x, other := make([]float32, n*d), make([]float32, n*d)
	draws.Fill(x)
	draws.Fill(other)
	for i := range x {
		w := float32(m.scaler.ColumnWeights[i%d])
		x[i], other[i] = float32(x[i]*w), float32(other[i]*w)
	}
	f := m.scored(x, n)
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
	var out []float64
	changed := make([]float32, n*d)
	for from, j := 0, 0; from < d; j++ {
		to := from + 1
		if m.encoding != nil {
			to = from + m.encoding.WidthOf(j)
		}
		copy(changed, x)
		for i := range n {
			copy(changed[i*d+from:i*d+to], other[i*d+from:i*d+to])
		}
		sum := 0.0
		for i, v := range m.scored(changed, n) {
			e := v - f[i]
			sum += float64(e * e)
		}
		index := 0.0
		if variance > 0 {
			index = sum / (2 * float64(n) * variance)
		}
		out = append(out, index)
		from = to
	}
	return out, nil
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
		m.static.Apply(f, x, m.own)
	}
	return f
}
