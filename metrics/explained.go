package metrics

import "github.com/prometheus/client_golang/prometheus"

func newExplained(r prometheus.Registerer) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_progressive_r2",
		Help: "Of a regression: share of the variance of the labels that the progressive predictions explain (R²), over the recent examples, of the model (learner accrete) and of baselines.",
	}, []string{"learner"})
	r.MustRegister(v)
	return v
}

// Explained sets the coefficients of determination of a regression, for the model and the
// same baselines as Progressive.
func (l *Learner) Explained(model, mean, noChange, linear float64) {
	l.explained.WithLabelValues("accrete").Set(model)
	l.explained.WithLabelValues("majority").Set(mean)
	l.explained.WithLabelValues("no_change").Set(noChange)
	l.explained.WithLabelValues("linear").Set(linear)
}
