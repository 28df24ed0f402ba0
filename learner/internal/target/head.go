// Package target has tasks, labels, and the head of a model, which gives its scores their meaning.
package target

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Head gives the scores of a model their meaning: it has the task, the loss, and the scale of the
// targets.
type Head struct {
	Task    Task // Auto until the first label
	Classes int  // seen so far
	Loss    loss.Loss
	Scales  []Scale // of a regression, one for each target; never changed in place

	Quantiles Quantiles   // the quantiles that the loss has; the zero value for other losses
	each      []loss.Loss // loss of each quantile; nil if there are none
}

// Scale standardises a target: a score f is the value Mean + Deviation·f.
type Scale struct{ Mean, Deviation float64 }

// NewHead returns the head of a model with that many targets, and that many classes seen so far. It
// has the chosen loss; if that is nil, it has the default loss of the task. Logistic and Softmax
// count as one choice: the number of classes decides between them.
func NewHead(chosen loss.Loss, task Task, classes, targets int) Head {
	h := Head{Task: task, Classes: classes, Scales: make([]Scale, targets)}
	for j := range h.Scales {
		h.Scales[j].Deviation = 1
	}
	logarithmic := chosen == nil || chosen == loss.Logistic{} || chosen == loss.Softmax{}
	switch {
	case task == Auto:
	case task == Novelty:
		h.Loss = chosen
	case task == Regression && chosen == nil:
		h.Loss = loss.Square{}
	case task == Regression || !logarithmic:
		h.Loss = chosen
	case classes > 2:
		h.Loss = loss.Softmax{}
	default:
		h.Loss = loss.Logistic{}
	}
	if q, ok := h.Loss.(loss.Quantiles); ok {
		h.Quantiles, h.each = Quantiles{q.Taus(), q.Central()}, q.Each()
	}
	return h
}

// WithNewClass returns the head with one more class.
func (h *Head) WithNewClass() Head {
	w := NewHead(h.Loss, Classification, h.Classes+1, 1)
	w.Scales = h.Scales
	return w
}

// Standardize sets the scales of the targets: scores are standard deviations from the mean, but for
// counts multiples of the mean.
func (h *Head) Standardize(in []Scale) {
	h.Scales = slices.Clone(in)
	if h.Loss != (loss.Poisson{}) {
		return
	}
	for j, u := range in {
		h.Scales[j] = Scale{0, 1}
		if u.Mean > 1e-100 {
			h.Scales[j].Deviation = u.Mean
		}
	}
}

// Targets returns the number of targets of a label. The loss of the model is the sum
// of the losses of the targets.
func (h *Head) Targets() int { return len(h.Scales) }

// Parts returns the number of parts of the scores, each of which has a loss of its own. For a
// regression it is the number of targets, multiplied by the number of quantiles if there are
// several. For other tasks it is 1. The parts of a target follow one another.
func (h *Head) Parts() int { return len(h.Scales) * h.Quantiles.Each() }

// LossOf returns the loss of part j.
func (h *Head) LossOf(j int) loss.Loss {
	if h.each == nil {
		return h.Loss
	}
	return h.each[j%len(h.each)]
}

// PartTarget returns the number in label y that the loss of part j compares its scores with.
func (h *Head) PartTarget(y Label, j int) float64 { return h.Target(y, j/h.Quantiles.Each()) }

// Part returns part j of f, which consists of Parts equal parts.
func (h *Head) Part(f []float64, j int) []float64 {
	n := len(f) / h.Parts()
	return f[j*n : (j+1)*n : (j+1)*n]
}

// Value returns the loss of label y at the scores f.
func (h *Head) Value(f []float64, y Label) float64 {
	sum := 0.0
	for j := range h.Parts() {
		sum += h.LossOf(j).Value(h.Part(f, j), h.PartTarget(y, j))
	}
	return sum
}

// Grad sets dst to the gradient of Value in f.
func (h *Head) Grad(dst, f []float64, y Label) {
	for j := range h.Parts() {
		h.LossOf(j).Grad(h.Part(dst, j), h.Part(f, j), h.PartTarget(y, j))
	}
}

// Grads sets dst to the gradients in the scores f of several models. f is rows × models × scores,
// and targets is rows × Parts.
func (h *Head) Grads(dst, f, targets []float64, models int) {
	n := h.Parts()
	if n == 1 {
		loss.Grads(h.Loss, dst, f, targets, models)
		return
	}
	for i := range f {
		h.LossOf(i%n).Grad(dst[i:i+1], f[i:i+1], targets[i/(models*n)*n+i%n])
	}
}

// margins reports whether the scores of a classifier are margins, for which 1 and -1 mean
// certainty. Otherwise they are logarithms of odds or of probabilities.
func (h *Head) margins() bool {
	return h.Task == Classification && h.Loss != (loss.Logistic{}) && h.Loss != (loss.Softmax{})
}

