package divergence

import (
	"math"
	"math/rand/v2"
	"testing"
)

// gaussian returns n rows of independent normal numbers with this mean and deviation in
// the first column, and 0 and 1 in the others.
func gaussian(n, dim int, mean, deviation float64, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	x := make([]float64, n*dim)
	for i := range x {
		if x[i] = rng.NormFloat64(); i%dim == 0 {
			x[i] = mean + deviation*x[i]
		}
	}
	return x
}

// The divergences of Gaussians are known: of unit variances and means that differ by m,
// KL = m²/2; Pearson's is (exp m² - 1)/2; the relative one is computed by integration.
func TestDivergencesOfGaussiansAreTheKnownOnes(t *testing.T) {
	for _, c := range []struct {
		dim             int
		mean, deviation float64
		kl              float64
	}{
		{1, 0, 1, 0}, {1, 0.6325, 1, 0.2}, {2, 0.6325, 1, 0.2}, {2, 0, 0.7, math.Log(1/0.7) + 0.49/2 - 0.5},
	} {
		got, n := Estimate{}, 2.0
		for order := range uint64(n) {
			e, err := Compare(gaussian(3000, c.dim, c.mean, c.deviation, 2*order+1), gaussian(3000, c.dim, 0, 1, 2*order+2), c.dim)
			if err != nil {
				t.Fatal(err)
			}
			got.KL += e.KL / n
			got.Direct += e.Direct / n
			got.Relative += e.Relative / n
		}
		direct, relative := integrate(c.mean, c.deviation, 0), integrate(c.mean, c.deviation, relativeTo)
		t.Logf("%d inputs, mean %v, deviation %v: KL %.4f (%.4f), direct %.4f (%.4f), relative %.4f (%.4f)", c.dim, c.mean, c.deviation, got.KL, c.kl, got.Direct, direct, got.Relative, relative)
		if math.Abs(got.KL-c.kl) > 0.02 {
			t.Errorf("%+v: KL %v", c, got.KL)
		}
		if math.Abs(got.Relative-relative) > 0.02 {
			t.Errorf("%+v: relative %v, want %v", c, got.Relative, relative)
		}
		if math.Abs(got.Direct-direct) > 0.02+0.1*direct {
			t.Errorf("%+v: direct %v, want %v", c, got.Direct, direct)
		}
	}
}

// integrate returns the Pearson divergence of N(mean, deviation²) from its mixture with
// N(0, 1).
func integrate(mean, deviation, alpha float64) float64 {
	sum := 0.0
	for x := -12.0; x < 12; x += 1e-3 {
		p, q := math.Exp(-(x-mean)*(x-mean)/2/deviation/deviation)/deviation, math.Exp(-x*x/2)
		m := alpha*p + (1-alpha)*q
		sum += (p - m) * (p - m) / m
	}
	return sum * 1e-3 / math.Sqrt(2*math.Pi) / 2
}

// The test has its level where nothing differs, and finds a difference with its column.
func TestTwoSampleTestHasItsLevelAndFindsADifference(t *testing.T) {
	rejected, columns := 0, 0
	const n = 60
	for i := range uint64(n) {
		e, err := Compare(gaussian(60, 3, 0, 1, 2*i+1), gaussian(80, 3, 0, 1, 2*i+2), 3)
		if err != nil {
			t.Fatal(err)
		}
		if e.P <= 0.05 {
			rejected++
		}
		for _, c := range e.Columns {
			if c.P <= 0.05 {
				columns++
			}
		}
	}
	if rejected > 8 || columns > 20 {
		t.Errorf("at the level of 0.05, %d of %d samples differ, and %d of %d columns", rejected, n, columns, 3*n)
	}
	e, err := Compare(gaussian(400, 3, 0.5, 1, 1), gaussian(400, 3, 0, 1, 2), 3)
	if err != nil || e.P > 0.01 || e.Columns[0].P > 1e-4 || e.Columns[1].P < 1e-3 || e.Columns[2].P < 1e-3 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestConstantColumnsAreComparedAndBadSamplesRefused(t *testing.T) {
	nan := math.NaN()
	x := make([]float64, 60)
	for i := range x {
		x[i] = []float64{nan, 5, 1e300}[i%3]
	}
	e, err := Compare(x, x, 3)
	if err != nil || e.KL != e.KL || e.P != 1 || math.IsInf(e.KL, 0) {
		t.Errorf("constant columns: %+v, %v", e, err)
	}
	for _, bad := range []struct {
		p, q []float64
		dim  int
	}{{x, x, 0}, {x, x, 7}, {x[:3], x, 3}, {x, nil, 3}, {append([]float64{math.Inf(1)}, x[1:]...), x, 3}} {
		if _, err := Compare(bad.p, bad.q, bad.dim); err == nil {
			t.Errorf("%d and %d values in rows of %d are accepted", len(bad.p), len(bad.q), bad.dim)
		}
	}
}
