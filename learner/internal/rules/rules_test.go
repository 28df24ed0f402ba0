package rules

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/decide"
	"github.com/accrete-ml/accrete/learner/internal/interval"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

var options = Options{F1: true, Uncertainty: interval.Kind{Coverage: 0.9, Variance: true}, Targets: 1, Mixture: true}

// row has what a scorer and a mixture predict for a class and for a number.
type row struct {
	served, mixed           []float64
	class                   int
	servedValue, mixedValue []float64
	label                   float64
}

// stream returns rows of which the mixture predicts more than a scorer does.
func stream(n int) []row {
	rng := rand.New(rand.NewPCG(7, 8))
	rows := make([]row, n)
	for i := range rows {
		class := 0
		if rng.Float64() < 0.1 {
			class = 1
		}
		a, b := 1/(1+math.Exp(4-2*float64(class)+rng.NormFloat64())), 1/(1+math.Exp(6-4*float64(class)+rng.NormFloat64()))
		y := rng.NormFloat64()
		rows[i] = row{
			served: []float64{1 - a, a}, mixed: []float64{1 - b, b}, class: class,
			servedValue: []float64{y + rng.NormFloat64()}, mixedValue: []float64{y + 0.1*rng.NormFloat64()}, label: y,
		}
	}
	return rows
}

func add(r *Rules, rows []row) {
	for i, x := range rows {
		r.AddDecision(x.served, x.mixed, x.class, 1)
		r.AddResiduals(x.servedValue, x.mixedValue, 0.1, target.Label{Task: target.Regression, Value: x.label})
		if i%100 == 99 {
			r.StepDecisions(100)
			r.StepIntervals()
		}
	}
}

// same fails the test unless two pairs of rules decide alike.
func same(t *testing.T, what string, d, wantD *decide.Rule, i, wantI *interval.Rule) {
	t.Helper()
	for p := 1. / 256; p < 1; p += 1. / 256 {
		if got, want := d.Class([]float64{1 - p, p}), wantD.Class([]float64{1 - p, p}); got != want {
			t.Errorf("%s: class %d with probability %v, want %d", what, got, p, want)
		}
	}
	low, high := i.Bounds(3, 0)
	wantLow, wantHigh := wantI.Bounds(3, 0)
	if low != wantLow || high != wantHigh || i.Variance(0) != wantI.Variance(0) {
		t.Errorf("%s: interval %v to %v, want %v to %v", what, low, high, wantLow, wantHigh)
	}
}

// The rules of a scorer and those of a mixture are each what the predictions of that one
// alone lead to.
func TestRulesOfAMixtureAreItsOwn(t *testing.T) {
	both, alone := New(options), options
	alone.Mixture = false
	served, mixed := New(alone), New(alone)
	rows := stream(3000)
	other := make([]row, len(rows))
	for i, x := range rows {
		other[i] = row{served: x.mixed, class: x.class, servedValue: x.mixedValue, label: x.label}
	}
	add(&both, rows)
	add(&served, rows)
	add(&mixed, other)
	d, i := both.Served()
	wantD, wantI := served.Served()
	same(t, "scorer", d, wantD, i, wantI)
	d, i = both.Mixed()
	wantD, wantI = mixed.Mixed()
	same(t, "mixture", d, wantD, i, wantI)
	_, servedI := both.Served()
	if narrow, wide := i.Variance(0), servedI.Variance(0); !(narrow < wide/10) {
		t.Errorf("variances %v and %v, of residuals with deviations 0.1 and 1", narrow, wide)
	}
}

// Rules that were saved and loaded continue as the original does.
func TestLoadedRulesContinue(t *testing.T) {
	r := New(options)
	rows := stream(2000)
	add(&r, rows[:1000])
	d, i := r.Served()
	var a state.Arrays
	r.Save(&a)
	r.SaveOwn(&a)
	loaded := New(options)
	s := &state.Reader{In: a}
	loaded.Load(s, d, i)
	loaded.LoadOwn(s, 1)
	if s.Err != nil || len(s.In) > 0 {
		t.Fatalf("%v, %d arrays left", s.Err, len(s.In))
	}
	add(&r, rows[1000:])
	add(&loaded, rows[1000:])
	for what, of := range map[string]func(*Rules) (*decide.Rule, *interval.Rule){"scorer": (*Rules).Served, "mixture": (*Rules).Mixed} {
		d, i := of(&loaded)
		wantD, wantI := of(&r)
		same(t, what, d, wantD, i, wantI)
	}
}

func TestNothingIsLearnedUnlessConfigured(t *testing.T) {
	r := New(Options{Targets: 1, Mixture: true})
	add(&r, stream(200))
	var a state.Arrays
	r.Save(&a)
	r.SaveOwn(&a)
	if d, i := r.Mixed(); d != nil || i != nil || len(a) > 0 {
		t.Errorf("%v, %v, %d arrays", d, i, len(a))
	}
}
