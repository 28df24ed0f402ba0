package learner

import (
	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// Variance returns, for each row of b and each of the label's targets, the variance
// of the label around its prediction, in squared units of the label. It is the recent
// squared error of the predictions, times 1 plus the leverage zᵀA⁻¹z of the row's
// features z in the normal equations A, as in Bayesian linear regression (Bishop 2006,
// section 3.3.2): the leverage is large where the model has learned few rows. It
// returns false unless the algorithm is ridge, for a regression, without lags, after
// the first fit of the warm-up. Each call factorises the equations: it is meant for
// many rows at once.
func (l *Learner) Variance(b *Batch) ([]float64, bool) {
	r, ok := l.engine.(engine.Variancer)
	if !ok || l.head.Task != Regression || l.config.Lags > 0 {
		return nil, false
	}
	in := b
	if m := l.config.Metric; m != nil {
		in = m.apply(new(Batch), b, b.Len())
	}
	v := r.Variance(scaledRows(nil, &l.fit.Scaler, in, b.Len()))
	return v, v != nil
}
