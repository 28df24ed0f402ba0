package encode

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Statistics that decay are those of the definition, in which the weight of a row halves
// with each half-life after it. A short half-life has the growth start again often.
func TestDecayedStatisticsAreTheirDefinition(t *testing.T) {
	for _, halfLife := range []int{1, 7, 1000} {
		rng := rand.New(rand.NewPCG(5, 6))
		var x, weights []float64
		var labels []target.Label
		for range 400 {
			x = append(x, float64(rng.IntN(20)))
			weights = append(weights, rng.Float64())
			labels = append(labels, target.Label{Task: target.Regression, Value: 3 + rng.NormFloat64()})
		}
		e := NewPlan([]Type{Decayed(halfLife)}, x, labels, target.Regression).Start()
		got := e.Rows(x[:150], labels[:150], weights[:150])
		got = append(got, reload(t, e, 1).Rows(x[150:], labels[150:], weights[150:])...)
		for i := range x {
			var n, sum, total, totalSum float64
			for k := range i {
				w := weights[k] * math.Exp2(-float64(i-1-k)/float64(halfLife))
				total += w
				totalSum += w * labels[k].Value
				if x[k] == x[i] {
					n += w
					sum += w * labels[k].Value
				}
			}
			p := 0.0
			if total > 0 {
				p = totalSum / total
			}
			want := []float64{(sum + 10*p) / (n + 10), math.Log((n + 1) / (total + 1))}
			for k, w := range want {
				if math.Abs(got[2*i+k]-w) > 1e-11 {
					t.Fatalf("half-life %d, row %d: %v, want %v", halfLife, i, got[2*i:2*i+2], want)
				}
			}
		}
	}
}

// The name of a type that decays is read back, and other half-lives are errors.
func TestDecayedTypesHaveNames(t *testing.T) {
	for _, n := range []int{1, 10000, MaxHalfLife} {
		is := Decayed(n)
		got, meant, err := ParseDecayed(is.String())
		if got != is || !meant || err != nil || is.HalfLife() != n || is.Values() != Category || !is.Valid() {
			t.Errorf("%v is read as %v, %v, %v", is, got, meant, err)
		}
	}
	for _, name := range []string{"category:decay", "category:decay=", "category:decay=0", "category:decay=-1", "category:decay=1.5", "category:decay=010", "category:decay=10000001", "category:decay=1e4"} {
		if got, meant, err := ParseDecayed(name); !meant || err == nil {
			t.Errorf("%s is read as %v", name, got)
		}
	}
	for _, name := range []string{"category", "numeric:normal", ""} {
		if _, meant, _ := ParseDecayed(name); meant {
			t.Errorf("%q is meant to decay", name)
		}
	}
	if Decayed(MaxHalfLife+1).Valid() || (Numeric | 5<<kindBits).Valid() {
		t.Error("types are valid that are none")
	}
}

// A table whose statistics decay stays within its bound and keeps its growth, and the values
// that leave are those that were last seen long ago.
func TestDecayedTableIsBounded(t *testing.T) {
	e := NewPlan([]Type{Decayed(1000)}, []float64{0}, make([]target.Label, 1), target.Classification).Start()
	y := target.Label{Task: target.Classification, Class: 1}
	const rows = maxEntries + 100
	for i := range rows {
		e.Learn([]float64{float64(i)}, &y, 1)
	}
	before, dst := make([]float64, 2), make([]float64, 2)
	e.Apply(before, []float64{rows - 1})
	e.Bound()
	c := e.columns[0].table
	if e.Apply(dst, []float64{rows - 1}); !same(dst, before) {
		t.Errorf("the last value is %v, before %v", dst, before)
	}
	if n, _ := c.find(0); len(c.keys) > maxEntries || n != 0 {
		t.Errorf("%d values, of which the first has a weight of %v", len(c.keys), n)
	}
}
