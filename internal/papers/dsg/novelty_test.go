package dsg

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/test/datasets"
)

// The batch solver is at the optimum: with the gradient g = Ka, a row at 0 has g ≥ ρ, one at
// the upper bound g ≤ ρ, and others g = ρ. At most the share ν of the rows is at the bound,
// and at least that of all has a > 0 (Schölkopf et al. 2001, proposition 4).
func TestOneClassSolvesItsProblem(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n, dim = 200, 2
	x := make([]float64, n*dim)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for _, nu := range []float64{0.05, 0.2, 0.5} {
		m := newOneClass(x, dim, 0.7, nu)
		most, sum, above, bounded := 1/(nu*n), 0.0, 0, 0
		for i, a := range m.a {
			sum += a
			g := m.rho - m.score(x[i*dim:(i+1)*dim])
			off := g - m.rho
			switch {
			case a < 0 || a > most+1e-12:
				t.Errorf("ν %v: a = %v", nu, a)
			case a == 0 && off < -1e-4*m.rho, a >= most-1e-12 && off > 1e-4*m.rho, a > 0 && a < most-1e-12 && math.Abs(off) > 1e-4*m.rho:
				t.Errorf("ν %v: row %d with a = %v has g - ρ = %v", nu, i, a, off)
			}
			if a > 0 {
				above++
			}
			if a >= most-1e-12 {
				bounded++
			}
		}
		if math.Abs(sum-1) > 1e-9 || float64(bounded) > nu*n+1e-9 || float64(above) < nu*n-1e-9 {
			t.Errorf("ν %v: sum %v, %d rows at the bound, %d above 0", nu, sum, bounded, above)
		}
	}
}

// The scores of the batch solver put novelties in the order that scikit-learn 1.9.1 does:
// its OneClassSVM(gamma="scale") has an AUC of .7497 and .7526 here.
func TestOneClassAgreesWithAnotherImplementation(t *testing.T) {
	d := datasets.Load(t, "spam.train")
	s, others := &novel{dim: d.Dim}, 0
	for i, y := range d.Y {
		if y != 0 {
			if others++; (others-1)%12 != 0 {
				continue
			}
		}
		s.add(d.X[i*d.Dim:(i+1)*d.Dim], y != 0)
	}
	s.from = len(s.novel) / 2
	s.till = s.from
	for nu, want := range map[float64]float64{0.05: 0.7497, 0.1: 0.7526} {
		if got := s.auc(s.batch(nu)); math.Abs(got-want) > 1e-3 {
			t.Errorf("ν %v: AUC %.4f, want %v", nu, got, want)
		}
	}
}

func TestAUC(t *testing.T) {
	s := &novel{novel: []bool{true, false, true, false, false}}
	for _, c := range []struct {
		scores []float64
		want   float64
	}{{[]float64{3, 1, 2, 0, 1}, 1}, {[]float64{0, 1, 0, 1, 2}, 0}, {[]float64{1, 1, 1, 1, 1}, 0.5}, {[]float64{2, 3, 0, 1, 1}, 2.0 / 6}} {
		if got := s.auc(c.scores); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.scores, got, c.want)
		}
	}
}

// Streams of a set have 5 % novelties, and the second changes its usual classes.
func TestStreamsHaveTheirNovelties(t *testing.T) {
	s := &Rows{Name: "set", Dim: 1}
	for i := range 10_000 {
		s.X = append(s.X, float64(i%20))
		s.Labels = append(s.Labels, learner.Label{Task: learner.Classification, Class: i % 20})
	}
	streams := s.novelties(1, 1500)
	if len(streams) != 2 {
		t.Fatalf("%d streams", len(streams))
	}
	for k, of := range streams {
		novel := 0.0
		for i, is := range of.novel {
			if is {
				novel++
			}
			class, from := int(of.row(i)[0]), 0.0
			if k == 1 && i >= of.train {
				from = 4
			}
			if usual := float64(class) >= from && float64(class) < from+4; usual == is {
				t.Fatalf("stream %d, row %d of class %d: novel %v", k, i, class, is)
			}
		}
		if n := len(of.novel); n != 1500*(1+k) {
			t.Errorf("stream %d has %d rows", k, n)
		}
		if share := novel / float64(len(of.novel)); math.Abs(share-0.05) > 0.005 {
			t.Errorf("stream %d: %.3f of the rows are novelties", k, share)
		}
	}
	if len((&Rows{Labels: make([]learner.Label, 5), X: make([]float64, 5), Dim: 1}).novelties(1, 10)) != 0 {
		t.Error("a set of one class has novelties")
	}
}
