package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// deviations holds the collectors for a regression whose loss is not the square.
type deviations struct{ pinball, below, mae, crossed *prometheus.GaugeVec }

func newDeviations(m maker) deviations {
	of := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return m.gauges(name, help+" Over the last 10,000 to 20,000 labelled records, and the mean over several targets.", append([]string{"learner"}, labels...)...)
	}
	return deviations{
		pinball: of("accrete_progressive_pinball", "Mean pinball loss of the progressive predictions of a quantile, in the units of the label.", "tau"),
		below:   of("accrete_progressive_below", "Share of the labels that are not above the progressive prediction of a quantile, which should be tau.", "tau"),
		crossed: of("accrete_progressive_crossed", "Share of labelled records with crossing quantiles, before they are sorted."),
		mae:     of("accrete_progressive_mae", "Mean absolute error of the progressive predictions, in the units of the label."),
	}
}

// Deviation sets the figures that belong to the loss; all others are nil. For a quantile tau,
// these are its pinball loss and the share of labels not above its predictions. For other
// losses, it is the mean absolute error.
func (l *Learner) Deviation(tau, pinball, below, mae *float64) {
	const learner = "accrete"
	if tau != nil {
		of := strconv.FormatFloat(*tau, 'g', -1, 64)
		l.pinball.WithLabelValues(learner, of).Set(*pinball)
		l.below.WithLabelValues(learner, of).Set(*below)
	}
	if mae != nil {
		l.mae.WithLabelValues(learner).Set(*mae)
	}
}

// Crossed sets the share of the records with crossing quantiles. It is nil unless there are
// several quantiles.
func (l *Learner) Crossed(share *float64) {
	if share != nil {
		l.crossed.WithLabelValues("accrete").Set(*share)
	}
}
