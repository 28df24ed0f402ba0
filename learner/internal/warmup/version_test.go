package warmup

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// TestNumbersOfClassesDoNotMatter: for few classes, for more than there are targets, and
// with a class that has no row yet.
func TestNumbersOfClassesDoNotMatter(t *testing.T) {
	t.Parallel()
	for _, classes := range []int{7, comparedTargets + 5} {
		const n, dim = minTuningRows + 20, 4
		rng := rand.New(rand.NewPCG(1, uint64(classes)))
		x, class := make([]float64, n*dim), make([]int, n)
		for i := range n {
			for j := range dim {
				x[i*dim+j] = rng.NormFloat64()
			}
			class[i] = min(int(4*(x[i*dim]*x[i*dim]+max(0, x[i*dim+1]))), classes-2)
		}
		numbered := func(numbers []int, v Version) Fit {
			labels := make([]target.Label, n)
			for i, c := range class {
				labels[i] = target.Label{Task: target.Classification, Class: numbers[c]}
			}
			return NewFit(x, labels, dim, Request{Version: v, Task: target.Classification, Kernel: kernel.Gaussian{}})
		}
		first, second := rng.Perm(classes), rng.Perm(classes)
		if a, b := numbered(first, Newest), numbered(second, Newest); !reflect.DeepEqual(a, b) {
			t.Errorf("%d classes: column weights %v, kernel %v and penalty %v, and with other numbers %v, %v and %v", classes, a.Scaler.ColumnWeights, a.Kernel, a.Lambda, b.Scaler.ColumnWeights, b.Kernel, b.Lambda)
		}
		if a, b := numbered(first, First), numbered(second, First); slices.Equal(a.Scaler.ColumnWeights, b.Scaler.ColumnWeights) {
			t.Errorf("%d classes: their numbers make no difference to the first version either", classes)
		}
	}
}

// TestNarrowKernelsKeepWhatIsExplained: of the variance that the best choice explains, the
// narrower one explains nearly all where columns are indicators, also where that is little.
// For numbers it need not.
func TestNarrowKernelsKeepWhatIsExplained(t *testing.T) {
	for _, indicators := range []bool{true, false} {
		lost := 0
		for _, noise := range []float64{0.1, 1, 2, 3} {
			s := curved(250, 6, 0)
			s.version = Newest
			rng := rand.New(rand.NewPCG(9, 8))
			variance := 0.0
			for i, v := range s.x {
				if indicators {
					s.x[i] = math.Copysign(1, v)
				}
			}
			for i := range s.y {
				x := s.x[i*s.dim:]
				s.y[i] = x[0]*x[1] + noise*rng.NormFloat64()
			}
			s.center()
			for _, y := range s.y {
				variance += y * y / float64(s.rows())
			}
			tn := newTuner(s, Ones(s.dim), kernel.Gaussian{})
			best := tn.search(safeTuning)
			keeps := func(c tuning) bool {
				most := narrowMargin
				if best.lambda == weakest {
					most = weakMargin
				}
				return variance-c.error >= (1-maxUnexplained)*(variance-best.error) && c.error <= most*best.error
			}
			if chosen := tn.narrow(best); !keeps(chosen) {
				lost++
			}
			tn.version = First
			if c := tn.narrow(best); c.error > narrowMargin*best.error {
				t.Errorf("first version: %+v, where %+v is best", c, best)
			}
		}
		if indicators != (lost == 0) {
			t.Errorf("indicators: %v, and %d narrower kernels explain much less", indicators, lost)
		}
	}
}

