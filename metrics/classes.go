package metrics

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// classFigures holds the collectors for classification.
type classFigures struct{ auc, prAUC, recall, f1, balanced, cost, calibration, classRecall, classPrecision *prometheus.GaugeVec }

func newClassFigures(m maker) classFigures {
	const rows = "the last 10,000 to 20,000 labelled records."
	figure := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return m.gauges(name, help, append([]string{"learner"}, labels...)...)
	}
	classes := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return figure(name, help+" Of the rarer of two classes, or the mean over all; over "+rows, labels...)
	}
	all := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return figure(name, help+" Over "+rows, labels...)
	}
	return classFigures{
		auc:            classes("accrete_progressive_auc", "Area under the ROC curve of the progressive predictions."),
		prAUC:          classes("accrete_progressive_pr_auc", "Area under the precision-recall curve (average precision) of the progressive predictions."),
		recall:         classes("accrete_progressive_recall", "Largest recall of the progressive predictions at this precision or a higher one.", "precision"),
		f1:             classes("accrete_progressive_f1", "F1 of the predicted classes."),
		balanced:       all("accrete_progressive_balanced_error", "Mean over the classes of the share of wrong predictions."),
		cost:           figure("accrete_progressive_mean_cost", "Mean cost of a progressive prediction by learner.costs, for the classes that were predicted and for the most probable ones; over the last 10,000 to 20,000 labelled records.", "predicted"),
		calibration:    all("accrete_progressive_calibration_error", "Expected calibration error of the progressive predictions: mean difference between the probability of the most probable class and how often it is right, over 15 bins (Guo et al. 2017)."),
		classRecall:    all("accrete_progressive_class_recall", "Share of the records of a class that were predicted to be of it, for each of the first 16 classes.", "class"),
		classPrecision: all("accrete_progressive_class_precision", "Share of the records predicted to be of a class that are of it, for each of the first 16 classes.", "class"),
	}
}

// Curve holds the figures of a classification that depend on probabilities.
type Curve struct{ AUC, PRAUC, Precision, Recall float64 }

// Classes sets the figures for how well the model distinguishes the classes. curve is nil if
// there are more than 64 classes; then only f1 and balanced are set.
func (l *Learner) Classes(f1, balanced float64, curve *Curve) {
	const learner = "accrete"
	l.f1.WithLabelValues(learner).Set(f1)
	l.balanced.WithLabelValues(learner).Set(balanced)
	if curve == nil {
		l.auc.Reset()
		l.prAUC.Reset()
		l.recall.Reset()
		return
	}
	l.auc.WithLabelValues(learner).Set(curve.AUC)
	l.prAUC.WithLabelValues(learner).Set(curve.PRAUC)
	l.recall.WithLabelValues(learner, strconv.FormatFloat(curve.Precision, 'g', -1, 64)).Set(curve.Recall)
}

// Costs sets the mean cost of the predicted classes, and of the most probable classes.
func (l *Learner) Costs(mean, probable float64) {
	l.cost.WithLabelValues("accrete", "least_cost").Set(mean)
	l.cost.WithLabelValues("accrete", "most_probable").Set(probable)
}

// Calibration sets the expected calibration error.
func (l *Learner) Calibration(e float64) { l.calibration.WithLabelValues("accrete").Set(e) }

// MaxClassLabels is the number of classes that have metrics of their own.
const MaxClassLabels = 16

// Class sets the figures of one class. A nil figure is unknown.
func (l *Learner) Class(name string, recall, precision *float64) {
	name = strings.ToValidUTF8(name, "\ufffd")
	if recall != nil {
		l.classRecall.WithLabelValues("accrete", name).Set(*recall)
	}
	if precision != nil {
		l.classPrecision.WithLabelValues("accrete", name).Set(*precision)
	}
}
