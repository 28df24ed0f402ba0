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

// algorithmArithmetics are likewise, of the algorithms with a version of their own.
var algorithmArithmetics = map[string]map[int]string{
	"dsg":        {2: "50ec8807b3e6f2cb63895cfa2f236942"},
	"udsg":       {2: "47c9f5ef8c3e1f00e8074eacce36f212"},
	"cdsg":       {2: "b76474d4f4becf3228307b092c2ad9c4"},
	"cdsg:alpha": {2: "ff5e452534bb336d5d349f9680cba9bb"},
}

// mixtureArithmetics are likewise, of newton with a mixture.
var mixtureArithmetics = map[int]string{
	4:  "a58db8d27204afcb0c9e3905be9f9f1b",
	5:  "1b384215a85b97af0c9e3905be9f9f1b",
	6:  "32dff88da425476b25950036eeb29ef4",
	7:  "32dff88da425476b9967c67cc3b19a65",
	8:  "74dfaa92bea6824774233163b1b604df",
	9:  "bf93ad15e75e9f738272cf748497cc92",
	10: "bf93ad15e75e9f734f4541e482d653f6",
}

// intervalArithmetics are likewise, of newton with intervals.
var intervalArithmetics = map[int]string{
	3: "0ebcfb811ac0b91c",
}

func TestArithmeticOfIntervalsHasAVersion(t *testing.T) {
	c := Config{Intervals: 0.9, MaxFeatures: 16, BlockSize: 8}
	if got, want := arithmeticOf(t, c, three), intervalArithmetics[c.Arithmetic()]; got != want {
		t.Errorf("version %d of the arithmetic of intervals leads to %s, and led to %q: where that is meant, its version becomes %d, and this its line in the table", c.Arithmetic(), got, want, c.Arithmetic()+1)
	}
}

func TestArithmeticHasAVersion(t *testing.T) {
	c := Config{Mixture: true, MaxFeatures: 16, BlockSize: 8}
	if got, want := arithmeticOf(t, c, sides, three), mixtureArithmetics[c.Arithmetic()]; got != want {
		t.Errorf("version %d of the arithmetic of a mixture leads to %s, and led to %q: where that is meant, its version becomes %d, and this its line in the table", c.Arithmetic(), got, want, c.Arithmetic()+1)
	}

	if got, want := arithmeticOf(t, Config{MaxFeatures: 64}, sides, three), arithmetics[Arithmetic]; got != want {
		t.Errorf("version %d of the arithmetic leads to %s, and led to %q: where that is meant, the constant Arithmetic becomes %d, and this its line in the table", Arithmetic, got, want, Arithmetic+1)
	}
	for _, a := range algorithms {
		c := Config{Algorithm: a.Name, MaxFeatures: 64, BlockSize: 32, Minibatch: 256}
		version, versions := c.Arithmetic(), algorithmArithmetics[a.Name]
		if (version != Arithmetic) != (versions != nil) {
			t.Errorf("%s: version %d is in the table: %v", a.Name, version, versions != nil)
		}
		if versions == nil {
			continue
		}
		if got, want := arithmeticOf(t, c, sides, three), versions[version]; got != want {
			t.Errorf("%s: version %d of its arithmetic leads to %s, and led to %q: where that is meant, its version becomes %d, and this its line in the table", a.Name, version, got, want, version+1)
		}
	}
}

// arithmeticOf returns what the rows lead to with each of these labels.
func arithmeticOf(t *testing.T, c Config, labels ...func([]float64) Label) (hashes string) {
	for _, label := range labels {
		if c.Targets = 0; label(make([]float64, 5)).Task == Regression {
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
		hashes += hash(l.State())
	}
	return hashes
}

// sparseArithmetics are likewise, of a mixture with sparse rows.
var sparseArithmetics = map[int]string{
	7:  "2a1ea28da735f3480b27b6b62b46fbc7",
	8:  "36bae1c2dfade2780b27b6b62b46fbc7",
	9:  "36bae1c2dfade2780b27b6b62b46fbc7",
	10: "8cd5daaf7867b35c233d788754186345",
	11: "8cd5daaf7867b35c233d788754186345",
}

// TestArithmeticOfSparseRowsHasAVersion learns enough rows for the windows of the machines to be
// full, from where on those of no use take fewer steps.
func TestArithmeticOfSparseRowsHasAVersion(t *testing.T) {
	got, c := "", Config{}
	for _, s := range documents[:2] {
		c = s.config
		c.Mixture = true
		l := newWhole(t, c)
		learn(l, s.rows(1400), 100)
		got += hash(l.State())
	}
	if want := sparseArithmetics[c.Arithmetic()]; got != want {
		t.Errorf("version %d of the arithmetic of sparse rows leads to %s, and led to %q: where that is meant, its version becomes %d, and this its line in the table", c.Arithmetic(), got, want, c.Arithmetic()+1)
	}
}
