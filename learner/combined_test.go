package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// Where all experts of a mixture are too cautious, as in the difference of two columns that move
// together, a scorer predicts nearly as well as the learner. Before the fifteenth version it did
// not, and had no state for it.
func TestScorersCorrectCautiousExperts(t *testing.T) {
	const rows = 3000
	square := func(p []float64, y Label) float64 { return math.Pow(p[0]-y.Value, 2) }
	logLoss := func(p []float64, y Label) float64 { return -math.Log(p[y.Class]) }
	for _, test := range []struct {
		task  Task
		label func(v float64) Label
		loss  func(p []float64, y Label) float64
		less  float64 // largest loss of a scorer, as a multiple of that before
	}{
		{Regression, func(v float64) Label { return Label{Task: Regression, Value: v} }, square, .5},
		{Classification, func(v float64) Label { return Label{Task: Classification, Class: int(max(0, min(1, v+1)))} }, logLoss, .8},
		{Classification, func(v float64) Label { return Label{Task: Classification, Class: int(max(0, min(2, v+1.5)))} }, logLoss, .8},
	} {
		r := rand.New(rand.NewPCG(71, 72))
		b := &Batch{}
		b.Reset(4)
		for range rows {
			level, p, q := 100*r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
			b.Append([]float64{level + p, level + q, r.NormFloat64(), r.NormFloat64()}, test.label(q-p), 1)
		}
		errors := map[warmup.Version][2]float64{}
		for _, version := range []warmup.Version{warmup.Fourteenth, warmup.Fifteenth} {
			c := Config{Task: test.task, Mixture: true, Warmup: int(version), MaxFeatures: 256}
			l := newLearner(t, c)
			var of [2]float64 // of the learner and of its scorer
			for at := 0; at < rows; {
				p := l.Predict(b.Slice(at, min(at+32, rows)))
				for i := range p.Len() {
					if at+i >= rows-500 {
						of[0], of[1] = of[0]+test.loss(p.Row(i), b.Label(at+i))/500, of[1]+test.loss(p.Scorer.Row(i), b.Label(at+i))/500
					}
				}
				at += p.Len()
				l.Learn(p)
				if at == 1504 {
					var err error
					before := hash(l.State())
					cut := newLearner(t, c)
					if learn(cut, b.Slice(0, at), 13); hash(cut.State()) != before {
						t.Errorf("%v, version %d: the state depends on how rows are cut into batches", test.task, version)
					}
					if l, err = restore(c, l.State()); err != nil || hash(l.State()) != before {
						t.Fatalf("%v, version %d: restored, the state's hash is another one: %v", test.task, version, err)
					}
				}
			}
			errors[version] = of
			has := slices.ContainsFunc(l.State().Resuming, func(a Array) bool { return a.Name == "mixture.combined" })
			if has != (version == warmup.Fifteenth) {
				t.Errorf("%v, version %d: there are factors for scorers: %v", test.task, version, has)
			}
		}
		was, is, learner := errors[warmup.Fourteenth][1], errors[warmup.Fifteenth][1], errors[warmup.Fifteenth][0]
		if is > 1.2*learner || is > test.less*was {
			t.Errorf("%v: the loss of a scorer is %.3f, was %.3f, and that of the learner is %.3f", test.task, is, was, learner)
		}
	}
}
