package drift

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

type detector interface {
	Add(v float64) bool
	Save(*state.Arrays)
	Load(*state.Reader)
}

var eachDetector = map[string]func() detector{
	"adwin":        func() detector { return new(ADWIN) },
	"page-hinkley": func() detector { return new(PageHinkley) },
}

// coin returns 1 with probability p.
func coin(rng *rand.Rand, p float64) float64 {
	if rng.Float64() < p {
		return 1
	}
	return 0
}

func TestDetectorsRaiseNoFalseAlarm(t *testing.T) {
	for name, make := range eachDetector {
		for _, p := range []float64{0, 0.02, 0.3, 1} {
			alarms := 0
			for seed := range 10 {
				d, rng := make(), rand.New(rand.NewPCG(uint64(seed), 1))
				for range 20_000 {
					if d.Add(coin(rng, p)) {
						alarms++
					}
				}
			}
			if alarms > 1 {
				t.Errorf("%s: %d alarms in 200,000 numbers that are 1 with probability %v", name, alarms, p)
			}
		}
	}
}

func TestDetectorsFindAChange(t *testing.T) {
	for name, make := range eachDetector {
		for _, c := range []struct {
			before, after float64
			within        int
		}{{0.05, 0.5, 150}, {0.2, 0.35, 1000}, {0.01, 0.1, 1000}} {
			for seed := range 10 {
				d, rng := make(), rand.New(rand.NewPCG(uint64(seed), 2))
				for range 5000 {
					d.Add(coin(rng, c.before))
				}
				found := -1
				for i := range 3000 {
					if d.Add(coin(rng, c.after)) {
						found = i
						break
					}
				}
				if found < 0 || found > c.within {
					t.Errorf("%s: a change from %v to %v is found after %d, want %d", name, c.before, c.after, found, c.within)
				}
			}
		}
	}
}

func TestLessLossIsNoDrift(t *testing.T) {
	for name, make := range eachDetector {
		d, rng := make(), rand.New(rand.NewPCG(1, 2))
		for i := range 10_000 {
			p := 0.8
			if i > 5000 {
				p = 0.1
			}
			if d.Add(coin(rng, p)) {
				t.Errorf("%s: alarm at %d, with the loss falling at 5000", name, i)
			}
		}
	}
}

// length returns the number of numbers in the window.
func (a *ADWIN) length() (n int64) {
	a.each(func(size float64, _ bucket) bool {
		n += int64(size)
		return true
	})
	return n
}

// TestAdwinKeepsWhatDoesNotDiffer: its window grows while nothing changes, and
// a change leaves about what came after it. Its sums are those of the plain list.
func TestAdwinKeepsWhatDoesNotDiffer(t *testing.T) {
	a, rng := new(ADWIN), rand.New(rand.NewPCG(1, 2))
	var all []float64
	for range 4000 {
		v := 0.3 * rng.Float64()
		all = append(all, v)
		a.Add(v)
	}
	if a.length() != 4000 {
		t.Errorf("a window of %d after 4000 numbers alike", a.length())
	}
	n, sum := 0.0, 0.0
	a.each(func(size float64, b bucket) bool {
		want, mean, squares := 0.0, 0.0, 0.0
		part := all[int(n):int(n+size)]
		for _, v := range part {
			want += v
		}
		mean = want / size
		for _, v := range part {
			squares += (v - mean) * (v - mean)
		}
		if d := want - b.sum; d > 1e-9 || d < -1e-9 {
			t.Errorf("bucket of %v at %v: sum %v, want %v", size, n, b.sum, want)
		}
		if d := squares - b.squares; d > 1e-9 || d < -1e-9 {
			t.Errorf("bucket of %v at %v: squares %v, want %v", size, n, b.squares, squares)
		}
		n, sum = n+size, sum+b.sum
		return true
	})
	for range 1000 {
		a.Add(0.5 + 0.3*rng.Float64())
	}
	if n := a.length(); n < 900 || n > 1100 {
		t.Errorf("a window of %d, 1000 numbers after a change", n)
	}
}

func TestDetectorsGoOnAfterRestore(t *testing.T) {
	for name, make := range eachDetector {
		d, rng := make(), rand.New(rand.NewPCG(3, 4))
		for i := range 3000 {
			p := 0.1 + 0.3*float64(i/700%2)
			if i%37 == 0 {
				var a state.Arrays
				d.Save(&a)
				s := &state.Reader{In: a}
				r := make()
				r.Load(s)
				if err := s.End(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				var b state.Arrays
				r.Save(&b)
				if !reflect.DeepEqual(a, b) {
					t.Fatalf("%s: not restored at %d: %v, want %v", name, i, b, a)
				}
				d = r
			}
			d.Add(coin(rng, p))
		}
	}
}
