package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner/divergence"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

func watched(rows int) Config {
	return Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 24, Monitor: rows}
}

// The monitor changes no bit of what is learned and adds nothing to what serves.
func TestTheMonitorChangesNothingElse(t *testing.T) {
	rows := stream{config: watched(250), dim: 4, label: numeric}.rows(1550)
	l, m := newLearner(t, watched(250)), newLearner(t, watched(0))
	if with, without := learn(l, rows, 100), learn(m, rows, 100); !slices.Equal(with, without) {
		t.Error("the predictions differ")
	}
	of := l.State()
	n := len(of.Resuming)
	of.Resuming = slices.DeleteFunc(of.Resuming, func(a Array) bool { return strings.HasPrefix(a.Name, "monitor.") })
	if len(of.Resuming) == n {
		t.Error("the state has no monitor")
	}
	sameState(t, "without the monitor", of, m.State())
}

// Of a stream of 40,000 rows, in which one column moves and later another one, partly
// without labels, the two changes are found within 2,000 rows, and nothing else. A time,
// which always moves, is not a change.
func TestALearnerNoticesChangesOfItsInputs(t *testing.T) {
	const first, second, all = 15_300, 28_800, 40_000
	rng := rand.New(rand.NewPCG(5, 6))
	var b Batch
	b.Reset(4)
	b.SetTypes([]ColumnType{NumericColumn, CategoryColumn, TimeColumn, NumericColumn})
	cities := []float64{Category(0x9e3779b97f4a7c15), Category(0xbf58476d1ce4e5b9), Category(0x94d049bb133111eb)}
	for i := range all {
		x := []float64{rng.NormFloat64(), cities[rng.IntN(2)], 1.7e9 + 60*float64(i), rng.ExpFloat64()}
		if i >= first {
			x[3] *= 3
		}
		if i >= second {
			x[1] = cities[1+rng.IntN(2)]
		}
		y := class(x[0] > 0)
		if i%3 == 0 {
			y = Label{}
		}
		b.Append(x, y, 1)
	}
	l := newLearner(t, watched(divergence.BlockRows))
	var at []int64
	for from := 0; from < all; from += 100 {
		learn(l, b.Slice(from, from+100), 100)
		in := l.Progress().Inputs
		if int(in.Alarms) == len(at) {
			continue
		}
		at = append(at, in.AlarmAt)
		if want := [][]int{{3}, {1}}[min(len(at), 2)-1]; !slices.Equal(in.Moved, want) {
			t.Errorf("row %d: columns %v have moved, want %v", in.AlarmAt, in.Moved, want)
		}
	}
	if len(at) != 2 || at[0] <= first || at[0] > first+2000 || at[1] <= second || at[1] > second+2000 {
		t.Errorf("alarms at %v, want one each within 2,000 rows after %d and %d", at, first, second)
	}
	in, err := SavedInputs(l.State().Resuming)
	if err != nil || in == nil || in.Rows != all || in.AlarmAt != at[1] || !slices.Equal(in.Moved, []int{1}) {
		t.Errorf("saved: %+v, %v", in, err)
	}
	t.Logf("alarms at %v", at)
}

// A value that is in no row of the reference is an alarm in models of earlier versions alone.
func TestRareInputsAreNoAlarm(t *testing.T) {
	for version, alarms := range map[int]int64{NewestWarmup: 0, 12: 1} {
		l := newLearner(t, Config{Algorithm: "ridge", Monitor: 250, Warmup: version})
		var b Batch
		b.Reset(2)
		rng := rand.New(rand.NewPCG(5, 6))
		for i := range 1500 {
			b.Append([]float64{rng.NormFloat64(), float64(i / 1450 * (i % 2) * (i / 1498))}, numeric(i, []float64{1, 2, 3, 4}), 1)
		}
		learn(l, &b, 100)
		if in := l.Progress().Inputs; in.Alarms != alarms {
			t.Errorf("version %d: %d alarms, want %d", version, in.Alarms, alarms)
		}
	}
}

// A column of times is ignored whether its type is known from the first row on or not.
func TestTypesOfLaterRowsDoNotReachTheMonitor(t *testing.T) {
	var b Batch
	b.Reset(2)
	rng := rand.New(rand.NewPCG(3, 3))
	nan := math.NaN()
	for i := range 700 {
		late := nan
		if i >= 400 {
			late = 1.7e9 + float64(i)
		}
		b.Append([]float64{rng.NormFloat64(), late}, numeric(i, []float64{1, 2, 3, 4}), 1)
	}
	known, unknown := []ColumnType{NumericColumn, TimeColumn}, []ColumnType{NumericColumn, UnknownColumn}
	a, c := divergence.NewWatch(250, false), divergence.NewWatch(250, false)
	add := func(w *divergence.Watch, b *Batch) { w.Add(b.x, b.dim, Clocks(b.types)) }
	whole := b
	whole.types = known
	add(a, &whole)
	early := *b.Slice(0, 300)
	early.types = unknown
	add(c, &early)
	rest := *b.Slice(300, 700)
	rest.types = known
	add(c, &rest)
	var one, other []Array
	a.Save((*state.Arrays)(&one))
	c.Save((*state.Arrays)(&other))
	sameState(t, "cut at row 300", State{Resuming: one}, State{Resuming: other})
}
