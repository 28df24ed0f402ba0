package learner

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/learner/metric"
)

var exhaustive = flag.Bool("exhaustive", false, "all combinations of algorithms, kernels, reactions and places at which a learner is restored")

// Every learner is held to the same promises, whatever it learns. A new algorithm
// or task is a new line here and gets all the checks below.
type stream struct {
	name   string
	config Config
	dim    int
	label  func(i int, x []float64) Label
}

var streams = func() (all []stream) {
	for i, a := range algorithms {
		small := Config{Algorithm: a.Name, Direction: directionOf(a, i), BlockSize: 8, MaxFeatures: 64}
		odd := Config{Algorithm: a.Name, Direction: directionOf(a, i+2), BlockSize: 8, MaxFeatures: 100, Minibatch: 37, Kernel: "gaussian:1.5"}
		if a.FixedBlocks != nil { // which have all features from the start
			small.MaxFeatures, odd.MaxFeatures = 24, 20
		}
		several := odd
		several.Targets = 3
		all = append(all, stream{"growing", small, 2, growing}, stream{"several", several, 4, numerics})
		if a.Name == "eigenpro" || slices.ContainsFunc(descent.Algorithms()[1:], func(r engine.Algorithm) bool { return r.Name == a.Name }) {
			continue // like descent, but for the blocks or the direction of a step: there all tasks are alike
		}
		all = append(all, stream{"regression", odd, 4, numeric}, stream{"binary", small, 3, sided},
			stream{"late", odd, 2, func(i int, x []float64) Label { return class(i > 1300 && x[0] > 0) }},
		)
	}
	given := Config{Algorithm: "all", BlockSize: 8, MaxFeatures: 32, Metric: skewed}
	costs := Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 24, Costs: "f1"}
	trees := Config{Algorithm: "newton", Forest: 2, BlockSize: 8, MaxFeatures: 24}
	manyTrees := Config{Algorithm: "newton", Forest: 3, BlockSize: 8, MaxFeatures: 24, Minibatch: 37, Targets: 3}
	quick := Config{Algorithm: "newton", Effort: 2, BlockSize: 8, MaxFeatures: 24}
	noisy := Config{Algorithm: "newton", Effort: AutoEffort, BlockSize: 8, MaxFeatures: 24, Minibatch: 37}
	novel := Config{Task: Novelty, Nu: 0.1, BlockSize: 8, MaxFeatures: 32, Minibatch: 29}
	watched := Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 24, Monitor: 250}
	uncertain := Config{Algorithm: "newton", BlockSize: 8, MaxFeatures: 24, Minibatch: 37, Targets: 3, Variance: true, Intervals: 0.8}
	exact := Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 16, Variance: true, OnDrift: "boost"}
	weighed := Config{Algorithm: "newton", BlockSize: 8, MaxFeatures: 16, Mixture: true, Balance: "balanced", HalfLife: 20}
	mixed := Config{Algorithm: "ridge", Task: Regression, BlockSize: 8, MaxFeatures: 8, Mixture: true}
	all = append(all, stream{"forest, growing", trees, 2, growing}, stream{"forest, several", manyTrees, 4, numerics})
	return append(all, stream{"monitor", watched, 3, numeric}, stream{"metric", given, 2, sided}, stream{"effort", quick, 3, sided}, stream{"effort auto", noisy, 2, numeric}, stream{"novelty", novel, 3, noveltyRow}, stream{"intervals", spread(0.9), 4, numeric}, stream{"mixture", mixed, 2, numeric}, stream{"variance, several", uncertain, 4, numerics}, stream{"variance", exact, 2, numeric}, stream{"costs", costs, 2, rare}, stream{"weighed", weighed, 2, rare})
}()

// directionOf returns the i-th direction, or a later one if the algorithm does not take it.
func directionOf(a engine.Algorithm, i int) string {
	for {
		direction := descent.Directions[i%len(descent.Directions)]
		if _, err := (Config{Algorithm: a.Name, Direction: direction}).Effective(); err == nil {
			return direction
		}
		i++
	}
}

// skewed is a metric of two inputs around 5, with one of a key's own.
var skewed = func() *Metric {
	m, err := metric.Parse([]byte(`{"columns": ["a", "b"], "center": [5, 5], "scale": [0.1, 0.1], "shared": [2, 1, 1, 3], "own": {"k": [1, 0, 0, 0]}}`))
	if err != nil {
		panic(err)
	}
	return m
}()

func noveltyRow(int, []float64) Label { return Label{Task: Novelty} }

