package learner

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/test/datasets"
)

// The tests on whole data sets average over this many orders of the rows. Three
// orders, with the sets that one leaves out, take about four minutes.
var orders = flag.Int("orders", 1, "number of orders of the rows that the tests on data sets average over; from 3 on, of all sets")

// eachOrder runs f with the seeds of the orders and returns the mean.
func eachOrder(t *testing.T, f func(seed uint64) float64) float64 {
	t.Helper()
	mean := 0.0
	for seed := range uint64(*orders) {
		v := f(seed + 1)
		t.Logf("order %d: %.4f", seed+1, v)
		mean += v / float64(*orders)
	}
	return mean
}

// dataSet returns the rows of a set in the order of a seed, or in their own with 0.
func dataSet(t *testing.T, name string, task Task, seed uint64) *Batch {
	t.Helper()
	s := datasets.Load(t, name)
	order := make([]int, len(s.Y))
	for i := range order {
		order[i] = i
	}
	if seed > 0 {
		order = rand.New(rand.NewPCG(seed, 0)).Perm(len(s.Y))
	}
	var b Batch
	b.Reset(s.Dim)
	classes := map[float64]int{} // in the order of their numbers, from the least
	if task == Classification {
		for _, v := range slices.Sorted(slices.Values(s.Y)) {
			if _, ok := classes[v]; !ok {
				classes[v] = len(classes)
			}
		}
	}
	for _, i := range order {
		b.Append(s.X[i*s.Dim:(i+1)*s.Dim], Label{Task: task, Class: classes[s.Y[i]], Value: s.Y[i]}, 1)
	}
	return &b
}

// Errors on the test rows after one pass with the defaults: the share of wrong
// classes, or the squared error over the labels' variance. A bound is a twentieth
// above the worst of three orders.
func TestOnePassOverDataSets(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, test := range []struct {
		algorithm, set string
		task           Task
		bound          float64
		long           bool
	}{
		{"newton", "letter", Classification, 0.038, true},  // .0296 to .0366, mean .0336
		{"newton", "spam", Classification, 0.074, false},   // .0670 to .0704, mean .0690
		{"newton", "a9a", Classification, 0.156, true},     // .1508 to .1515, mean .1512
		{"newton", "covtype", Classification, 0.240, true}, // .2013 to .2288, mean .2151
		{"newton", "kin40k", Regression, 0.054, true},      // .0469 to .0509, mean .0493
		{"ridge", "letter", Classification, 0.101, true},   // .0828 to .0962, mean .0917
		{"ridge", "spam", Classification, 0.094, true},     // .0843 to .0896, mean .0861
		{"ridge", "a9a", Classification, 0.156, true},      // .1502 to .1518, mean .1511
		{"ridge", "covtype", Classification, 0.282, true},  // .2579 to .2690, mean .2619
		{"ridge", "kin40k", Regression, 0.154, true},       // .1333 to .1465, mean .1379
	} {
		if test.long && *orders < 3 {
			continue
		}
		t.Run(test.algorithm+"/"+test.set, func(t *testing.T) {
			t.Parallel()
			mean := eachOrder(t, func(seed uint64) float64 {
				l := newWhole(t, Config{Algorithm: test.algorithm})
				learn(l, dataSet(t, test.set+".train", test.task, seed), 1000)
				return testError(l, dataSet(t, test.set+".test", test.task, 0))
			})
			if t.Logf("mean %.4f", mean); !(mean <= test.bound) {
				t.Errorf("error %.4f, want %v", mean, test.bound)
			}
		})
	}
}

// Progressive errors with the defaults on the streams, divided by those of the
// most frequent class or of the mean so far. The bounds leave a twentieth.
func TestProgressiveErrorOnDataSets(t *testing.T) {
	if *orders < 3 {
		t.Skip("takes half a minute: -orders 3")
	}
	for _, test := range []struct {
		set   string
		task  Task
		bound float64
	}{
		{"elec", Classification, 0.46}, // .186 of .425
		{"flights", Regression, 0.196}, // .189, of the columns that are numbers
	} {
		t.Run(test.set, func(t *testing.T) {
			t.Parallel()
			l := newWhole(t, Config{})
			learn(l, dataSet(t, test.set+".stream", test.task, 0), 1000)
			whole := l.Progress().Whole
			relative := whole.Model.Error / whole.Majority.Error
			if t.Logf("error %.4f of %.4f, a ratio of %.4f", whole.Model.Error, whole.Majority.Error, relative); !(relative <= test.bound) {
				t.Errorf("error %.4f of the majority's, want %v", relative, test.bound)
			}
		})
	}
}

func testError(l *Learner, b *Batch) float64 {
	wrong, p := 0.0, l.Predict(unlabelled(b))
	var y []float64
	for i := range b.Len() {
		wrong += l.head.Error(p.Row(i), b.Label(i), 0) / float64(b.Len())
		y = append(y, b.Label(i).Value)
	}
	if b.Label(0).Task == Regression {
		d := warmup.NewColumn(y, 1).Deviation
		wrong /= d * d
	}
	return wrong
}

// unlabelled is the rows of b without what they teach.
func unlabelled(b *Batch) *Batch {
	var u Batch
	u.Reset(b.Dim())
	for i := range b.Len() {
		u.Append(b.X(i), Label{}, 1)
	}
	return &u
}

// The mixture of ridge is as good as its best member on a stream of electricity
// prices.
func TestMixtureIsAsGoodAsItsBestMemberOnElec(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	rows := dataSet(t, "elec.stream", Classification, 0)
	bound := 0.21
	if *orders < 3 {
		rows, bound = rows.Slice(0, 12_000), 0.17 // the first quarter: .1612
	}
	mixture, best := rival(newWhole(t, Config{Algorithm: "ridge"}), rows)
	if t.Logf("error %.4f, of the best member %.4f", mixture, best); mixture > bound || mixture > best+0.005 {
		t.Errorf("error %.4f, of the best member %.4f: want %v, and .005 more than that", mixture, best, bound)
	}
}