// PriorScores appends the scores at which class i has the share weights[i] of total, after adding
// one row to each class (Laplace's rule of succession).
func (h *Head) PriorScores(dst, weights []float64, total float64) []float64 {
	total += float64(h.Classes)
	switch {
	case h.margins() && h.Scores() == 1:
		margin := 0.0
		if h.Classes == 2 {
			margin = (weights[1] - weights[0]) / total
		}
		return append(dst, margin)
	case h.Scores() == 1:
		odds := 0.0
		if h.Classes == 2 {
			odds = vec.Log(weights[1]+1) - vec.Log(weights[0]+1)
		}
		return append(dst, odds)
	}
	for _, w := range weights {
		share := (w + 1) / total
		if h.margins() {
			dst = append(dst, float64(2*share)-1)
		} else {
			dst = append(dst, vec.Log(share))
		}
	}
	return dst
}

// NewClassScore returns the score at which a new class has the share of one row in total, if the
// other classes have these scores.
func (h *Head) NewClassScore(others []float64, total float64) float64 {
	if h.margins() {
		return 2/max(total, 2) - 1
	}
	s := loss.Softmax{}
	// The loss of any class is ln Σ exp(f) - f[y].
	sum := s.Value(others, 0) + others[0]
	return sum - vec.Log(max(total-1, 1))
}

// Scores returns the number of scores of a row.
func (h *Head) Scores() int {
	if h.Loss == nil {
		return 0
	}
	return h.Loss.Scores(h.Classes) * h.Targets()
}

// PredictionSize returns the number of values in a prediction.
func (h *Head) PredictionSize() int {
	switch h.Task {
	case Regression:
		return h.Parts()
	case Novelty:
		return 2
	}
	return h.Classes
}

// WidenIntercept returns the intercepts b with one for a new class added. The share of the new
// class is one row in total, taken from all the other classes in proportion.
func (h *Head) WidenIntercept(b []float64, total float64) []float64 {
	b = h.Widen(b, len(b))
	last := len(b) - 1
	b[last] = h.NewClassScore(b[:last], total)
	return b
}

// Predict sets dst to the prediction for the scores f.
func (h *Head) Predict(dst, f []float64) {
	switch {
	case h.Task == Regression:
		for j, u := range h.Scales {
			to := h.Quantiles.Of(dst, j)
			h.Loss.Link(to, h.Quantiles.Of(f, j))
			for i, v := range to {
				to[i] = Bounded(u.Mean + float64(u.Deviation*v))
			}
		}
	case h.Classes == 1:
		dst[0] = 1
	case h.Classes > 1:
		h.Loss.Link(dst, f)
	}
}

// PredictNovelty sets dst to the novelty of a row and to the threshold above which the row is
// flagged. f is the score of the row and b the intercept of the model: f - b is the cosine between
// the row and the centre of the model in the space of the features. Both values are 1 minus a
// cosine.
func (h *Head) PredictNovelty(dst []float64, f, b float64) {
	dst[0], dst[1] = 1-(f-b), 1+b
}

// Target returns target j of a label in the form that the loss compares with scores.
func (h *Head) Target(y Label, j int) float64 {
	if h.Task == Regression {
		t := (Bounded(y.At(j)) - h.Scales[j].Mean) / h.Scales[j].Deviation
		return max(-maxTarget, min(maxTarget, t))
	}
	return float64(y.Class)
}

// TaskOf returns the task that a loss is for.
func TaskOf(l loss.Loss) Task {
	if _, ok := l.(loss.OneClass); ok {
		return Novelty
	}
	if l.Classifies() {
		return Classification
	}
	return Regression
}

// Widen returns x, which consists of rows of from scores or of from coefficients, with as many
// scores as h has in each row. If a binary model becomes one of three classes, its score u becomes
// (-u/2, u/2), or (-u, u) for margins.
func (h *Head) Widen(x []float64, from int) []float64 {
	to, share := h.Scores(), 0.5
	if h.margins() {
		share = 1
	}
	rows := len(x) / from
	out := make([]float64, rows*to)
	for i := range rows {
		if row := x[i*from : (i+1)*from]; from == 1 {
			out[i*to], out[i*to+1] = -row[0]*share, row[0]*share
		} else {
			copy(out[i*to:], row)
		}
	}
	return out
}

// SignedScores returns the number of scores of a least-squares classifier of that many classes.
func SignedScores(classes int) int {
	if classes > 2 {
		return classes
	}
	return 1
}

// AppendSigned appends the targets of least squares for a label: standardised numbers for a
// regression, otherwise ±1 for each class. Two classes have a single target, which is 1 for the
// second class.
func (h *Head) AppendSigned(dst []float64, y Label) []float64 {
	if h.Task == Regression {
		for j := range h.Scales {
			dst = append(dst, h.Target(y, j))
		}
		return dst
	}
	for c := range SignedScores(h.Classes) {
		v := -1.0
		if h.Classes == 2 && y.Class == 1 || h.Classes > 2 && y.Class == c {
			v = 1
		}
		dst = append(dst, v)
	}
	return dst
}