func sided(_ int, x []float64) Label { return class(math.Sin(3*x[0]) > x[1]) }

// rare is of class 1 in about one of ten rows, which the inputs only suggest.
func rare(i int, x []float64) Label { return class(x[0] > 0.5 && i%4 == 0) }

// growing has a class more at about rows 0, 30, 300, 900 and 1400.
func growing(i int, x []float64) Label {
	most := 1
	for _, from := range []int{30, 300, 900, 1400} {
		if i >= from {
			most++
		}
	}
	return Label{Task: Classification, Class: int(math.Abs(7*x[0])) % most}
}

func numeric(_ int, x []float64) Label {
	return Label{Task: Regression, Value: 1e3 + 50*math.Sin(2*x[0]) - x[1]}
}

// numerics are three targets, of which the first is that of numeric.
func numerics(i int, x []float64) Label {
	y := numeric(i, x)
	y.More = []float64{1e-3 * math.Cos(3*x[1]), -7 - x[0]*x[2]}
	return y
}

func counts(i int, x []float64) Label {
	return Label{Task: Regression, Value: math.Floor(math.Exp(2*math.Sin(2*x[0])) + float64(i%3))}
}

// lossStreams is every algorithm with every loss that it takes, in short.
var lossStreams = func() (all []stream) {
	for i, a := range algorithms {
		for j, l := range loss.All {
			c := Config{
				Algorithm: a.Name, Direction: directionOf(a, i+j), Loss: l.String(),
				BlockSize: 4, MaxFeatures: 16, Minibatch: 29, Kernel: "gaussian:1.5",
			}
			switch {
			case l.Classifies():
				all = append(all, stream{l.String(), c, 2, growing})
			case l == loss.Poisson{}:
				all = append(all, stream{l.String(), c, 3, counts})
				c.Targets = 2
				all = append(all, stream{l.String() + " of two", c, 3, func(i int, x []float64) Label {
					y := counts(i, x)
					y.More = []float64{counts(i+1, x[1:]).Value}
					return y
				}})
			default:
				all = append(all, stream{l.String(), c, 3, numeric})
				c.Targets = 3
				all = append(all, stream{l.String() + " of three", c, 3, numerics})
			}
		}
	}
	return all
}()

// TestEveryLossKeepsThePromises holds every algorithm with every loss to those
// promises that a loss could break.
func TestEveryLossKeepsThePromises(t *testing.T) {
	for _, s := range lossStreams {
		if _, err := New(s.config); err != nil {
			t.Logf("%s does not take %s: %v", s.config.Algorithm, s.name, err)
			continue
		}
		t.Run(s.config.Algorithm+"/"+s.name, func(t *testing.T) {
			t.Parallel()
			keepsThePromises(t, s)
		})
	}
}

// keepsThePromises is the short form of all the promises: restoring anywhere and
// batches of any size change no bit, a model predicts what its learner does, and both
// are better than not looking at the rows.
func keepsThePromises(t *testing.T, s stream) {
	rows := s.rows(450) // two checkpoints of the warm-up
	one := newLearner(t, s.config)
	var want []string
	for at := range rows.Len() {
		if at%97 == 50 || at == 449 {
			r, err := restore(s.config, one.State())
			if err != nil {
				t.Fatalf("row %d: %v", at, err)
			}
			sameState(t, fmt.Sprintf("restored at row %d", at), r.State(), one.State())
			m, err := NewModel(one.State().Serving)
			if err != nil {
				t.Fatal(err)
			}
			row := rows.Slice(at, at+1)
			if got, want := m.Predict(row).Values, one.Predict(row).Values; !slices.Equal(got, want) {
				t.Fatalf("row %d: the model predicts %v, the learner %v", at, got, want)
			}
			one = r
		}
		want = append(want, learn(one, rows.Slice(at, at+1), 1)...)
	}
	l := newLearner(t, s.config)
	firstDifference(t, "in one batch", learn(l, rows, rows.Len()), want)
	sameState(t, "in one batch", l.State(), one.State())
	if p := l.Progress(); !strings.HasPrefix(s.name, "quantile") && p.Whole.Model.Error > 1.1*p.Whole.Majority.Error {
		t.Errorf("error %v, without looking at the rows %v", p.Whole.Model.Error, p.Whole.Majority.Error)
	}
}

// two is a stream of two classes, for every algorithm.
func two(algorithm string) stream {
	return stream{"binary", Config{Algorithm: algorithm, BlockSize: 8, MaxFeatures: 64}, 3, sided}
}