// TestTheWeakestPenaltyTakesANarrowerKernel: one whose error is larger than a version before
// accepts, where the best choice has the weakest penalty, and the same as before where it has not.
func TestTheWeakestPenaltyTakesANarrowerKernel(t *testing.T) {
	weak, narrower, others := 0, 0, 0
	for seed := range uint64(12) {
		for _, noise := range []float64{0, 0.02, 0.3} {
			s := curved(250, 3, 0)
			rng := rand.New(rand.NewPCG(4, seed))
			for i := range s.y {
				x := s.x[i*s.dim:]
				s.y[i] = math.Exp(float64(1+seed)/8*x[0])*(1+0.3*math.Tanh(2*x[1])) + noise*rng.NormFloat64()
			}
			s.center()
			s.version = Newest
			tn := newTuner(s, Ones(s.dim), kernel.Gaussian{})
			best := tn.search(safeTuning)
			choice := tn.narrow(best)
			tn.version = Fifth
			before := tn.narrow(best)
			most := narrowMargin
			if best.lambda == weakest {
				weak++
				most = weakMargin
			} else {
				others++
			}
			if choice.error > most*best.error || choice.width > before.width || best.lambda > weakest && choice != before {
				t.Errorf("seed %d, noise %v: %+v, and before %+v, where %+v is best", seed, noise, choice, before, best)
			}
			if choice.width < before.width {
				narrower++
			}
		}
	}
	if weak == 0 || narrower == 0 || others == 0 {
		t.Errorf("%d choices with the weakest penalty, of which %d are narrower than before, and %d others", weak, narrower, others)
	}
}

// TestFineKernelsAreChosenAsBefore: not to try kernels that are too fine saves evaluations
// where rows are far from each other, and nothing else. A function of one column that
// oscillates has a fine kernel nevertheless. The newest version saves more, and its typical scale
// is that of fewer distances, nearly the same.
func TestFineKernelsAreChosenAsBefore(t *testing.T) {
	oscillating := curved(300, 2, 0)
	oscillating.dim = 1 // each value is a row
	oscillating.y = make([]float64, len(oscillating.x))
	for i, x := range oscillating.x {
		oscillating.y[i] = math.Sin(20 * x)
	}
	for name, test := range map[string]struct {
		sample
		fine, saves bool
	}{
		"oscillating": {oscillating, true, false},
		"smooth":      {curved(300, 2, 0.1), false, true},
		"wide":        {curved(300, 12, 0.1), false, false},
		"noise":       {curved(300, 12, 30), false, true},
	} {
		search := func(v Version) (tuning, int) {
			test.version = v
			tn := newTuner(test.sample, Ones(test.dim), kernel.Gaussian{})
			return tn.search(safeTuning), len(tn.seen)
		}
		before, tried := search(Second)
		after, now := search(Third)
		if before != after || (after.width < narrowest) != test.fine {
			t.Errorf("%s: %+v, and before %+v", name, after, before)
		}
		if now > tried || test.saves && now == tried {
			t.Errorf("%s: %d choices are compared, and before %d", name, now, tried)
		}
		newest, least := search(Newest)
		if newest.width != before.width || newest.lambda != before.lambda || math.Abs(newest.error/before.error-1) > 0.05 || least > now {
			t.Errorf("%s: the newest version chooses %+v of %d choices, and the third %+v of %d", name, newest, least, after, now)
		}
	}
}

// TestHopelessWidthsAreNotSearched: the newest version compares fewer choices than the one before,
// and the narrower kernel that it takes is nearly as good.
func TestHopelessWidthsAreNotSearched(t *testing.T) {
	saved := 0
	for seed := range uint64(6) {
		for _, noise := range []float64{0.1, 1} {
			s := curved(250, 4, noise)
			rng := rand.New(rand.NewPCG(5, seed))
			for i := range s.y {
				x := s.x[i*s.dim:]
				s.y[i] = math.Sin(float64(1+seed)/2*x[0]) + x[1]*x[2] + noise*rng.NormFloat64()
			}
			s.center()
			search := func(v Version) (tuning, int) {
				s.version = v
				tn := newTuner(s, Ones(s.dim), kernel.Gaussian{})
				best := tn.search(safeTuning)
				compared := len(tn.seen)
				return tn.narrow(best), compared
			}
			before, tried := search(Sixth)
			now, compared := search(Newest)
			if now.error > narrowMargin*before.error || compared > tried {
				t.Errorf("seed %d, noise %v: %+v of %d choices, and before %+v of %d", seed, noise, now, compared, before, tried)
			}
			saved += tried - compared
		}
	}
	if saved < 24 {
		t.Errorf("of 12 searches, %d choices less are compared", saved)
	}
}
