package ranking

import (
	"math"
	"math/rand/v2"
	"testing"
)

// example is a row of two classes for slow: its odds of class 1.
type example struct {
	p, weight float64
	rare      bool
}

// slow computes the figures of class 1 from their definitions, in O(n²).
func slow(rows []example, precision float64) (auc, average, best, recall float64) {
	in, pairs := 0.0, 0.0
	for _, a := range rows {
		if !a.rare {
			continue
		}
		in += a.weight
		for _, b := range rows {
			if b.rare {
				continue
			}
			w := a.weight * b.weight
			pairs += w
			switch {
			case a.p > b.p:
				auc += w
			case a.p == b.p:
				auc += w / 2
			}
		}
	}
	for _, a := range rows {
		hits, misses := 0.0, 0.0
		for _, b := range rows {
			if b.p >= a.p {
				if b.rare {
					hits += b.weight
				} else {
					misses += b.weight
				}
			}
		}
		if a.rare {
			average += a.weight * hits / (hits + misses) / in
		}
		p, r := hits/(hits+misses), hits/in
		if hits > 0 {
			best = max(best, 2*p*r/(p+r))
		}
		if p >= precision {
			recall = max(recall, r)
		}
	}
	return auc / pairs, average, best, recall
}

// draw returns rows of which about a share is rare, with probabilities that tell the
// classes apart in part. Those of steps > 0 have only that many values.
func draw(seed uint64, n, steps int, share float64) []example {
	r := rand.New(rand.NewPCG(seed, 0))
	rows := make([]example, n)
	for i := range rows {
		e := example{rare: r.Float64() < share || i == 0, weight: []float64{1, 1, 0.5, 3}[r.IntN(4)]}
		z := r.NormFloat64() - 3
		if e.rare {
			z += 2
		}
		e.p = 1 / (1 + math.Exp(-z))
		if steps > 0 {
			e.p = math.Round(e.p*float64(steps)) / float64(steps)
		}
		rows[i] = e
	}
	return rows
}

// meter returns a Meter of the rows; with swap, the rare class is class 0.
func meter(rows []example, exact, swap bool) *Meter {
	m := New(exact)
	for _, e := range rows {
		p, class := []float64{1 - e.p, e.p}, 0
		if e.rare {
			class = 1
		}
		if swap {
			p[0], p[1], class = p[1], p[0], 1-class
		}
		predicted := 0
		if p[1] > p[0] {
			predicted = 1
		}
		m.Add(p, predicted, class, e.weight)
	}
	return m
}

func TestFiguresAreThoseOfTheirDefinitions(t *testing.T) {
	for seed := range uint64(20) {
		steps := []int{0, 0, 16, 3}[seed%4]
		rows := draw(seed, 300, steps, 0.1)
		auc, average, best, recall := slow(rows, 0.6)
		for _, swap := range []bool{false, true} {
			f := meter(rows, true, swap).Figures(0.6)
			for name, pair := range map[string][2]float64{
				"AUC": {f.AUC, auc}, "PR-AUC": {f.PRAUC, average}, "best F1": {f.BestF1, best}, "recall": {f.Recall, recall},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-12 {
					t.Errorf("seed %d, swapped %v: %s is %v, want %v", seed, swap, name, pair[0], pair[1])
				}
			}
			if want := map[bool]int{false: 1, true: 0}[swap]; *f.Class != want {
				t.Errorf("seed %d: the rarer class is %d, want %d", seed, *f.Class, want)
			}
			if got := f1At(rows, *f.BestThreshold); math.Abs(got-best) > 1e-12 {
				t.Errorf("seed %d, swapped %v: F1 at the best threshold %v is %v, want %v", seed, swap, *f.BestThreshold, got, best)
			}
		}
	}
}

// f1At returns the F1 of a threshold, with a margin for its rounding.
func f1At(rows []example, threshold float64) float64 {
	hits, misses, lost := 0.0, 0.0, 0.0
	for _, e := range rows {
		switch found := e.p >= threshold*(1-1e-12); {
		case found && e.rare:
			hits += e.weight
		case found:
			misses += e.weight
		case e.rare:
			lost += e.weight
		}
	}
	return 2 * hits / (2*hits + misses + lost)
}

