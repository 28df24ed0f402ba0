package learner

import (
	"math"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
)

// fit is what the warm-up finds out from its first rows. It is a pure function
// of them, wherever it is computed.
type fit struct {
	scaler scaler
	units  []unit // of the targets; 0 and 1 for classes
	kernel features.Kernel
	second []float32 // factors of the scaled columns for half of the frequencies; nil for one kernel
	lambda float64   // weight of ‖f‖²/2 beside the mean loss of a row, as leave-one-out has it
	top    float64   // largest eigenvalue of the kernel's matrix on the rows / their number
}

// topRows is the number of rows that the largest eigenvalue is computed on.
const topRows = 512

// asked is what a fit is to go by. The task is settled.
type asked struct {
	task   Task
	kernel features.Kernel // with a scale, or to leave that to the rows and their labels
	scaled bool            // rows come under a metric that is given
	single bool            // one kernel, not two
	few    few             // features of a model that has no more of them
}

// newFit fits to rows of dim raw values.
func newFit(x []float64, labels []Label, dim int, a asked) fit {
	f := fit{units: newUnits(labels, a.task)}
	if a.scaled {
		f.scaler = noScaler(dim)
	} else {
		f.scaler = newScaler(x, dim)
	}
	seen := f.scaled(x, dim)
	f.tune(sample{dim: dim, x: seen}, labels, a)
	seen = f.scaled(x[:min(len(x), topRows*dim)], dim)
	f.top = f.topEigenvalue(seen, dim)
	return f
}

// newUnits returns what to measure the targets of these labels in.
func newUnits(labels []Label, task Task) []unit {
	if task != Regression {
		return []unit{{0, 1}}
	}
	units, y := make([]unit, labels[0].Outputs()), make([]float64, len(labels))
	for j := range units {
		for i, l := range labels {
			y[i] = l.At(j)
		}
		c := newColumn(y, 1)
		units[j] = unit{c.mean, 1}
		if !c.constant() {
			units[j].deviation = c.deviation
		}
	}
	return units
}

// bank returns the features of a model that has no blocks yet.
func (f *fit) bank(m features.Map) *features.Bank {
	m.Kernel, m.Second = f.kernel, f.second
	return features.NewBank(m)
}

// scaled returns the rows x as the model sees them.
func (f *fit) scaled(x []float64, dim int) []float64 {
	scaled := make([]float64, len(x))
	row := make([]float32, dim)
	for i := 0; i < len(x); i += dim {
		f.scaler.apply(row, x[i:i+dim])
		for j, v := range row {
			scaled[i+j] = float64(v)
		}
	}
	return scaled
}

const (
	enough   = 250 // rows, below which a metric, or the penalty alone, is chosen worse than not at all
	someRows = 512 // that the last choice is made on
)

// tune decides on the metric, unless one is given, the kernel's width and the
// penalty: by the labels, or without them on no metric and the median distance of
// the rows.
func (f *fit) tune(s sample, labels []Label, a asked) {
	s.label(f, labels, a.task)
	n := s.rows()
	gaussian, ok := a.kernel.(features.Gaussian)
	best, second := tuned{ones(s.dim), safe}, (*tuned)(nil)
	switch {
	case !ok || gaussian.Scale > 0 && n < enough:
	case gaussian.Scale > 0:
		t := newTuner(s.slice(0, min(n, someRows)), best.metric)
		t.median = gaussian.Scale * gaussian.Scale
		best.tuning = t.descend(safe)
	case f.scaler.asIs || n < enough:
		best = s.tuned(best, a.few)
	default:
		best, second = s.choose(a)
	}
	f.lambda = penalty(best.lambda)
	if f.kernel = a.kernel; ok && gaussian.Scale == 0 {
		scale := s.scale(best)
		f.kernel = features.Gaussian{Scale: scale}
		if second != nil {
			ratio := scale / s.scale(*second)
			f.second = make([]float32, s.dim)
			for j, v := range second.metric {
				f.second[j] = float32(ratio * math.Sqrt(v/best.metric[j]))
			}
		}
	}
	for j, v := range best.metric {
		f.scaler.metric[j] = math.Sqrt(v)
	}
}

// scale returns the scale of the kernel.
func (s sample) scale(t tuned) float64 {
	return math.Ldexp(max(1e-6, math.Sqrt(median(s.distances(t.metric), s.rows()))), t.width)
}

// tuned is a metric, and what is best under it.
type tuned struct {
	metric []float64
	tuning
}

// tuned makes the last choice for a metric, from one on other rows. A model of
// many features has, from the last fit on, a narrower kernel than is best for
// these rows; one of few has the width that is best with its features, and the penalty that the
// kernel itself would have: as many rows as features would want more of it, and
// there will be more rows.
func (s sample) tuned(from tuned, few few) tuned {
	n := s.rows()
	last := s.slice(max(0, n-someRows), n)
	t := newTuner(last, from.metric)
	switch {
	case few.blocks > 0:
		return tuned{from.metric, t.descend(newTuner(last, from.metric).on(few, from.metric).search(from.tuning))}
	case n >= lastRung:
		return tuned{from.metric, t.narrow(t.search(from.tuning))}
	}
	return tuned{from.metric, t.search(from.tuning)}
}

const (
	// metricWorth is what is left of the error where a metric is worth it that
	// trusts the rows more.
	metricWorth = 0.97
	// secondWorth is how much more error no metric may make to be a second one: a
	// metric that few rows suggest helps while there are few, and is in the way
	// where in the end all columns matter alike.
	secondWorth = 1.15
)

