package encode

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// grouped returns rows of a category of some values, whose labels vary with a deviation around the
// mean of their value, and the means, which vary with a deviation of 1.
func grouped(rows, values int, deviation float64) (x []float64, labels []target.Label, means []float64) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range values {
		means = append(means, 5+rng.NormFloat64())
	}
	for range rows {
		v := min(rng.IntN(values), rng.IntN(values)) // some are rare
		x = append(x, float64(v))
		labels = append(labels, target.Label{Task: target.Regression, Value: means[v] + deviation*rng.NormFloat64()})
	}
	return x, labels, means
}

// credited returns the weights of the prior mean that a category of x has.
func credited(types Type, x []float64, labels []target.Label, task target.Task) []float64 {
	e := NewPlan([]Type{types}, x, labels, task)
	e.Credit(x, labels)
	c := &e.columns[0]
	return c.parameters[c.ownParameters():]
}

// The weight is the variance within the values over that between them: as the definition has it, and
// close to that of the generator.
func TestCredibilityIsTheRatioOfTheVariances(t *testing.T) {
	for _, deviation := range []float64{1.5, 3, 6, 9} {
		x, labels, _ := grouped(20_000, 200, deviation)
		of := map[float64][]float64{}
		n, total := float64(len(x)), 0.0
		for i, v := range x {
			of[v] = append(of[v], labels[i].Value)
			total += labels[i].Value
		}
		within, between, squares := 0.0, 0.0, 0.0
		for _, y := range of {
			mean := 0.0
			for _, v := range y {
				mean += v / float64(len(y))
			}
			for _, v := range y {
				within += (v - mean) * (v - mean)
			}
			between += float64(len(y)) * (mean - total/n) * (mean - total/n)
			squares += float64(len(y) * len(y))
		}
		k := float64(len(of))
		within /= n - k
		want := within * (n - squares/n) / (between - (k-1)*within)
		for _, typ := range []Type{Category, Decayed(500)} {
			if got := credited(typ, x, labels, target.Regression)[0]; math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%v, deviation %v: %v, want %v", typ, deviation, got, want)
			}
		}
		if truth := deviation * deviation; math.Abs(want/truth-1) > 0.4 {
			t.Errorf("deviation %v: %v, of the generator %v", deviation, want, truth)
		}
	}
}

// The statistics of rows to come are closer to the means of their values than with the same weight for
// every category, whether labels tell much or little about them.
func TestCredibleStatisticsAreCloserToTheMeans(t *testing.T) {
	for _, deviation := range []float64{0.5, 9} {
		x, labels, means := grouped(3000, 100, deviation)
		const first = 1000
		far := func(credit bool) (sum float64) {
			plan := NewPlan([]Type{Category}, x[:first], labels[:first], target.Regression)
			if credit {
				plan.Credit(x[:first], labels[:first])
			}
			weights := make([]float64, len(x))
			for i := range weights {
				weights[i] = 1
			}
			rows := plan.Start().Rows(x, labels, weights)
			for i := first; i < len(x); i++ {
				d := rows[2*i] - means[int(x[i])]
				sum += d * d
			}
			return sum
		}
		if with, without := far(true), far(false); !(with < 0.95*without) {
			t.Errorf("deviation %v: the squared distance is %.1f, with a weight of 10 it is %.1f", deviation, with, without)
		}
	}
}

// The weight is bounded, it is that of categories without credibility where there is nothing to estimate
// it from, and an outlier hardly changes it.
func TestCredibilityIsBounded(t *testing.T) {
	x, labels, _ := grouped(2000, 50, 3)
	usual := credited(Category, x, labels, target.Regression)[0]
	labels[77].Value = 1e6
	if got := credited(Category, x, labels, target.Regression)[0]; got < usual/2 || got > 2*usual {
		t.Errorf("with an outlier %v, without %v", got, usual)
	}
	unique := make([]float64, len(x))
	for i := range unique {
		unique[i] = float64(i)
	}
	noise, plain := make([]target.Label, len(x)), make([]target.Label, len(x))
	rng := rand.New(rand.NewPCG(9, 10))
	for i := range noise {
		noise[i].Value, plain[i].Value = rng.NormFloat64(), x[i]
	}
	for _, test := range []struct {
		of     string
		x      []float64
		labels []target.Label
		want   float64
	}{
		{"values of one row each", unique, labels, smoothing},
		{"labels that the values do not tell", x, noise, mostCredibility},
		{"labels that are the values", x, plain, leastCredibility},
		{"labels that are all the same", x, make([]target.Label, len(x)), mostCredibility},
	} {
		if got := credited(Category, test.x, test.labels, target.Regression)[0]; got != test.want && !(test.want == mostCredibility && got > 30) {
			t.Errorf("%s: %v, want %v", test.of, got, test.want)
		}
	}
}

// Classes have a weight each, and two classes have one.
func TestClassesHaveCredibilities(t *testing.T) {
	x, labels, _ := grouped(4000, 40, 1)
	rng := rand.New(rand.NewPCG(11, 12))
	two, three := make([]target.Label, len(x)), make([]target.Label, len(x))
	for i, v := range x {
		told := int(v) % 2
		two[i] = target.Label{Task: target.Classification, Class: told}
		three[i] = target.Label{Task: target.Classification, Class: told * (1 + rng.IntN(2))}
	}
	if got := credited(Category, x, two, target.Classification); len(got) != 1 || got[0] != leastCredibility {
		t.Errorf("two classes that the values tell: %v", got)
	}
	if got := credited(Category, x, three, target.Classification); len(got) != 3 || got[0] != leastCredibility || got[1] <= got[0] || got[2] <= got[0] {
		t.Errorf("three classes, of which the values tell the first: %v", got)
	}
	for i, y := range labels {
		labels[i] = target.RegressionLabel([]float64{y.Value, rng.NormFloat64()})
	}
	if got := credited(Category, x, labels, target.Regression); len(got) != 2 || got[0] > 3 || got[1] < 30 {
		t.Errorf("two targets, of which the values tell the first: %v", got)
	}
}

// State with another number of credibilities than targets, or with an impossible one, is refused.
func TestCredibilitiesAreChecked(t *testing.T) {
	x, types, labels, _ := all(target.Classification)
	for j, typ := range types {
		if typ != Category && typ.HalfLife() == 0 {
			continue
		}
		for _, spoil := range []func(p []float64) []float64{
			func(p []float64) []float64 { return append(p, 5) },
			func(p []float64) []float64 { return p[:len(p)-1] },
			func(p []float64) []float64 { p[len(p)-1] = math.NaN(); return p },
			func(p []float64) []float64 { p[len(p)-1] = 0; return p },
			func(p []float64) []float64 { p[len(p)-1] = 2 * mostCredibility; return p },
		} {
			e := NewPlan(types, x, labels, target.Classification)
			e.Credit(x, labels)
			c := &e.columns[j]
			if !c.counts() {
				continue
			}
			c.parameters = spoil(c.parameters)
			var a state.Arrays
			e.Start().Save(&a)
			s := &state.Reader{In: a}
			if Load(s, len(types)); s.End() == nil {
				t.Errorf("%s with the parameters %v is read", c.encoder().name, c.parameters)
			}
		}
	}
}
