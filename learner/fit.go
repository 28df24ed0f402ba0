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
	scaler    scaler
	mean      float64 // of the labels of a regression; 0 for classes
	deviation float64 // likewise; 1 for classes
	kernel    features.Kernel
	lambda    float64 // weight of ‖f‖²/2 beside the mean loss of a row, as leave-one-out has it
	top       float64 // largest eigenvalue of the kernel's matrix on the rows / their number
}

// topRows is the number of rows that the largest eigenvalue is computed on.
const topRows = 512

// newFit fits to rows of dim raw values. The task is settled; the kernel may
// have a scale or leave that to the rows and their labels, and to the features of
// a model that has few.
func newFit(x []float64, labels []Label, dim int, task Task, kernel features.Kernel, few few) fit {
	f := fit{scaler: newScaler(x, dim), deviation: 1}
	if task == Regression {
		y := make([]float64, len(labels))
		for i, l := range labels {
			y[i] = l.Value
		}
		c := newColumn(y, 1)
		f.mean = c.mean
		if !c.constant() {
			f.deviation = c.deviation
		}
	}
	scaled := f.scaled(x, dim)
	f.tune(sample{dim: dim, x: scaled}, labels, task, kernel, few)
	scaled = f.scaled(x[:min(len(x), topRows*dim)], dim)
	f.top = topEigenvalue(f.kernel, scaled, dim)
	return f
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
	enough   = 250 // rows, below which leave-one-out chooses worse than no choice at all
	someRows = 512 // that the last choice is made on
)

// tune decides on the metric, the kernel's width and the penalty: by the labels,
// or without them on no metric and the median distance of the rows.
func (f *fit) tune(s sample, labels []Label, task Task, kernel features.Kernel, few few) {
	s.label(f, labels, task)
	n := s.rows()
	gaussian, ok := kernel.(features.Gaussian)
	metric, best := ones(s.dim), safe
	switch {
	case !ok || n < enough:
	case gaussian.Scale > 0:
		t := newTuner(s.slice(0, min(n, someRows)), metric)
		t.median = gaussian.Scale * gaussian.Scale
		best = t.descend(safe)
	default:
		metric, best = s.choose(few)
	}
	f.lambda = penalty(best.lambda)
	if f.kernel = kernel; ok && gaussian.Scale == 0 {
		width := max(1e-6, math.Sqrt(median(s.distances(metric), n)))
		f.kernel = features.Gaussian{Scale: math.Ldexp(width, best.width)}
	}
	for j, a := range metric {
		f.scaler.metric[j] = math.Sqrt(a)
	}
}

// metricWorth is what is left of the error where a metric is worth it that trusts
// the rows more.
const metricWorth = 0.97

// choose compares no metric with the kinds of them and their square roots: made
// on the first two thirds of the rows and compared on the others. The best is
// taken as it was compared: made again, of all rows, it might be another. A model
// of many features has a narrower kernel than is best for these rows; one of few
// has the width that is best with its features, and the penalty that the kernel
// itself would have: as many rows as features would want more of it, and there
// will be more rows.
func (s sample) choose(few few) ([]float64, tuning) {
	n := s.rows()
	first, second := s.slice(0, 2*n/3), s.slice(2*n/3, n)
	metrics := make([][]float64, 1+2*len(metricKinds))
	tunings := make([]tuning, len(metrics))
	try := func(i int, metric []float64) {
		metrics[i], tunings[i] = metric, newTuner(second, metric).search(safe)
	}
	var wait sync.WaitGroup
	wait.Go(func() { try(0, ones(s.dim)) })
	for i, kind := range metricKinds {
		wait.Go(func() {
			a := newMetric(first, kind)
			try(1+2*i, floored(root(a)))
			try(2+2*i, floored(a))
		})
	}
	wait.Wait()
	best := 0
	for i, t := range tunings {
		if t.error < metricWorth*tunings[best].error {
			best = i
		}
	}
	last := s.slice(max(0, n-someRows), n)
	t := newTuner(last, metrics[best])
	if few.blocks > 0 {
		return metrics[best], t.descend(newTuner(last, metrics[best]).on(few, metrics[best]).search(tunings[best]))
	}
	return metrics[best], t.narrow(t.search(tunings[best]))
}

// label sets what the rows of s should be predicted as: the standardised label,
// or ±1 for each class, or for the second of two.
func (s *sample) label(f *fit, labels []Label, task Task) {
	s.outputs = 1
	classes := 0
	for _, y := range labels {
		classes = max(classes, y.Class+1)
	}
	if task == Classification && classes > 2 {
		s.outputs = classes
	}
	s.y = make([]float64, len(labels)*s.outputs)
	for i, y := range labels {
		for c := range s.outputs {
			v := -1.0
			switch {
			case task == Regression:
				v = max(-ResidualLimit, min(ResidualLimit, (bounded(y.Value)-f.mean)/f.deviation))
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

// topEigenvalue returns the largest eigenvalue of the kernel's matrix on n rows,
// divided by n.
func topEigenvalue(k features.Kernel, x []float64, dim int) float64 {
	n := len(x) / dim
	m := make([]float64, n*n)
	for i := range n {
		m[i*n+i] = 1
		for j := range i {
			v := k.Eval(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim])
			m[i*n+j], m[j*n+i] = v, v
		}
	}
	return vec.MaxEigenvalue(m, n) / float64(n)
}
