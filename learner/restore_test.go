package learner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestRestoreRefusesWhatNoLearnerWrote damages each array of a State in each way
// that a snapshot can be damaged. Whatever is not refused must still predict. The states
// are those in the warm-up and at the end; without -exhaustive, of all but the first stream
// of each algorithm, two of them.
func TestRestoreRefusesWhatNoLearnerWrote(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		one := s.learnedOnce(t)
		l, at := newLearner(t, s.config), 0
		places := []int{0, 1, 90, 200, one.rows.Len()}
		if !*exhaustive && s.name != "growing" {
			places = []int{90, one.rows.Len()}
		}
		for _, n := range places {
			whole := one.last
			if n <= 200 {
				learn(l, one.rows.Slice(at, n), 100)
				at, whole = n, l.State()
			}
			for i := range len(whole.Serving) + len(whole.Resuming) {
				for _, d := range damages {
					state := State{slices.Clone(whole.Serving), slices.Clone(whole.Resuming)}
					a := &state.Serving
					if i >= len(state.Serving) {
						a = &state.Resuming
					}
					at := i % len(state.Serving)
					if a == &state.Resuming {
						at = i - len(state.Serving)
					}
					name := fmt.Sprintf("row %d, %s: %s", n, d.name, (*a)[at].Name)
					if raw := []string{"warmup.x", "lags.values", "monitor.first"}; slices.Contains(raw, (*a)[at].Name) && d.name == "with NaN" {
						continue // a missing value
					}
					if (*a)[at].Name == "mixture.factor" && d.name == "missing" {
						continue // a factor of 1, which is not written
					}
					if (*a)[at].Name == "mixture.limits" && d.name == "missing" {
						continue // an earlier arithmetic has none
					}
					if strings.HasSuffix((*a)[at].Name, "members.shares") && d.name == "missing" {
						continue // shares of the losses: an earlier arithmetic writes no others
					}
					if !d.do(a, at) {
						continue
					}
					r, err := restore(s.config, state)
					if d.refused && err == nil {
						t.Errorf("%s: not refused", name)
					}
					if err == nil {
						for _, v := range r.Predict(s.rows(3)).Values {
							if math.IsNaN(v) {
								t.Errorf("%s: a prediction is %v", name, v)
							}
						}
					}
					if m, err := NewModel(state.Serving); err == nil {
						m.Predict(s.rows(3))
					} else if a == &state.Resuming {
						t.Errorf("%s: the serving part alone: %v", name, err)
					}
				}
			}
		}
	})
}

// damages are what can happen to the array at index i. They say whether there
// was anything to damage.
var damages = []struct {
	name    string
	refused bool
	do      func(a *[]Array, i int) bool
}{
	{"missing", true, func(a *[]Array, i int) bool { *a = slices.Delete(*a, i, i+1); return true }},
	{"twice", true, func(a *[]Array, i int) bool { *a = slices.Insert(*a, i, (*a)[i]); return true }},
	{"renamed", true, func(a *[]Array, i int) bool { (*a)[i].Name += "x"; return true }},
	{"without data", true, func(a *[]Array, i int) bool { (*a)[i].Data = nil; return true }},
	{"of another type", true, func(a *[]Array, i int) bool { (*a)[i].Data = []int32{1}; return true }},
	{"with a row more", true, func(a *[]Array, i int) bool { (*a)[i].Shape[0]++; return true }},
	{"with a negative shape", true, func(a *[]Array, i int) bool { (*a)[i].Shape[1] = -1; return true }},
	{"with a huge shape", true, func(a *[]Array, i int) bool { (*a)[i].Shape = [2]int{math.MaxInt, math.MaxInt}; return true }},
	{"cut", true, func(a *[]Array, i int) bool {
		switch data := (*a)[i].Data.(type) {
		case []float64:
			if len(data) > 0 {
				(*a)[i].Data = data[:len(data)-1]
				return true
			}
		case []float32:
			if len(data) > 0 {
				(*a)[i].Data = data[:len(data)-1]
				return true
			}
		}
		return false
	}},
	{"with NaN", true, fill(math.NaN(), 0)},
	{"with infinity", true, fill(math.Inf(1), 0)},
	{"with the largest integers", true, fill(0, math.MaxInt64)},
	{"with the smallest integers", true, fill(0, math.MinInt64)},
	{"with -1", false, fill(-1, -1)},
	{"with 1e308", false, fill(1e308, 1<<31)},
	{"with 0", false, fill(0, 0)},
}

// fill overwrites one number: with f where the array is of floating point, with
// n where it is of integers.
func fill(f float64, n int64) func(a *[]Array, i int) bool {
	return func(a *[]Array, i int) bool {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		switch data := (*a)[i].Data.(type) {
		case []float64:
			if len(data) > 0 && n != math.MaxInt64 && n != math.MinInt64 {
				data = slices.Clone(data)
				data[rng.IntN(len(data))] = f
				(*a)[i].Data = data
				return true
			}
		case []float32:
			if len(data) > 0 && n != math.MaxInt64 && n != math.MinInt64 {
				data = slices.Clone(data)
				data[rng.IntN(len(data))] = float32(f)
				(*a)[i].Data = data
				return true
			}
		case []int64:
			if len(data) > 0 && f == 0 && n != 0 {
				data = slices.Clone(data)
				data[rng.IntN(len(data))] = n
				(*a)[i].Data = data
				return true
			}
		}
		return false
	}
}

func TestRestoreWantsTheConfigOfTheState(t *testing.T) {
	s := streams[0]
	l := newLearner(t, s.config)
	learn(l, s.rows(1900), 100)
	for _, change := range []func(*Config){
		func(c *Config) { c.Seed = 2 },
		func(c *Config) { c.BlockSize = 16 },
		func(c *Config) { c.MaxFeatures = 16 },
		func(c *Config) { c.Kernel = "gaussian:3" },
		func(c *Config) { c.Task = Regression },
		func(c *Config) { c.Minibatch = 100 },
		func(c *Config) { c.Targets = 2 },
		func(c *Config) { c.Costs = "f1" },
		func(c *Config) { c.Costs = `{"a":2}` },
	} {
		c := s.config
		change(&c)
		if _, err := restore(c, l.State()); err == nil {
			t.Errorf("%+v restores the state of %+v", c, s.config)
		}
	}
}
