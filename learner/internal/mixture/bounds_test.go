package mixture

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// TestRangeIsThatOfTheLabels: without outliers it is from the least to the largest of all labels,
// or, after many, of those of this epoch and of the one before.
func TestRangeIsThatOfTheLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := newBounds(make([]float64, boundSize))
	var all []float64
	for i := range 3*epochLabels + 100 {
		y := rng.NormFloat64()
		if i < epochLabels/2 {
			y *= 5
		}
		all = append(all, y)
		if inliers := b.add(y); inliers != nil {
			t.Fatalf("label %d: %v are without outliers", i, inliers)
		}
		if i < epochLabels-1 {
			if lo, hi := b.span(); lo != slices.Min(all) || hi != slices.Max(all) {
				t.Fatalf("label %d: the range is from %v to %v, want %v to %v", i, lo, hi, slices.Min(all), slices.Max(all))
			}
		}
	}
	recent := all[2*epochLabels:]
	lo, hi := b.span()
	if least, most := slices.Min(recent), slices.Max(recent); lo > least || hi < most || lo < -6 || hi > 6 {
		t.Errorf("in the end the range is from %v to %v, that of the recent labels from %v to %v", lo, hi, least, most)
	}
}

// TestOutliersAreOutsideOfTheRange, at any row, until they are usual.
func TestOutliersAreOutsideOfTheRange(t *testing.T) {
	for _, at := range []int{0, 1, 2, 10, 100, 300, 5000} {
		for _, size := range []float64{1e6, -1e6, 1e300} {
			rng := rand.New(rand.NewPCG(1, 2))
			b := newBounds(make([]float64, boundSize))
			outlier := target.Bounded(size)
			for i := range 5100 {
				y := rng.NormFloat64()
				if i == at {
					y = outlier
				}
				b.add(y)
				if i == at && at > leastLabels && !b.outside(y) {
					t.Errorf("%v is no outlier after %d labels", y, at)
				}
			}
			if lo, hi := b.limits(); lo < -20 || hi > 20 {
				t.Errorf("%v at label %d: predictions are from %v to %v", size, at, lo, hi)
			}
			for range 100 {
				b.add(outlier + rng.NormFloat64()*math.Abs(outlier)/1e3)
			}
			if b.outside(outlier) {
				t.Errorf("%v is an outlier after 100 of its kind", size)
			}
		}
	}
}

// TestLastLabelsAreThose, wherever the ring ends.
func TestLastLabelsAreThose(t *testing.T) {
	b := newBounds(make([]float64, boundSize))
	for i := range 3 * recentLabels {
		b.add(float64(i))
		got := slices.Clone(b.last(GrownRows))
		slices.Sort(got)
		if want := min(i+1, GrownRows); len(got) != want || got[0] != float64(i+1-want) || got[want-1] != float64(i) {
			t.Fatalf("after %d: the last labels are %v", i, got)
		}
	}
}

// TestLevelsAreFollowed: after labels have jumped to another level, the next prediction can be there.
func TestLevelsAreFollowed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := newBounds(make([]float64, boundSize))
	for range 500 {
		b.add(100 + rng.NormFloat64())
	}
	b.add(24)
	if lo, _ := b.reach(); b.outside(24) || lo != 24 {
		t.Errorf("after a jump to 24 predictions are from %v on, outlier: %v", lo, b.outside(24))
	}
	if lo, _ := b.limits(); lo < 80 {
		t.Errorf("those of a scorer are from %v on", lo)
	}
	b.add(1e6)
	if _, hi := b.reach(); hi > 200 {
		t.Errorf("after an outlier predictions are up to %v", hi)
	}
}
