package learner_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// A novelRow is a row, and whether it is a novelty, which the learner is not told.
type novelRow struct {
	x     []float64
	novel bool
}

// twoBlobs returns rows of two round clusters at ±4 + shift, and a share of rows that are
// far from both.
func twoBlobs(n int, share, shift float64, seed uint64) []novelRow {
	rng := rand.New(rand.NewPCG(seed, 2))
	rows := make([]novelRow, n)
	for i := range rows {
		x := make([]float64, 2)
		if rows[i].novel = rng.Float64() < share; rows[i].novel {
			for {
				x[0], x[1] = rng.Float64()*24-12, rng.Float64()*24-12
				if math.Hypot(x[0]-4, x[1]-4) > 4 && math.Hypot(x[0]+4, x[1]+4) > 4 {
					break
				}
			}
		} else {
			at := 4 * float64(2*rng.IntN(2)-1)
			x[0], x[1] = at+rng.NormFloat64(), at+rng.NormFloat64()
		}
		rows[i].x = []float64{x[0] + shift, x[1] - shift}
	}
	return rows
}

// detection is what a learner made of a stream.
type detection struct {
	scores []float64
	flags  []bool
	novel  []bool
	last   *learner.Learner
}

// detect streams rows through a learner, and returns its predictions for those from a
// row on.
func detect(t *testing.T, c learner.Config, rows []novelRow, from int) detection {
	t.Helper()
	c.Task = learner.Novelty
	l, err := learner.New(c)
	if err != nil {
		t.Fatal(err)
	}
	d := detection{last: l}
	var b learner.Batch
	for at := 0; at < len(rows); {
		b.Reset(len(rows[0].x))
		for _, r := range rows[at:min(at+64, len(rows))] {
			b.Append(r.x, learner.Label{Task: learner.Novelty}, 1)
		}
		p := l.Predict(&b)
		for i := range p.Len() {
			if at+i >= from {
				score := 0.0
				if p.Size > 0 {
					score = p.Row(i)[0]
				}
				d.scores = append(d.scores, score)
				d.flags = append(d.flags, learner.Novel(p.Row(i)))
				d.novel = append(d.novel, rows[at+i].novel)
			}
		}
		at += p.Len()
		l.Learn(p)
	}
	return d
}

func (d *detection) rate() float64 {
	n := 0.0
	for _, f := range d.flags {
		if f {
			n++
		}
	}
	return n / float64(len(d.flags))
}

// auc is the share of the pairs of a novel row and another one that the scores put in
// this order.
func (d *detection) auc() float64 {
	order := make([]int, len(d.scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(d.scores[i], d.scores[j]) })
	below, area, novel := 0.0, 0.0, 0.0
	for _, i := range order {
		if d.novel[i] {
			area += below
			novel++
		} else {
			below++
		}
	}
	return area / (novel * below)
}

func TestTheFlagRateIsNu(t *testing.T) {
	for _, nu := range []float64{0.05, 0.1, 0.2} {
		d := detect(t, learner.Config{Nu: nu}, twoBlobs(4000, 0.02, 0, 1), 1250)
		t.Logf("nu %v: rate %.4f, AUC %.4f", nu, d.rate(), d.auc())
		if math.Abs(d.rate()-nu) > 0.02 {
			t.Errorf("nu %v: %v of the rows are flagged", nu, d.rate())
		}
		if d.auc() < 0.99 {
			t.Errorf("nu %v: AUC %v", nu, d.auc())
		}
	}
}

// An abrupt change of the inputs is flagged at first, and is the new normal after a
// window: the rate returns to ν, and what is new is told apart again.
func TestTheFlagRateIsNuAfterAChange(t *testing.T) {
	rows := append(twoBlobs(2500, 0.02, 0, 1), twoBlobs(5000, 0.02, 9, 2)...)
	d := detect(t, learner.Config{Nu: 0.1}, rows, 0)
	at := func(from, to int) detection {
		return detection{scores: d.scores[from:to], flags: d.flags[from:to], novel: d.novel[from:to]}
	}
	first, whole, after := at(2500, 2564), at(1250, 7500), at(5000, 7500)
	if first.rate() < 0.5 {
		t.Errorf("%v of the first rows after the change are flagged", first.rate())
	}
	t.Logf("first %.3f, whole %.4f, after %.4f, AUC %.4f", first.rate(), whole.rate(), after.rate(), after.auc())
	if math.Abs(whole.rate()-0.1) > 0.02 || math.Abs(after.rate()-0.1) > 0.02 {
		t.Errorf("flagged in all: %v, from 2,500 rows after the change on: %v", whole.rate(), after.rate())
	}
	if after.auc() < 0.99 {
		t.Errorf("AUC %v from 2,500 rows after the change on", after.auc())
	}
}

// What is known of a row grades its score, and never reaches the model.
func TestNoveltyIsNotLearnedFromLabels(t *testing.T) {
	states := map[int]learner.State{}
	for _, known := range []int{learner.Unlabelled, learner.KnownNovel} {
		l, err := learner.New(learner.Config{Task: learner.Novelty, MaxFeatures: 64})
		if err != nil {
			t.Fatal(err)
		}
		var b learner.Batch
		b.Reset(2)
		for _, r := range twoBlobs(200, 0, 0, 3) {
			b.Append(r.x, learner.Label{Task: learner.Novelty, Class: known, Value: float64(known)}, 1)
		}
		for from := 0; from < b.Len(); {
			p := l.Predict(b.Slice(from, b.Len()))
			from += p.Len()
			l.Learn(p)
		}
		states[known] = l.State()
	}
	if !reflect.DeepEqual(states[learner.Unlabelled], states[learner.KnownNovel]) {
		t.Error("the states differ")
	}
}

func TestOptionsThatNeedLabelsAreRefusedForNovelty(t *testing.T) {
	for _, c := range []learner.Config{
		{Task: learner.Novelty, Algorithm: "ridge"}, {Task: learner.Novelty, Loss: "hinge"}, {Task: learner.Novelty, Costs: "f1"},
		{Task: learner.Novelty, Lags: 1}, {Task: learner.Novelty, Targets: 2}, {Task: learner.Novelty, Nu: 0.6}, {Task: learner.Novelty, Nu: math.NaN()},
		{Task: learner.Classification, Nu: 0.1}, {Algorithm: "one-class"},
	} {
		if _, err := learner.New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
