package warmup

import (
	"math"
	"runtime"
	"sync"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// minTuningRows is the number of rows below which column weights, or a penalty for
	// a given kernel, are worse than the default. Chosen by trial, see docs/constants.md.
	minTuningRows = 250

	// tuningRows is the number of rows of the final choice, whose time grows with its
	// cube. Chosen by trial.
	tuningRows = 512

	// quickCompared and quickTuningRows are the numbers of rows that a quick fit compares
	// column weights on and makes the final choice on. Chosen by trial.
	quickCompared, quickTuningRows = 167, 384

	// earlyTuningRows is the number of rows of the final choice of the fits before the last, from
	// the version Sixth on. Chosen by trial.
	earlyTuningRows = 256
)

// finalRows returns the number of rows of the final choice of a fit to n rows.
func (a *Request) finalRows(n int) int {
	switch {
	case a.Version >= Sixth && n < LastCheckpoint:
		return earlyTuningRows
	case a.Quick:
		return quickTuningRows
	}
	return tuningRows
}

// tune chooses the column weights, unless a metric is given, the width of the kernel
// and the penalty: by their leave-one-out errors, if there are enough rows.
func (f *Fit) tune(s sample, labels []target.Label, a Request) {
	s.label(f, labels, a.Task)
	n := s.rows()
	best, second := tuned{Ones(s.dim), safeTuning}, (*tuned)(nil)
	switch {
	case a.Task == target.Novelty:
		best.width = noveltyWidth
	case HasScale(a.Kernel) && n < minTuningRows:
	case HasScale(a.Kernel):
		t := newTuner(s.slice(0, min(n, a.finalRows(n))), best.weights, a.Kernel)
		best.tuning = t.descend(safeTuning)
		t.release()
	case f.Scaler.AsIs || n < minTuningRows:
		best = s.tuned(best, a)
	default:
		best, second = s.choose(a)
	}
	f.Lambda = penalty(best.lambda)
	if f.Kernel = a.Kernel; !HasScale(a.Kernel) {
		chosen := s.scaled(a.Kernel, best)
		f.Kernel = chosen
		if second != nil {
			ratio := chosen.LengthScale() / s.scaled(a.Kernel, *second).LengthScale()
			f.Second = make([]float32, s.dim)
			for j, v := range second.weights {
				f.Second[j] = float32(ratio * math.Sqrt(v/best.weights[j]))
			}
		}
	}
	for j, v := range best.weights {
		f.Scaler.ColumnWeights[j] *= math.Sqrt(v)
	}
}

// noveltyWidth is the width of the kernel without labels: half the median distance, which
// for standardised Gaussian inputs is the width 1/√(2γ) of scikit-learn's gamma="scale".
const noveltyWidth = -1

// minScale keeps the scale of a kernel positive where all rows are nearly alike.
const minScale = 1e-6

// scaled returns k, which has no scale, with the one that t has chosen.
func (s sample) scaled(k kernel.Kernel, t tuned) kernel.Scaled {
	squares := s.distances(t.weights)
	defer releaseMatrix(squares)
	k = s.typical(k, t.weights, squares)
	scale := math.Ldexp(max(minScale, math.Sqrt(s.squaredScale(k, t.weights, squares))), t.width)
	return withScale(k, scale).(kernel.Scaled)
}

// tuned is a choice of column weights, and the best tuning for them.
type tuned struct {
	weights []float64
	tuning
}

// tuned makes the final choice for the column weights of from, starting from its tuning, which was
// chosen on other rows.
//
// From the last fit on, a model of many features gets a narrower kernel than is best for these
// rows. A model of few features gets the width that is best with its features, and the penalty that
// is best for the kernel itself: with about as many rows as features a larger penalty would look
// better, but there will be more rows.
func (s sample) tuned(from tuned, a Request) tuned {
	n := s.rows()
	last := s.slice(max(0, n-a.finalRows(n)), n)
	t := newTuner(last, from.weights, a.Kernel)
	defer t.release()
	switch {
	case a.Fixed.Blocks > 0:
		return tuned{from.weights, t.descend(newTuner(last, from.weights, a.Kernel).on(a.Fixed).searched(from.tuning))}
	case n >= LastCheckpoint:
		return tuned{from.weights, t.narrow(t.search(from.tuning))}
	}
	return tuned{from.weights, t.search(from.tuning)}
}

const (
	// weightsGain is the largest error, relative to that of the previous candidate, at
	// which column weights that fit the rows more closely are chosen. Chosen by trial,
	// see docs/constants.md.
	weightsGain = 0.97

	// secondMargin is the largest error of equal column weights, relative to that of the best ones,
	// at which half of the frequencies have equal weights. Weights that few rows suggest help while
	// there are few rows, but hurt if all columns matter in the end. Chosen by trial.
	secondMargin = 1.15
)

// choose compares equal column weights with those of each weighting and their square roots,
// computed on the first two thirds of the rows and compared on the others. The best weights are
// used as they were compared: if they were computed again, on all rows, they could differ. second
// has the weights for half of the frequencies, or is nil. From the version Seventh on, the search
// for each weighting starts from the best tuning for equal weights.
func (s sample) choose(a Request) (first tuned, second *tuned) {
	n := s.rows()
	split := 2 * n / 3
	made, compared := s.slice(0, split), s.slice(split, n)
	if a.Quick {
		compared = s.slice(split, min(n, split+quickCompared))
	}
	all := make([]tuned, 1+2*len(weightings))
	var wait, equal sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0)) // bounds the memory in use
	take := func(do func()) {
		free <- struct{}{}
		do()
		<-free
	}
	search := func(i int, weights []float64, start tuning) {
		take(func() { all[i] = tuned{weights, newTuner(compared, weights, a.Kernel).searched(start)} })
	}
	equal.Go(func() { search(0, Ones(s.dim), safeTuning) })
	try := func(i int, weights []float64) {
		start := safeTuning
		if a.Version >= Seventh {
			equal.Wait()
			start = all[0].tuning
		}
		search(i, weights, start)
	}
	for i, kind := range weightings {
		wait.Go(func() {
			var w []float64
			take(func() { w = newColumnWeights(made, kind) })
			wait.Go(func() { try(1+2*i, floored(root(w))) })
			try(2+2*i, floored(w))
		})
	}
	wait.Wait()
	equal.Wait()
	best := 0
	for i, t := range all {
		if t.error < weightsGain*all[best].error {
			best = i
		}
	}
	if !a.Single && best != 0 && all[0].error < secondMargin*all[best].error {
		second = new(tuned)
		wait.Go(func() { *second = s.tuned(all[0], a) })
	}
	first = s.tuned(all[best], a)
	wait.Wait()
	return first, second
}
