package learner

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
)

// head is what stands behind the outputs of a model: which prediction they mean.
type head struct {
	task    Task // Auto before the first label
	classes int  // seen so far
	loss    loss.Loss
	units   []unit // of a regression, one for each target: never changed in place
}

// unit is what a target is measured in: a sum f stands for mean + deviation·f.
type unit struct{ mean, deviation float64 }

// newHead returns the head of a model of so many targets that has seen nothing
// but so many classes. It has the chosen loss, or the one that suits the task if
// that is nil. Logistic and Softmax are one choice: how many classes there are
// decides.
func newHead(chosen loss.Loss, task Task, classes, targets int) head {
	h := head{task: task, classes: classes, units: make([]unit, targets)}
	for j := range h.units {
		h.units[j].deviation = 1
	}
	logarithmic := chosen == nil || chosen == loss.Logistic{} || chosen == loss.Softmax{}
	switch {
	case task == Auto:
	case task == Regression && chosen == nil:
		h.loss = loss.Square{}
	case task == Regression || !logarithmic:
		h.loss = chosen
	case classes > 2:
		h.loss = loss.Softmax{}
	default:
		h.loss = loss.Logistic{}
	}
	return h
}

// widened is the head of a model with one more class.
func (h *head) widened() head {
	w := newHead(h.loss, Classification, h.classes+1, 1)
	w.units = h.units
	return w
}

// measure sets what labels are measured in: standard deviations from their mean,
// but counts in units of their mean.
func (h *head) measure(in []unit) {
	h.units = slices.Clone(in)
	if h.loss != (loss.Poisson{}) {
		return
	}
	for j, u := range in {
		h.units[j] = unit{0, 1}
		if u.mean > 1e-100 {
			h.units[j].deviation = u.mean
		}
	}
}

// targets is how many a label has. Each is learned by the loss on its own, so
// that the model's is their sum.
func (h *head) targets() int { return len(h.units) }

// part is what belongs to target j of something that has equal parts for all.
func (h *head) part(f []float64, j int) []float64 {
	n := len(f) / len(h.units)
	return f[j*n : (j+1)*n : (j+1)*n]
}

// value returns the loss of label y under sums f.
func (h *head) value(f []float64, y Label) float64 {
	sum := 0.0
	for j := range h.units {
		sum += h.loss.Value(h.part(f, j), h.target(y, j))
	}
	return sum
}

// grad sets dst to the gradient of value.
func (h *head) grad(dst, f []float64, y Label) {
	for j := range h.units {
		h.loss.Grad(h.part(dst, j), h.part(f, j), h.target(y, j))
	}
}

// grads sets dst to the gradients in the sums f of so many models, for each row of
// targets: f is rows × models × sums.
func (h *head) grads(dst, f, targets []float64, models int) {
	n := h.targets()
	if n == 1 {
		loss.Grads(h.loss, dst, f, targets, models)
		return
	}
	for i := range f {
		h.loss.Grad(dst[i:i+1], f[i:i+1], targets[i/(models*n)*n+i%n])
	}
}

// margins says whether the outputs of a classifier are margins, of which 1 and
// -1 are sure, and not logarithms of odds or of probabilities.
func (h *head) margins() bool {
	return h.task == Classification && h.loss != (loss.Logistic{}) && h.loss != (loss.Softmax{})
}

