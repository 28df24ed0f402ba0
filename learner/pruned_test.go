package learner

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner/loss"
)

// pruned is a model of which every third feature is 0, and the same without them.
func prunedModel(t *testing.T, c Config) (all, few *Model) {
	t.Helper()
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	b := waves(600)
	for from := 0; from < b.Len(); {
		p := l.Predict(b.Slice(from, b.Len()))
		from += p.Len()
		l.Learn(p)
	}
	m, err := NewModel(l.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	coef := slices.Clone(m.coef)
	for i := range coef {
		if i/(2*m.head.Scores())%3 == 0 {
			coef[i] = 0
		}
	}
	if all, err = m.With(m.Loss(), coef, m.intercept); err != nil {
		t.Fatal(err)
	}
	if few, err = all.Pruned(); err != nil {
		t.Fatal(err)
	}
	return all, few
}

// waves returns rows of two numbers and their wavy class.
func waves(rows int) *Batch {
	b := new(Batch)
	b.Reset(2)
	for i := range rows {
		x := []float64{math.Sin(float64(i)), math.Cos(1.7 * float64(i))}
		class := 0
		if math.Sin(3*x[0])+x[1] > 0 {
			class = 1
		}
		b.Append(x, Label{Task: Classification, Class: class}, 1)
	}
	return b
}

// TestPrunedModelPredictsTheSame compares with the model that has the features with
// coefficients of 0, and restores it to the bit.
func TestPrunedModelPredictsTheSame(t *testing.T) {
	for _, c := range []Config{{Algorithm: "dsg", MaxFeatures: 96}, {Algorithm: "newton", MaxFeatures: 128}} {
		all, few := prunedModel(t, c)
		n := all.RandomFeatures()
		if want := n - (n+2)/3; few.RandomFeatures() != want {
			t.Fatalf("%s: %d of %d features, want %d", c.Algorithm, few.RandomFeatures(), n, want)
		}
		again, err := NewModel(few.Serving())
		if err != nil {
			t.Fatal(err)
		}
		b := waves(130)
		p, q, r := all.Predict(b), few.Predict(b), again.Predict(b)
		for i, v := range p.Values {
			if math.Abs(q.Values[i]-v) > 1e-5 || r.Values[i] != q.Values[i] {
				t.Fatalf("%s: value %d is %v, restored %v, want %v", c.Algorithm, i, q.Values[i], r.Values[i], v)
			}
		}
		for i, a := range few.Serving() {
			if got := again.Serving()[i]; got.Name != a.Name || got.Shape != a.Shape {
				t.Errorf("%s: array %s %v, want %s %v", c.Algorithm, got.Name, got.Shape, a.Name, a.Shape)
			}
		}
		if same, err := few.Pruned(); err != nil || same != few {
			t.Errorf("pruned twice: %v", err)
		}
		if _, err := few.Design(b, 0); err != ErrPruned {
			t.Errorf("design of a pruned model: %v", err)
		}
	}
}

// TestPrunedModelKeepsItsMixture: so does one with other coefficients, unless it has another
// loss, and so scores that cannot be mixed.
func TestPrunedModelKeepsItsMixture(t *testing.T) {
	l, err := New(Config{MaxFeatures: 128, Mixture: true})
	if err != nil {
		t.Fatal(err)
	}
	learn(l, waves(300), 300)
	m, err := NewModel(l.State().Serving)
	if err != nil || !m.Mixed() {
		t.Fatalf("mixed: %v, %v", m != nil, err)
	}
	clear(m.coef[:len(m.coef)/2])
	few, err := m.Pruned()
	if err != nil || few.RandomFeatures() >= m.RandomFeatures() {
		t.Fatalf("%d of %d features, %v", few.RandomFeatures(), m.RandomFeatures(), err)
	}
	b := waves(130)
	p, q := m.Predict(b), few.Predict(b)
	for i, v := range p.Values {
		if math.Abs(q.Values[i]-v) > 1e-5 {
			t.Fatalf("value %d is %v, want %v", i, q.Values[i], v)
		}
	}
	same, err := m.With(m.Loss(), m.coef, m.intercept)
	if err != nil || q.Mixture != MixtureInputs || !slices.Equal(same.Predict(b).Values, p.Values) {
		t.Errorf("pruned: mixture %q; with the same coefficients: mixed %v, %v", q.Mixture, same.Mixed(), err)
	}
	alone, err := m.With(loss.SmoothedHinge{}, m.coef, m.intercept)
	if err != nil || alone.Mixed() || alone.Predict(b).Mixture != "" {
		t.Errorf("with another loss: mixed %v, %v", alone.Mixed(), err)
	}
}

// TestModelReturnsTheServingArraysThatItWasMadeFrom: nothing of them is lost, so that the model can
// be stored again.
func TestModelReturnsTheServingArraysThatItWasMadeFrom(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		want := s.learnedOnce(t).last.Serving
		m, err := NewModel(want)
		if err != nil {
			t.Fatal(err)
		}
		sameState(t, s.name, State{Serving: m.Serving()}, State{Serving: want})
	})
}

// TestFeaturesMadeTogetherAreNotPruned: they need the others.
func TestFeaturesMadeTogetherAreNotPruned(t *testing.T) {
	all, few := prunedModel(t, Config{Algorithm: "all", Kernel: "arc-cosine:1", MaxFeatures: 64})
	if few != all {
		t.Errorf("%d of %d features are left", few.RandomFeatures(), all.RandomFeatures())
	}
}

// TestDamagedSelectionIsAnError: a selection comes from a file.
func TestDamagedSelectionIsAnError(t *testing.T) {
	_, few := prunedModel(t, Config{Algorithm: "dsg", MaxFeatures: 96, BlockSize: 12})
	for what, damage := range map[string]func(kept []byte) []byte{
		"cut short": func(k []byte) []byte { return k[1:] },
		"too long":  func(k []byte) []byte { return append(k, 0) },
		"empty":     func([]byte) []byte { return []byte{} },
		"one more":  func(k []byte) []byte { k[0] = 0xff; return k },
	} {
		arrays := few.Serving()
		for i, a := range arrays {
			if a.Name == "kept" {
				k := damage(bytes.Clone(a.Data.([]byte)))
				arrays[i].Data, arrays[i].Shape = k, [2]int{min(1, len(k)), len(k)}
			}
		}
		if _, err := NewModel(arrays); err == nil || !strings.Contains(err.Error(), "selection") && !strings.Contains(err.Error(), "coefficients") {
			t.Errorf("%s: %v", what, err)
		}
	}
	l, err := New(Config{Algorithm: "dsg", MaxFeatures: 96, BlockSize: 12})
	if err != nil {
		t.Fatal(err)
	}
	s := l.State()
	s.Serving = few.Serving()
	if _, err := Restore(l.config, s); err == nil || !strings.Contains(err.Error(), "pruned") {
		t.Errorf("a learner restored a pruned model: %v", err)
	}
}