// The bound that the comment of Meter gives is that of its buckets.
func TestHistogramsAreWithinTheirBound(t *testing.T) {
	for seed := range uint64(10) {
		rows := draw(seed, 2000, 0, 0.05)
		want, m := meter(rows, true, false).Figures(0.5), meter(rows, false, false)
		got := m.Figures(0.5)
		in, out, same := 0.0, 0.0, 0.0
		for b, w := range m.classes[1].in {
			in, out, same = in+w, out+m.classes[1].out[b], same+w*m.classes[1].out[b]
		}
		if d := math.Abs(got.AUC - want.AUC); d > same/(in*out)/2+1e-12 || d > 0.003 {
			t.Errorf("seed %d: AUC %v, want %v within %v", seed, got.AUC, want.AUC, same/(in*out)/2)
		}
		if got.BestF1 > want.BestF1+1e-12 || got.BestF1 < want.BestF1-0.02 || got.Recall > want.Recall+1e-12 || math.Abs(got.PRAUC-want.PRAUC) > 0.02 {
			t.Errorf("seed %d: %+v, want %+v", seed, *got.Curve, *want.Curve)
		}
		if got.F1 != want.F1 || got.BalancedError != want.BalancedError {
			t.Errorf("seed %d: F1 %v and balanced error %v, want %v and %v", seed, got.F1, got.BalancedError, want.F1, want.BalancedError)
		}
	}
}

func TestEveryBucketBeginsAtItsEdge(t *testing.T) {
	for b := 1; b < Buckets; b++ {
		e := Edge(b)
		if Bucket(e) != b || Bucket(math.Nextafter(e, 0)) != b-1 {
			t.Fatalf("bucket %d: its edge %v is in bucket %d, and the number below it in %d", b, e, Bucket(e), Bucket(math.Nextafter(e, 0)))
		}
		if ratio := e / Edge(b-1); b > 1 && (ratio < 1.0078 || ratio > 1+1.0/64) {
			t.Fatalf("bucket %d: the ratio of its edges is %v", b, ratio)
		}
	}
	for odds, want := range map[float64]int{0: 0, -1: 0, math.NaN(): 0, 1e-300: 0, 1e300: Buckets - 1, math.Inf(1): Buckets - 1} {
		if got := Bucket(odds); got != want {
			t.Errorf("odds of %v are in bucket %d, want %d", odds, got, want)
		}
	}
}

// Predictions of three classes, the third of which is new in row 3.
func TestManyClassesAreMeansOfOneAgainstTheRest(t *testing.T) {
	m := New(true)
	m.Add([]float64{0.75, 0.25}, 0, 0, 1)
	m.Add([]float64{0.25, 0.75}, 1, 1, 1)
	m.Add([]float64{0.75, 0.25}, 0, 2, 1)
	m.Add([]float64{0.1, 0.1, 0.8}, 2, 2, 1)
	f := m.Figures(1)
	// Class 0: its row ties with one of three others. Class 1: above all. Class 2: one of
	// its rows is above the others, the other ties with both.
	if want := (2.5/3 + 1 + 0.75) / 3; math.Abs(f.AUC-want) > 1e-12 {
		t.Errorf("AUC is %v, want %v", f.AUC, want)
	}
	if want := (0 + 0 + 0.5) / 3; math.Abs(f.BalancedError-want) > 1e-12 {
		t.Errorf("balanced error is %v, want %v", f.BalancedError, want)
	}
	if want := (2.0/3 + 1 + 2.0/3) / 3; math.Abs(f.F1-want) > 1e-12 {
		t.Errorf("F1 is %v, want %v", f.F1, want)
	}
	if f.Class != nil || f.Classes != 3 || f.BestThreshold != nil || f.Imbalanced() {
		t.Errorf("%+v is not of three classes", f)
	}
}

// Beyond the rows and classes that a Meter keeps, it goes on with histograms, and then
// with counts.
func TestMemoryIsBounded(t *testing.T) {
	m := New(true)
	m.rows = make([]row, maxExact-1, maxExact)
	m.Add([]float64{0.5, 0.5}, 0, 0, 1)
	if m.exact || m.rows != nil || m.classes[1].in == nil {
		t.Errorf("%d rows are kept, exact %v", len(m.rows), m.exact)
	}
	for class := range maxCurves + 5 {
		p := make([]float64, class+1)
		p[0] = 1
		m.Add(p, 0, class, 1)
	}
	for j, c := range m.classes {
		if c.in != nil || c.out != nil {
			t.Errorf("class %d has a histogram", j)
		}
	}
	if f := m.Figures(0.9); f.Curve != nil || f.Classes != maxCurves+5 {
		t.Errorf("%+v", f)
	}
}

func TestNothingOfOneClass(t *testing.T) {
	m := New(false)
	if f := m.Figures(0.9); f != nil || f.Imbalanced() {
		t.Errorf("no rows: %+v", f)
	}
	m.Add([]float64{1}, 0, 0, 1)
	m.Add([]float64{1}, 0, 1, 0)
	m.Add([]float64{1}, 0, 1, math.NaN())
	if f := m.Figures(0.9); f != nil {
		t.Errorf("one class: %+v", f)
	}
}