// streamOf returns the stream of this name for an algorithm.
func streamOf(algorithm, name string) stream {
	for _, s := range streams {
		if s.config.Algorithm == algorithm && s.name == name {
			return s
		}
	}
	panic("no stream " + name)
}

func class(b bool) Label {
	if b {
		return Label{Task: Classification, Class: 1}
	}
	return Label{Task: Classification}
}

// rows is n rows of s: every seventh has no label, and weights differ.
func (s stream) rows(n int) *Batch {
	rng := rand.New(rand.NewPCG(1, 2))
	b := new(Batch)
	b.Reset(s.dim)
	seen := 0 // a label's class is one seen before or the next one
	for i := range n {
		x := make([]float64, s.dim)
		for j := range x {
			x[j] = 10*rng.NormFloat64() + 5
			if s.config.Above() == kernel.NonNegative {
				x[j] = math.Abs(x[j])
			}
		}
		scaled := make([]float64, s.dim)
		for j := range x {
			scaled[j] = (x[j] - 5) / 10
		}
		y := s.label(i, scaled)
		if i%7 == 3 {
			y = Label{}
		}
		if y.Task == Classification {
			y.Class = min(y.Class, seen)
			seen = max(seen, y.Class+1)
		}
		b.Append(x, y, 0.5+rng.Float64())
		if s.config.HalfLife > 0 {
			b.SetTime(float64(i - 5*(i%9)))
		}
	}
	return b
}

// eachStream runs f on all streams. Without -exhaustive there are all of them for the three
// promises that an algorithm could break with any label. The others have those of ridge and
// one of each other algorithm without trees, beside those with an option.
func eachStream(t *testing.T, f func(t *testing.T, s stream)) {
	own := []string{"TestRestoreGoesOnExactly", "TestCutOfTheRowsDoesNotMatter", "TestPredictionsFollowFromTheStateAlone"}
	for _, s := range streams {
		label := slices.Contains([]string{"several", "regression", "binary", "late"}, s.name) && s.config.Algorithm != "ridge"
		if (label || s.config.Forest > 0 || s.config.Effort != 0) && !*exhaustive && !slices.Contains(own, t.Name()) {
			continue
		}
		t.Run(s.config.Algorithm+"/"+s.name, func(t *testing.T) {
			t.Parallel()
			f(t, s)
		})
	}
}

// learn runs l over b in batches of some rows and returns the predictions, the
// losses and what the steps said, as text that differs where any bit does.
func learn(l *Learner, b *Batch, cut int) []string {
	var out []string
	for from := 0; from < b.Len(); from += cut {
		batch := b.Slice(from, min(from+cut, b.Len()))
		for batch.Len() > 0 {
			p := l.Predict(batch)
			for i := range p.Len() {
				loss, ok := p.Loss(i)
				out = append(out, fmt.Sprint(p.Task, p.Row(i), loss, ok))
			}
			batch = batch.Slice(p.Len(), batch.Len())
			l.Learn(p)
		}
	}
	return out
}

// learnAndRestored has l learn b, and checks that a Learner that is restored from its state before,
// and learns in batches of cut rows, comes to the same bits.
func learnAndRestored(t *testing.T, c Config, l *Learner, b *Batch, cut int) {
	t.Helper()
	restored, err := restore(c, l.State())
	if err != nil {
		t.Fatalf("step %d: %v", l.Progress().Step, err)
	}
	learn(l, b, 500)
	learn(restored, b, cut)
	if got, want := hash(restored.State()), hash(l.State()); got != want {
		t.Fatalf("step %d: restored, the state's hash is %s, want %s", l.Progress().Step, got, want)
	}
}

func firstDifference(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d predictions, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: prediction %d is %s, want %s", what, i, got[i], want[i])
		}
	}
}

