package warmup

import (
	"math"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Fit is what the warm-up finds out from its first rows. It is a pure function
// of them, wherever it is computed.
type Fit struct {
	Scaler        Scaler
	Scales        []target.Scale // of the targets; 0 and 1 for classes
	Kernel        features.Kernel
	Second        []float32 // factors of the scaled columns for half of the frequencies; nil for one kernel
	Lambda        float64   // weight of ‖f‖²/2 beside the mean loss of a row, as leave-one-out has it
	TopEigenvalue float64   // largest eigenvalue of the kernel's matrix on the rows / their number
}

// topRows is the number of rows that the largest eigenvalue is computed on.
const topRows = 512

// Request is what a fit is to go by. The task is settled.
type Request struct {
	Task   target.Task
	Kernel features.Kernel // with a scale, or to leave that to the rows and their labels
	Scaled bool            // rows come under a metric that is given
	Single bool            // one kernel, not two
	Fixed  FixedFeatures   // features of a model that has no more of them
}

// NewFit fits to rows of dim raw values.
func NewFit(x []float64, labels []target.Label, dim int, a Request) Fit {
	f := Fit{Scales: newScales(labels, a.Task)}
	if a.Scaled {
		f.Scaler = noScaler(dim)
	} else {
		f.Scaler = NewScaler(x, dim)
	}
	seen := f.scaled(x, dim)
	f.tune(sample{dim: dim, x: seen}, labels, a)
	seen = f.scaled(x[:min(len(x), topRows*dim)], dim)
	f.TopEigenvalue = f.topEigenvalue(seen, dim)
	return f
}

// newScales returns what to measure the targets of these labels in.
func newScales(labels []target.Label, task target.Task) []target.Scale {
	if task != target.Regression {
		return []target.Scale{{Deviation: 1}}
	}
	units, y := make([]target.Scale, labels[0].Outputs()), make([]float64, len(labels))
	for j := range units {
		for i, l := range labels {
			y[i] = l.At(j)
		}
		c := NewColumn(y, 1)
		units[j] = target.Scale{Mean: c.Mean, Deviation: 1}
		if !c.constant() {
			units[j].Deviation = c.Deviation
		}
	}
	return units
}

// Bank returns the features of a model that has no blocks yet.
func (f *Fit) Bank(m features.Map) *features.Bank {
	m.Kernel, m.Second = f.Kernel, f.Second
	return features.NewBank(m)
}

// scaled returns the rows x as the model sees them.
func (f *Fit) scaled(x []float64, dim int) []float64 {
	scaled := make([]float64, len(x))
	row := make([]float32, dim)
	for i := 0; i < len(x); i += dim {
		f.Scaler.Apply(row, x[i:i+dim])
		for j, v := range row {
			scaled[i+j] = float64(v)
		}
	}
	return scaled
}

const (
	minTuningRows = 250 // rows, below which a metric, or the penalty alone, is chosen worse than not at all
	tuningRows    = 512 // that the last choice is made on
)

// tune decides on the metric, unless one is given, the kernel's width and the
// penalty: by the labels, or without them on no metric and the median distance of
// the rows.
func (f *Fit) tune(s sample, labels []target.Label, a Request) {
	s.label(f, labels, a.Task)
	n := s.rows()
	best, second := tuned{Ones(s.dim), safeTuning}, (*tuned)(nil)
	switch {
	case Settled(a.Kernel) && n < minTuningRows:
	case Settled(a.Kernel):
		best.tuning = newTuner(s.slice(0, min(n, tuningRows)), best.weights, a.Kernel).descend(safeTuning)
	case f.Scaler.AsIs || n < minTuningRows:
		best = s.tuned(best, a)
	default:
		best, second = s.choose(a)
	}
	f.Lambda = penalty(best.lambda)
	if f.Kernel = a.Kernel; !Settled(a.Kernel) {
		scale := s.scale(best, a.Kernel)
		f.Kernel = withScale(a.Kernel, scale)
		if second != nil {
			ratio := scale / s.scale(*second, a.Kernel)
			f.Second = make([]float32, s.dim)
			for j, v := range second.weights {
				f.Second[j] = float32(ratio * math.Sqrt(v/best.weights[j]))
			}
		}
	}
	for j, v := range best.weights {
		f.Scaler.ColumnWeights[j] = math.Sqrt(v)
	}
}

// minScale keeps the scale of a kernel positive where all rows are nearly alike.
const minScale = 1e-6

// scale returns the scale of the kernel that t has chosen.
func (s sample) scale(t tuned, k features.Kernel) float64 {
	return math.Ldexp(max(minScale, math.Sqrt(s.squaredScale(k, t.weights, s.distances(t.weights)))), t.width)
}

// tuned is a metric, and what is best under it.
type tuned struct {
	weights []float64
	tuning
}

// tuned makes the last choice for a metric, from one on other rows. A model of
// many features has, from the last fit on, a narrower kernel than is best for
// these rows; one of few has the width that is best with its features, and the penalty that the
// kernel itself would have: as many rows as features would want more of it, and
// there will be more rows.
func (s sample) tuned(from tuned, a Request) tuned {
	n := s.rows()
	last := s.slice(max(0, n-tuningRows), n)
	t := newTuner(last, from.weights, a.Kernel)
	switch {
	case a.Fixed.Blocks > 0:
		return tuned{from.weights, t.descend(newTuner(last, from.weights, a.Kernel).on(a.Fixed).search(from.tuning))}
	case n >= LastCheckpoint:
		return tuned{from.weights, t.narrow(t.search(from.tuning))}
	}
	return tuned{from.weights, t.search(from.tuning)}
}

const (
	// weightsWorth is what is left of the error where a metric is worth it that
	// trusts the rows more.
	weightsWorth = 0.97
	// secondWorth is how much more error no metric may make to be a second one: a
	// metric that few rows suggest helps while there are few, and is in the way
	// where in the end all columns matter alike.
	secondWorth = 1.15
)

// choose compares no metric with the kinds of them and their square roots: made
// on the first two thirds of the rows and compared on the others. The best is
// taken as it was compared: made again, of all rows, it might be another. The
// second is for half of the frequencies, or nil.
func (s sample) choose(a Request) (first tuned, second *tuned) {
	n := s.rows()
	made, compared := s.slice(0, 2*n/3), s.slice(2*n/3, n)
	all := make([]tuned, 1+2*len(weightings))
	try := func(i int, weights []float64) {
		all[i] = tuned{weights, newTuner(compared, weights, a.Kernel).search(safeTuning)}
	}
	var wait sync.WaitGroup
	wait.Go(func() { try(0, Ones(s.dim)) })
	for i, kind := range weightings {
		wait.Go(func() {
			w := newColumnWeights(made, kind)
			try(1+2*i, floored(root(w)))
			try(2+2*i, floored(w))
		})
	}
	wait.Wait()
	best := 0
	for i, t := range all {
		if t.error < weightsWorth*all[best].error {
			best = i
		}
	}
	if !a.Single && best != 0 && all[0].error < secondWorth*all[best].error {
		none := s.tuned(all[0], a)
		second = &none
	}
	return s.tuned(all[best], a), second
}

// label sets what the rows of s should be predicted as: the standardised label,
// or ±1 for each class, or for the second of two.
func (s *sample) label(f *Fit, labels []target.Label, task target.Task) {
	s.targets = 1
	classes := 0
	for _, y := range labels {
		classes = max(classes, y.Class+1)
	}
	switch {
	case task == target.Regression:
		s.targets = len(f.Scales)
	case classes > 2:
		s.targets = classes
	}
	s.y = make([]float64, len(labels)*s.targets)
	for i, y := range labels {
		for c := range s.targets {
			v := -1.0
			switch {
			case task == target.Regression:
				v = max(-target.MaxResidual, min(target.MaxResidual, (target.Bounded(y.At(c))-f.Scales[c].Mean)/f.Scales[c].Deviation))
			case s.targets == 1 && y.Class == 1 || s.targets > 1 && y.Class == c:
				v = 1
			}
			s.y[i*s.targets+c] = v
		}
	}
	s.center()
	*s = s.mixed(tunedTargets)
}

// tunedTargets is how many outputs the choices are compared on.
const tunedTargets = 16

// Nth returns what would stand at index n if x were sorted, and moves the
// elements of x about. (Quickselect: Hoare 1961.)
func Nth(x []float64, n int) float64 {
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
func (f *Fit) topEigenvalue(x []float64, dim int) float64 {
	n := len(x) / dim
	m := make([]float64, n*n)
	add := func(x []float64, weight float64) {
		for i := range n {
			m[i*n+i] += weight
			for j := range i {
				v := float64(weight * f.Kernel.Eval(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim]))
				m[i*n+j] += v
				m[j*n+i] += v
			}
		}
	}
	if f.Second == nil {
		add(x, 1)
	} else {
		add(x, 0.5)
		other := make([]float64, len(x))
		for i, v := range x {
			other[i] = float64(v * float64(f.Second[i%dim]))
		}
		add(other, 0.5)
	}
	return vec.MaxEigenvalue(m, n) / float64(n)
}

// Examples are rows that are scaled already, with their labels and weights.
type Examples struct {
	X       []float32
	Labels  []target.Label
	Weights []float64
}

// PenaltyOf returns the weight of ‖f‖²/2 beside the mean loss that leave-one-out
// chooses on the last 512 of the rows that have a weight, by their weights, for
// the square loss and the kernel of m itself.
func (f *Fit) PenaltyOf(rows Examples, m features.Map, task target.Task) float64 {
	s := sample{dim: m.Dim}
	var labels []target.Label
	var weights []float64
	for i, weight := range rows.Weights {
		if weight > 0 {
			weights, labels = append(weights, weight), append(labels, rows.Labels[i])
			for _, v := range rows.X[i*s.dim : (i+1)*s.dim] {
				s.x = append(s.x, float64(v))
			}
		}
	}
	if len(labels) < minTuningRows {
		return penalty(safeTuning.lambda)
	}
	from := max(0, len(labels)-tuningRows)
	s.x, weights = s.x[from*s.dim:], weights[from:]
	s.label(f, labels[from:], task)
	t := newTuner(s, Ones(s.dim), m.Kernel)
	if m.Second != nil {
		weights := make([]float64, s.dim)
		for j, f := range m.Second {
			weights[j] = float64(f) * float64(f)
		}
		t.withSecond(weights)
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
	return penalty(t.descend(safeTuning).lambda)
}
