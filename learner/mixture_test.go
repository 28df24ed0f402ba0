package learner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// mixtures are streams for learners with a mixture. It uses the labels of earlier rows of
// a batch, so that not all promises of the other streams are its own.
var mixtures = func() (all []stream) {
	small := Config{Mixture: true, BlockSize: 8, MaxFeatures: 64}
	odd := Config{Mixture: true, BlockSize: 8, MaxFeatures: 100, Minibatch: 37, Kernel: "gaussian:1.5"}
	several, sparse, number := odd, small, odd
	several.Targets, several.Intervals = 3, 0.8
	odd.Costs = "f1"
	sparse.Algorithm, sparse.Lags = "all", 1
	return []stream{
		{"growing", small, 2, growing}, {"binary", odd, 3, sided}, {"regression", number, 4, numeric}, {"several", several, 4, numerics},
		{"late", small, 2, func(i int, x []float64) Label { return class(i > 1300 && x[0] > 0) }}, {"lags", sparse, 2, sided},
		{"wide", Config{Mixture: true, Algorithm: "all", BlockSize: 8, MaxFeatures: 16, Kernel: "gaussian:9"}, 257, sided},
		{"wide newton", Config{Mixture: true, BlockSize: 20, MaxFeatures: 60, Kernel: "gaussian:9"}, 257, sided},
	}
}()

func (s stream) keyedRows(n int) *Batch {
	b := s.rows(n)
	for i := range b.keys {
		b.keys[i] = []string{"", "a", "b"}[i*i%3]
	}
	return b
}

// TestMixtureKeepsThePromises: restoring anywhere and batches of any size change no bit,
// and the model predicts what the learner says that a scorer does.
func TestMixtureKeepsThePromises(t *testing.T) {
	for _, s := range mixtures {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			n := 300
			switch s.name {
			case "late":
				n = 1520 // beyond the end of the warm-up
			case "wide newton":
				n = 1200 // more than the window of a machine, for some of its steps
			}
			rows := s.keyedRows(n)
			one := s.goesOnExactly(t, rows, func(l *Learner, at int) bool {
				return at%97 == 50 || eventful(l) && (at < 100 || l.labelled > 1200)
			})
			if p := one.Progress(); p.Whole.Model.Error > 1.1*p.Whole.Majority.Error {
				t.Errorf("error %v, without looking at the rows %v", p.Whole.Model.Error, p.Whole.Majority.Error)
			}
		})
	}
}

// goesOnExactly learns rows one at a time, restoring the learner wherever restores says and
// before the last row, and returns it. Each restored learner has the same state and predicts
// what it says that a scorer does; batches of other sizes give the same bits.
func (s stream) goesOnExactly(t *testing.T, rows *Batch, restores func(l *Learner, at int) bool) *Learner {
	t.Helper()
	n, one := rows.Len(), newLearner(t, s.config)
	var want []string
	for at := range n {
		if restores(one, at) || at == n-1 {
			r, err := restore(s.config, one.State())
			if err != nil {
				t.Fatalf("row %d: %v", at, err)
			}
			sameState(t, fmt.Sprintf("restored at row %d", at), r.State(), one.State())
			s.comparesWithAScorer(t, one, rows.Slice(at, at+1))
			one = r
		}
		want = append(want, learn(one, rows.Slice(at, at+1), 1)...)
	}
	for _, cut := range []int{7, n} {
		l := newLearner(t, s.config)
		firstDifference(t, fmt.Sprintf("batches of %d", cut), learn(l, rows, cut), want)
		sameState(t, fmt.Sprintf("batches of %d", cut), l.State(), one.State())
	}
	return one
}