func sameState(t *testing.T, what string, got, want State) {
	t.Helper()
	all, others := slices.Concat(got.Serving, got.Resuming), slices.Concat(want.Serving, want.Resuming)
	if len(all) != len(others) || len(got.Serving) != len(want.Serving) {
		t.Fatalf("%s: %d and %d arrays, want %d and %d", what, len(got.Serving), len(got.Resuming), len(want.Serving), len(want.Resuming))
	}
	for i, a := range all {
		if !sameArray(a, others[i]) {
			t.Errorf("%s: array %v differs", what, a.Name)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// sameArray is reflect.DeepEqual, which takes a second for each ten million numbers.
func sameArray(a, b Array) bool {
	same := false
	switch data := a.Data.(type) {
	case []float64:
		other, ok := b.Data.([]float64)
		same = ok && slices.EqualFunc(data, other, func(v, w float64) bool { return v == w || v != v && w != w })
	case []float32:
		other, ok := b.Data.([]float32)
		same = ok && slices.Equal(data, other)
	case []int64:
		other, ok := b.Data.([]int64)
		same = ok && slices.Equal(data, other)
	case []byte:
		other, ok := b.Data.([]byte)
		same = ok && slices.Equal(data, other)
	}
	return same && a.Name == b.Name && a.Shape == b.Shape
}

// once is what 1,600 rows of a stream lead to, learned one by one.
type once struct {
	rows        *Batch
	predictions []string
	passes      []pass
	early, last State // after 1,400 rows, and after all
}

// pass is the state before some rows, and what scorers are to predict for those that follow.
type pass struct {
	at, rows int
	state    State
	want     Predictions
}

var onces memo[*once]

// learnedOnce returns the same for every test, since learning takes most of their time.
func (s stream) learnedOnce(t *testing.T) *once {
	return onces.get(s.config.Algorithm+"/"+s.name, func() *once {
		l, o := newLearner(t, s.config), &once{rows: s.rows(1600)}
		for at, next := 0, 0; at < o.rows.Len(); at++ {
			if at == next {
				p := l.Predict(o.rows.Slice(at, o.rows.Len()))
				next += p.Len()
				if last := len(o.passes) - 1; *exhaustive || last < 0 || at >= o.passes[last].at+betweenPasses {
					o.passes = append(o.passes, pass{at, p.Len(), l.State(), copied(scorers(p))})
				}
			}
			if at == 1400 {
				o.early = l.State()
			}
			o.predictions = append(o.predictions, learn(l, o.rows.Slice(at, at+1), 1)...)
		}
		o.last = l.State()
		return o
	})
}

// betweenPasses is the least number of rows between two states that are kept, for their memory.
const betweenPasses = 90

func copied(p Predictions) Predictions {
	p.Values = slices.Clone(p.Values)
	return p
}

func TestCutOfTheRowsDoesNotMatter(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		one, l := s.learnedOnce(t), newLearner(t, s.config)
		var got []string
		for at, i := 0, 0; at < one.rows.Len(); i++ {
			to := min(at+[]int{7, 500, 1, 64, 2, 97}[i%6], one.rows.Len())
			got = append(got, learn(l, one.rows.Slice(at, to), to-at)...)
			at = to
		}
		firstDifference(t, "in batches", got, one.predictions)
		sameState(t, "in batches", l.State(), one.last)
	})
}

func TestCoresDoNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var all []stream
	for _, a := range algorithms {
		s := two(a.Name)
		s.config.BlockSize, s.config.MaxFeatures = 32, 128
		all = append(all, s)
	}
	// The members of a mixture learn beside the algorithm, and the monitor after them. Averages are divided.
	eight := func(_ int, x []float64) Label {
		return Label{Task: Classification, Class: min(7, int(math.Abs(3*x[0]+2*x[1])))}
	}
	mixed := Config{Mixture: true, MaxFeatures: 512, Monitor: 250}
	all = append(all, stream{"eight classes", mixed, 2, eight}, stream{"a number", mixed, 4, numeric})
	for _, s := range all {
		rows := s.rows(1200)
		var want []string
		var state State
		for _, cores := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(cores)
			l := newLearner(t, s.config)
			got := learn(l, rows, 500)
			if want == nil {
				want, state = got, l.State()
			}
			firstDifference(t, fmt.Sprintf("%s, %d cores", s.name, cores), got, want)
			sameState(t, fmt.Sprintf("%s, %d cores", s.name, cores), l.State(), state)
		}
	}
}

// TestRestoreGoesOnExactly learns each stream with learners that are restored at every
// 211th row and around the rows at which something happens, of mini-batches a quarter, each
// from the state of the one before; with -exhaustive, around all of them, one stream at every row, and all streams of its algorithm at
// every 23rd. The predictions and the last state are those of a learner that is never
// restored.
func TestRestoreGoesOnExactly(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		one := s.learnedOnce(t)
		every, sparse := false, 211
		if *exhaustive && s.config.Algorithm == algorithms[0].Name {
			every, sparse = s.name == "binary", 23
		}
		l, from := newLearner(t, s.config), 0
		for at := range one.rows.Len() {
			if every || at%sparse == 0 || eventful(l) {
				state := l.State()
				r, err := restore(s.config, state)
				if err != nil {
					t.Fatalf("row %d: %v", at, err)
				}
				sameState(t, fmt.Sprintf("restored at row %d", at), r.State(), state)
				l, from = r, at
			}
			got := learn(l, one.rows.Slice(at, at+1), 1)
			firstDifference(t, fmt.Sprintf("row %d, restored at row %d", at, from), got, one.predictions[at:at+1])
		}
		sameState(t, "end", l.State(), one.last)
	})
}