// choose compares no metric with the kinds of them and their square roots: made
// on the first two thirds of the rows and compared on the others. The best is
// taken as it was compared: made again, of all rows, it might be another. The
// second is for half of the frequencies, or nil.
func (s sample) choose(a asked) (first tuned, second *tuned) {
	n := s.rows()
	made, compared := s.slice(0, 2*n/3), s.slice(2*n/3, n)
	all := make([]tuned, 1+2*len(metricKinds))
	try := func(i int, metric []float64) { all[i] = tuned{metric, newTuner(compared, metric).search(safe)} }
	var wait sync.WaitGroup
	wait.Go(func() { try(0, ones(s.dim)) })
	for i, kind := range metricKinds {
		wait.Go(func() {
			a := newMetric(made, kind)
			try(1+2*i, floored(root(a)))
			try(2+2*i, floored(a))
		})
	}
	wait.Wait()
	best := 0
	for i, t := range all {
		if t.error < metricWorth*all[best].error {
			best = i
		}
	}
	if !a.single && best != 0 && all[0].error < secondWorth*all[best].error {
		none := s.tuned(all[0], a.few)
		second = &none
	}
	return s.tuned(all[best], a.few), second
}

// label sets what the rows of s should be predicted as: the standardised label,
// or ±1 for each class, or for the second of two.
func (s *sample) label(f *fit, labels []Label, task Task) {
	s.outputs = 1
	classes := 0
	for _, y := range labels {
		classes = max(classes, y.Class+1)
	}
	switch {
	case task == Regression:
		s.outputs = len(f.units)
	case classes > 2:
		s.outputs = classes
	}
	s.y = make([]float64, len(labels)*s.outputs)
	for i, y := range labels {
		for c := range s.outputs {
			v := -1.0
			switch {
			case task == Regression:
				v = max(-ResidualLimit, min(ResidualLimit, (bounded(y.At(c))-f.units[c].mean)/f.units[c].deviation))
			case s.outputs == 1 && y.Class == 1 || s.outputs > 1 && y.Class == c:
				v = 1
			}
			s.y[i*s.outputs+c] = v
		}
	}
	s.center()
	*s = s.mixed(tunedOutputs)
}

// tunedOutputs is how many outputs the choices are compared on.
const tunedOutputs = 16

// nth returns what would stand at index n if x were sorted, and moves the
// elements of x about. (Quickselect: Hoare 1961.)
func nth(x []float64, n int) float64 {
	for len(x) > 16 {
		a, b, c := x[0], x[len(x)/2], x[len(x)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(x)-1
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			x = x[:j+1]
		case n >= i:
			x, n = x[i:], n-i
		default:
			return pivot
		}
	}
	slices.Sort(x)
	return x[n]
}

// topEigenvalue returns the largest eigenvalue of the matrix of the kernel, or of
// the mean of both, on n rows, divided by n.
func (f *fit) topEigenvalue(x []float64, dim int) float64 {
	n := len(x) / dim
	m := make([]float64, n*n)
	add := func(x []float64, weight float64) {
		for i := range n {
			m[i*n+i] += weight
			for j := range i {
				v := float64(weight * f.kernel.Eval(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim]))
				m[i*n+j] += v
				m[j*n+i] += v
			}
		}
	}
	if f.second == nil {
		add(x, 1)
	} else {
		add(x, 0.5)
		other := make([]float64, len(x))
		for i, v := range x {
			other[i] = float64(v * float64(f.second[i%dim]))
		}
		add(other, 0.5)
	}
	return vec.MaxEigenvalue(m, n) / float64(n)
}

// examples are rows that are scaled already, with their labels and weights.
type examples struct {
	x       []float32
	labels  []Label
	weights []float64
}

// penaltyOf returns the weight of ‖f‖²/2 beside the mean loss that leave-one-out
// chooses on the last 512 of the rows that have a weight, by their weights, for
// the square loss and the kernel of m itself.
func (f *fit) penaltyOf(rows examples, m features.Map, task Task) float64 {
	gaussian, ok := m.Kernel.(features.Gaussian)
	s := sample{dim: m.Dim}
	var labels []Label
	var weights []float64
	for i, weight := range rows.weights {
		if weight > 0 {
			weights, labels = append(weights, weight), append(labels, rows.labels[i])
			for _, v := range rows.x[i*s.dim : (i+1)*s.dim] {
				s.x = append(s.x, float64(v))
			}
		}
	}
	if !ok || len(labels) < enough {
		return penalty(safe.lambda)
	}
	from := max(0, len(labels)-someRows)
	s.x, weights = s.x[from*s.dim:], weights[from:]
	s.label(f, labels[from:], task)
	t := newTuner(s, ones(s.dim))
	t.median = gaussian.Scale * gaussian.Scale
	if m.Second != nil {
		metric := make([]float64, s.dim)
		for j, f := range m.Second {
			metric[j] = float64(f) * float64(f)
		}
		t.second = s.distances(metric)
	}
	if slices.Min(weights) < slices.Max(weights) {
		sum := 0.0
		for _, w := range weights {
			sum += w
		}
		for i, w := range weights {
			weights[i] = w * float64(len(weights)) / sum
		}
		t.weights = weights
	}
	return penalty(t.descend(safe).lambda)
}