// shares appends the outputs that give class i the share weights[i] of the
// total, with one more row for each class.
func (h *head) shares(dst, weights []float64, total float64) []float64 {
	total += float64(h.classes)
	switch {
	case h.margins() && h.sums() == 1:
		margin := 0.0
		if h.classes == 2 {
			margin = (weights[1] - weights[0]) / total
		}
		return append(dst, margin)
	case h.sums() == 1:
		odds := 0.0
		if h.classes == 2 {
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

// newcomer returns the output that gives one row of total to a new class
// beside others with these outputs.
func (h *head) newcomer(others []float64, total float64) float64 {
	if h.margins() {
		return 2/max(total, 2) - 1
	}
	s := loss.Softmax{}
	// The loss of any class is ln Σ exp(f) - f[y].
	sum := s.Value(others, 0) + others[0]
	return sum - vec.Log(max(total-1, 1))
}

// sums is the number of outputs that the features add up to.
func (h *head) sums() int {
	if h.loss == nil {
		return 0
	}
	return h.loss.Outputs(h.classes) * h.targets()
}

// outputs is the number of values in a prediction.
func (h *head) outputs() int {
	if h.task == Regression {
		return h.targets()
	}
	return h.classes
}

// widenIntercept returns the intercepts b of a model that has one more class
// than before. It takes the share that one row of total has from all the others
// alike.
func (h *head) widenIntercept(b []float64, total float64) []float64 {
	b = h.widen(b, len(b))
	last := len(b) - 1
	b[last] = h.newcomer(b[:last], total)
	return b
}

// predict sets dst to the prediction that the sums f stand for.
func (h *head) predict(dst, f []float64) {
	switch {
	case h.task == Regression:
		for j, u := range h.units {
			h.loss.Link(dst[j:j+1], f[j:j+1])
			dst[j] = bounded(u.mean + float64(u.deviation*dst[j]))
		}
	case h.classes == 1:
		dst[0] = 1
	case h.classes > 1:
		h.loss.Link(dst, f)
	}
}

// target is target j of a label in the terms of the loss.
func (h *head) target(y Label, j int) float64 {
	if h.task == Regression {
		t := (bounded(y.At(j)) - h.units[j].mean) / h.units[j].deviation
		return max(-targetLimit, min(targetLimit, t))
	}
	return float64(y.Class)
}

// targetLimit bounds a standardised label, so that its square is finite.
const targetLimit = 1e6

// unseen is the loss of a row whose class the model had not met: -ln 2⁻⁵², as
// if it had left that much probability to the classes to come, or that of a
// margin which is wrong and sure.
func (h *head) unseen() float64 {
	if h.margins() {
		return 2
	}
	return 52 * math.Ln2
}

// graded returns the loss of target j of y under sums f, whose prediction is p:
// half the squared error in the label's units where the loss is that, and the loss
// itself otherwise.
func (h *head) graded(f, p []float64, y Label, j int) float64 {
	switch {
	case h.loss == loss.Square{}:
		return h.loss.Value(p[j:j+1], bounded(y.At(j)))
	case h.task == Regression:
		return h.loss.Value(f[j:j+1], h.target(y, j))
	case y.Class >= h.classes:
		return h.unseen()
	case h.classes == 1:
		return 0
	}
	return h.loss.Value(f, float64(y.Class))
}

// wrong returns how far off prediction p of target j is: 0 or 1, or the squared
// error.
func (h *head) wrong(p []float64, y Label, j int) float64 {
	if h.task == Regression {
		d := p[j] - bounded(y.At(j))
		return d * d
	}
	if Best(p) == y.Class {
		return 0
	}
	return 1
}

// Best returns the index of the largest of p, the first of them if there are more.
func Best(p []float64) int {
	at := 0
	for i, v := range p {
		if v > p[at] {
			at = i
		}
	}
	return at
}

func taskOf(l loss.Loss) Task {
	if l.Classifies() {
		return Classification
	}
	return Regression
}

// widen returns x, rows of from numbers, with as many as h has sums. Where that
// turns a binary model into one of three classes, its output u becomes
// (-u/2, u/2), and a margin (-u, u).
func (h *head) widen(x []float64, from int) []float64 {
	to, share := h.sums(), 0.5
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

// surprise returns how far off the prediction p was, in the mean over the targets.
func (h *head) surprise(p []float64, y Label) float64 {
	if h.task == Regression {
		sum := 0.0
		for j, u := range h.units {
			e := min((bounded(y.At(j))-p[j])/u.deviation, 1e6)
			sum += 1 - 1/(1+float64(max(e, -1e6)*max(e, -1e6)))
		}
		return sum / float64(len(h.units))
	}
	if y.Class >= len(p) {
		return 1
	}
	return max(0, min(1, 1-p[y.Class]))
}

// signs is how many outputs a model has whose targets are numbers or signs.
func signs(classes int) int {
	if classes > 2 {
		return classes
	}
	return 1
}

// signed appends the target of a label: standardised, or a sign for each class,
// or for the second of two.
func (h *head) signed(dst []float64, y Label) []float64 {
	if h.task == Regression {
		for j := range h.units {
			dst = append(dst, h.target(y, j))
		}
		return dst
	}
	for c := range signs(h.classes) {
		v := -1.0
		if h.classes == 2 && y.Class == 1 || h.classes > 2 && y.Class == c {
			v = 1
		}
		dst = append(dst, v)
	}
	return dst
}

// ResidualLimit bounds the influence of a label in a regression, whatever the
// algorithm: one that is further than so many of the labels' standard deviations
// from its prediction pulls no harder than one at that distance (Huber 1964).
const ResidualLimit = 10

// probabilities reports whether the scores are logarithms of odds or of
// probabilities, and so neither margins nor numbers.
func (h *head) probabilities() bool { return h.task == Classification && !h.margins() }

// A loss of probabilities p has the second derivative p(1-p) in a score, which is
// far below its bound for most rows. Steps that use it where the gradient was taken
// allow for its growth along the way by a factor and a floor.
const (
	curvatureFactor = 2    // along a step: chosen by trial, see docs/constants.md
	curvatureFloor  = 0.01 // likewise

	parabolaFloor = 0.02 // at a point: chosen by trial, see docs/constants.md
)

// curvatureAlong returns the curvature that a step goes by where the loss of
// probabilities has the gradient ±p, and nowhere more than bound.
func curvatureAlong(p, bound float64) float64 {
	return min(bound, float64(curvatureFactor*p*(1-p))+curvatureFloor)
}

// curvatureAt is curvatureAlong for the parabola of a row that is kept, at the
// score itself. gradient is that in all scores, of which the greatest curvature counts.
func curvatureAt(gradient []float64, bound float64) float64 {
	most := 0.0
	for _, d := range gradient {
		p := math.Abs(d)
		most = max(most, float64(p*(1-p)))
	}
	return min(bound, most+parabolaFloor)
}