// comparesWithAScorer compares the prediction that l says a scorer makes with the one
// that a model makes.
func (s stream) comparesWithAScorer(t *testing.T, l *Learner, row *Batch) {
	t.Helper()
	m, err := NewModel(l.State().Serving)
	if s.config.Lags > 0 && err == ErrLags {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	got, p := m.Predict(row), l.Predict(row)
	if want := p.Scorer; !slices.Equal(got.Values, want.Values) || got.Decision != want.Decision || !sameIntervals(got.Intervals, want.Intervals, s.config.targets()) {
		t.Fatalf("row %d: the model predicts %v, the learner says %v", l.labelled, got, want)
	}
}

// TestMixtureSeesNoLabelOfItsOwnRow: a row is predicted from the labels before it, and
// from no other.
func TestMixtureSeesNoLabelOfItsOwnRow(t *testing.T) {
	s := mixtures[0]
	const from, to = 338, 358 // a mini-batch ends before them, and none within
	rows := s.keyedRows(to)
	l := newLearner(t, s.config)
	learn(l, rows.Slice(0, from), from)
	state := l.State()
	p := slices.Clone(l.Predict(rows.Slice(from, to)).Values)
	size := l.pass.Size
	for i := range to - from {
		changed := flipped(rows.Slice(from, to))
		copy(changed.keys, rows.keys[from:to])
		copy(changed.labels[:i], rows.labels[from:from+i])
		copy(changed.weights[:i], rows.weights[from:from+i])
		q := restored(t, s.config, state).Predict(changed).Values
		if k := size * (i + 1); len(q) < k || !slices.Equal(q[:k], p[:k]) {
			t.Fatalf("row %d depends on its own label", i)
		}
	}
}

// TestMixtureIsNotMuchWorseThanAnyMember holds the mixture of probabilities against each
// of its members: over all rows its loss is at most the bound above theirs.
func TestMixtureIsNotMuchWorseThanAnyMember(t *testing.T) {
	for _, s := range mixtures[:2] {
		n := 1400
		l := newLearner(t, s.config)
		learn(l, s.keyedRows(n), n)
		m := l.Progress().Mixture
		total := l.validation[0].Whole.Loss()
		for _, e := range m.Members[:1] {
			if bound := 10.0 / float64(n); total > e.Whole.Loss+bound {
				t.Errorf("%s: mean loss %v, %s has %v", s.name, total, e.Name, e.Whole.Loss)
			}
		}
		sum := m.Stacked
		for _, e := range m.Members {
			sum += e.Weight
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: the weights add up to %v", s.name, sum)
		}
	}
}

func TestMixtureRefusesWhatItCannotMix(t *testing.T) {
	for _, c := range []Config{
		{Task: Novelty}, {Loss: "hinge"}, {Loss: "huber:1"}, {Algorithm: "ridge"},
	} {
		c.Mixture = true
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "mixture") {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

// TestMixtureHasIntervalsOfItsOwn: where only the last label tells something, those of the
// learner are much narrower than those of a scorer, and both contain their share.
func TestMixtureHasIntervalsOfItsOwn(t *testing.T) {
	const n, share = 1400, 0.8
	walk := 0.0
	label := func(i int, x []float64) Label {
		walk += math.Sin(float64(i*i)) / 10
		return Label{Task: Regression, Value: walk + x[0]/100}
	}
	s := stream{config: Config{Algorithm: "ridge", Mixture: true, BlockSize: 8, MaxFeatures: 8, Intervals: share}, dim: 1, label: label}
	rows, l := s.rows(n), newLearner(t, s.config)
	var inside, width [2]float64
	for at := 0; at < n; {
		p := l.Predict(rows.Slice(at, n))
		for i := range p.Len() {
			for j, of := range []*Predictions{&p.Predictions, &p.Scorer} {
				if y := rows.Label(at + i); y.Task != Auto && of.Intervals.Valid() {
					low, high := of.Intervals.Bounds(of.Row(i)[0], 0)
					width[j] += high - low
					if low <= y.Value && y.Value <= high {
						inside[j]++
					}
				}
			}
		}
		at += p.Len()
		l.Learn(p)
	}
	labelled := float64(labelledRows(rows).Len())
	for j, of := range []string{"learner", "scorer"} {
		if math.Abs(inside[j]/labelled-share) > []float64{0.05, 0.1}[j] {
			t.Errorf("%s: %.3f of the labels are inside", of, inside[j]/labelled)
		}
	}
	if width[0] > width[1]/2 {
		t.Errorf("mean width %.3f, of a scorer %.3f", width[0]/labelled, width[1]/labelled)
	}
	if got := l.Progress().Intervals[0].Coverage; math.Abs(got-inside[0]/labelled) > 0.01 {
		t.Errorf("the progress says %v, counted %v", got, inside[0]/labelled)
	}
}

// The last label of a row's key, as members see it, is what a search back through the rows finds,
// within a pass of many rows and from one pass to the next.
func TestLastLabelsAreThoseOfASearch(t *testing.T) {
	l := newLearner(t, Config{Mixture: true, BlockSize: 8, MaxFeatures: 64})
	s := stream{dim: 2, label: sided}
	learn(l, s.keyedRows(100), 100)
	var b Batch
	b.Reset(2)
	r := rand.New(rand.NewPCG(73, 74))
	for i := range 400 {
		y := Label{}
		if r.IntN(9) == 0 {
			y = class(i%2 == 0)
		}
		b.Append([]float64{float64(i % 7), 1}, y, 1)
		b.SetKey([]string{"", "", "a", "b", "c", "d"}[r.IntN(6)])
	}
	for at := 0; at < b.Len(); {
		p := l.Predict(b.Slice(at, b.Len()))
		for i, got := range p.last {
			want, any := l.mixture.Last(p.batch.keys[i]), l.last
			for j := range i {
				if y := p.batch.Label(j); y.Task != Auto {
					if any = y; p.batch.keys[j] == p.batch.keys[i] {
						want = y
					}
				}
			}
			if want.Task == Auto {
				want = any
			}
			if got.Task != want.Task || got.Class != want.Class {
				t.Fatalf("row %d: the last label is %v, want %v", at+i, got, want)
			}
		}
		at += p.Len()
		l.Learn(p)
	}
}

// The error of the mixture is counted as those of its members are, also where a rare class has a
// greater weight. With equal weights it is the progressive error, but for rows at the beginning.
func TestMixtureIsComparedByTheSameRows(t *testing.T) {
	const rows = 2000
	for _, weight := range []float64{1, 20} {
		l := newLearner(t, Config{Task: Classification, MaxFeatures: 64, Mixture: true})
		r, b := rand.New(rand.NewPCG(4, 4)), Batch{}
		for range rows {
			b.Reset(2)
			y, w := Label{Task: Classification}, 1.0
			if r.Float64() < .05 {
				y.Class, w = 1, weight
			}
			b.Append([]float64{r.NormFloat64(), r.NormFloat64()}, y, w)
			l.Learn(l.Predict(&b))
		}
		p := l.Progress()
		together, whole := p.Mixture.Together.Whole.Error, p.Whole.Model.Error
		if weight == 1 && math.Abs(together-whole) > 2.0/rows {
			t.Errorf("equal weights: %v, and the progressive error is %v", together, whole)
		}
		best := math.Inf(1)
		for _, m := range p.Mixture.Members {
			if m.Rows == 1 {
				best = min(best, m.Whole.Error)
			}
		}
		if weight > 1 && together-best > (whole-best)/4 {
			t.Errorf("the best member has %v, all together %v, and the progressive error is %v", best, together, whole)
		}
	}
}