// eventful reports whether the last row or the next one is special.
func eventful(l *Learner) bool {
	for _, r := range warmup.Checkpoints {
		for _, at := range []int{r, warmup.EffectiveAt(r)} {
			if d := l.labelled - int64(at); d == 0 || d == -1 {
				return true
			}
		}
	}
	n := int64(l.config.Minibatch)
	if d := l.labelled % n; d != 0 && d != n-1 {
		return false
	}
	return *exhaustive || (l.labelled+1)/n%4 == 0
}

// TestPredictionsFollowFromTheStateAlone: whatever the labels of its rows are, a pass
// is predicted alike, also by a model that has only the serving part of the state. Of a
// mixture this holds for the predictions of a scorer.
func TestPredictionsFollowFromTheStateAlone(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		one := s.learnedOnce(t)
		var before *Model
		for _, p := range one.passes {
			rows := one.rows.Slice(p.at, p.at+p.rows)
			m, err := NewModel(p.state.Serving)
			if err != nil {
				t.Fatalf("row %d: %v", p.at, err)
			}
			if before != nil { // a model that takes from the one before what both have
				if m, err = before.Next(p.state.Serving); err != nil {
					t.Fatalf("row %d: %v", p.at, err)
				}
			}
			before = m
			got, want := m.Predict(rows), p.want
			if got.Task != want.Task || got.Decision != want.Decision || got.Size != want.Size || !slices.Equal(got.Values, want.Values) {
				t.Fatalf("row %d: the model predicts %v, the learner %v", p.at, got, want)
			}
			q := scorers(restored(t, s.config, p.state).Predict(flipped(rows)))
			if !slices.Equal(q.Values, want.Values[:len(q.Values)]) {
				t.Fatalf("row %d: other labels, other predictions", p.at)
			}
		}
	})
}

// scorers returns the predictions that a scorer makes, which has no labels.
func scorers(p *PredictedBatch) Predictions {
	if p.isMixed {
		return p.Scorer
	}
	return p.Predictions
}

// flipped is the rows of b with other labels and weights.
func flipped(b *Batch) *Batch {
	var f Batch
	f.Reset(b.Dim())
	for i := range b.Len() {
		y := b.Label(i)
		if y.Task == Regression {
			y.Value = -y.Value
		} else if y.Task == Classification {
			y.Class = 0
		}
		f.Append(b.X(i), y, 2)
	}
	return &f
}

func TestUnlabelledRowsChangeNothing(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		if s.config.Monitor > 0 {
			t.Skip("the monitor of the inputs counts unlabelled rows too")
		}
		if s.config.HalfLife > 0 {
			t.Skip("the event time is that of unlabelled rows too")
		}
		with, without := s.learnedOnce(t), newLearner(t, s.config)
		learn(without, labelledRows(with.rows), 50)
		sameState(t, "without the unlabelled rows", without.State(), with.last)
	})
}

func TestStateSharesNoMemory(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		one := s.learnedOnce(t)
		l := restored(t, s.config, one.early)
		state := l.State()
		before := fmt.Sprint(state)
		r := restored(t, s.config, state)
		learn(l, one.rows.Slice(1400, 1600), 100)
		learn(r, one.rows.Slice(1400, 1600), 100)
		if fmt.Sprint(state) != before {
			t.Error("the rows since have changed a State taken before them")
		}
	})
}

func TestNamesOfArraysAreUniqueAndShort(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		l := newLearner(t, s.config)
		learn(l, s.rows(200), 100)
		seen := map[string]bool{}
		for _, a := range slices.Concat(l.State().Serving, l.State().Resuming) {
			if len(a.Name) > 24 || seen[a.Name] || a.Name != string(bytes.ToLower([]byte(a.Name))) {
				t.Errorf("array name %q", a.Name)
			}
			seen[a.Name] = true
			if n := reflect.ValueOf(a.Data).Len(); n != a.Shape[0]*a.Shape[1] {
				t.Errorf("%s has %d values and the shape %v", a.Name, n, a.Shape)
			}
		}
	})
}

// resuming returns an array of the part of l's State that predictions do not need.
func resuming[T float64 | float32 | int64](l *Learner, name string) []T {
	for _, a := range l.State().Resuming {
		if a.Name == name {
			return a.Data.([]T)
		}
	}
	panic("no array " + name)
}
