package learner

import (
	"math/rand/v2"
	"testing"
)

// arithmetics are, by version, what the rows of TestArithmeticHasAVersion lead
// to.
var arithmetics = map[int]string{
	1: "1e12ef55aa888365150059cbf01f17ca",
}

func TestArithmeticHasAVersion(t *testing.T) {
	got := ""
	for _, label := range []func([]float64) Label{sides, three} {
		c := Config{MaxFeatures: 64}
		if label(make([]float64, 5)).Task == Regression {
			c.Targets = 3
		}
		l := newWhole(t, c)
		rng := rand.New(rand.NewPCG(3, 4))
		var b Batch
		b.Reset(5)
		x := make([]float64, 5)
		for i := range 1200 {
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			y := label(x)
			y.Class = min(y.Class, i) // classes appear in their order
			b.Append(x, y, 1)
		}
		learn(l, &b, 100)
		got += hash(l.State())
	}
	if want := arithmetics[Arithmetic]; got != want {
		t.Errorf("version %d of the arithmetic leads to %s, and led to %q: where that is meant, the constant Arithmetic becomes %d, and this its line in the table", Arithmetic, got, want, Arithmetic+1)
	}
}
