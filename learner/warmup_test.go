package learner

import (
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// TestFitsTakeEffectAtTheirRows: the fit of checkpoint r at row r + r/4, however long the
// fit takes and however the rows are cut.
func TestFitsTakeEffectAtTheirRows(t *testing.T) {
	for _, test := range []struct {
		stream  string
		version warmup.Version
		want    []int64
	}{
		{"growing", warmup.First, []int64{80, 125, 200, 320, 500, 800, 1250}},
		{"growing", warmup.Second, []int64{80, 125, 200, 320, 500, 800, 1250}},
		{"growing", warmup.Third, []int64{80, 320, 500, 1250}},
		{"growing", warmup.Fourth, []int64{80, 320, 500, 1250}},
		{"growing", warmup.Fifth, []int64{80, 320, 500, 1250}},
		{"growing", warmup.Newest, []int64{80, 320, 500, 1250}},
		{"late", warmup.First, []int64{1250}}, // one class only: the scale is nevertheless settled
		{"late", warmup.Newest, []int64{1250}},
	} {
		s := streamOf(algorithms[0].Name, test.stream)
		s.config.Warmup = int(test.version)
		l := newLearner(t, s.config)
		rows := s.rows(1600)
		var got []int64
		for at := range rows.Len() {
			before := l.fit
			learn(l, rows.Slice(at, at+1), 1)
			if l.fit != before {
				got = append(got, l.labelled)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: fits at rows %v, want %v", s.name, got, test.want)
		}
		if len(l.warmup.X) > 0 || l.warmup.Result != nil {
			t.Errorf("%s: the warm-up keeps %d values after its last checkpoint", s.name, len(l.warmup.X))
		}
	}
}

// TestNewFitLearnsTheRowsSoFar: a model that adopts a fit is the one that would
// have learned the rows with it from the start.
func TestNewFitLearnsTheRowsSoFar(t *testing.T) {
	for _, a := range algorithms {
		s := two(a.Name)
		l := newLearner(t, s.config)
		rows := s.rows(1400)
		at := 0
		for ; l.labelled < int64(warmup.EffectiveAt(640)); at++ {
			learn(l, rows.Slice(at, at+1), 1)
		}
		again := newLearner(t, s.config)
		learn(again, rows.Slice(0, at), 1)
		again.adopt(*l.fit)
		got, want := again.State(), l.State()
		if !reflect.DeepEqual(got.Serving, want.Serving) {
			t.Errorf("%s: adopting the same fit once more makes another model", a.Name)
		}
	}
}

// TestStepSaysWhetherTheModelChanged: where it says no, the serving part is the
// same, and a batch of several rows ends where it may say yes.
func TestStepSaysWhetherTheModelChanged(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		rows := s.rows(1500)
		l := newLearner(t, s.config)
		changes := 0
		before := withoutDim(l.Serving())
		for at := range rows.Len() {
			step := l.Learn(l.Predict(rows.Slice(at, at+1)))
			after := withoutDim(l.Serving())
			if step.Changed {
				changes++
			} else if !slices.EqualFunc(after, before, sameArray) {
				t.Fatalf("row %d: the model changed, and Step does not say so", at)
			}
			before = after
		}
		if changes > rows.Len()/2 {
			t.Errorf("%d changes in %d rows", changes, rows.Len())
		}
	})
}

// withoutDim is the serving arrays without the dimension, which the first row
// tells even where it has no label.
func withoutDim(arrays []Array) []Array {
	arrays[0].Data.([]int64)[2] = 0
	return arrays
}

// TestBetterOfIterateAndAverageServes holds the choice against the losses of the
// last rows, added up again.
func TestBetterOfIterateAndAverageServes(t *testing.T) {
	s := streamOf("dsg", "binary")
	l := newLearner(t, s.config)
	rows := s.rows(9000)
	type losses struct{ iterate, average float64 }
	var all []losses
	served := map[bool]int{}
	for at := range rows.Len() {
		y := rows.Label(at)
		p := l.Predict(rows.Slice(at, at+1))
		steps := l.steps()
		if y.Task != Auto && l.labelled >= int64(warmup.EffectiveAt(warmup.LastCheckpoint)) {
			f := p.f
			t := float64(y.Class)
			all = append(all, losses{rows.Weight(at) * l.head.Loss.Value(f[:1], t), rows.Weight(at) * l.head.Loss.Value(f[1:], t)})
		}
		l.Learn(p)
		if l.steps() == steps || len(all) < descent.ChoiceRows {
			continue
		}
		var sum losses
		for _, v := range all[len(all)-descent.ChoiceRows:] {
			sum.iterate += v.iterate
			sum.average += v.average
		}
		averaged := l.engine.Served() > 0
		served[averaged]++
		if want := sum.average < sum.iterate; averaged != want {
			t.Fatalf("row %d: the average serves is %v; losses %v and %v", at, averaged, sum.iterate, sum.average)
		}
	}
	if len(served) == 0 {
		t.Fatal("nothing was compared")
	}
}
