package ranking

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Log loss, calibration error and the figures of each class are those of their
// definitions, summed up row by row.
func TestCalibrationIsThatOfItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	m := New(false)
	type row struct {
		p         []float64
		class     int
		predicted int
		weight    float64
	}
	var rows []row
	for i := range 3000 {
		p, sum := make([]float64, 3), 0.0
		for j := range p {
			p[j] = math.Exp(2 * rng.NormFloat64())
			sum += p[j]
		}
		for j := range p {
			p[j] /= sum
		}
		r := row{p: p, class: rng.IntN(3), predicted: rng.IntN(3), weight: []float64{1, 2, 0.5}[i%3]}
		if i%500 == 0 {
			r.class = 3 // new: it had no probability
		}
		rows = append(rows, r)
		m.Add(r.p, r.predicted, r.class, r.weight)
	}
	total, loss, e := 0.0, 0.0, 0.0
	for _, r := range rows {
		p := 1e-15
		if r.class < 3 {
			p = r.p[r.class]
		}
		total += r.weight
		loss -= r.weight * math.Log(p)
	}
	for b := range 15 {
		right, sure := 0.0, 0.0
		for _, r := range rows {
			top := max(r.p[0], r.p[1], r.p[2])
			if top*15 < float64(b) || top*15 >= float64(b+1) {
				continue
			}
			sure += r.weight * top
			if r.class < 3 && r.p[r.class] == top {
				right += r.weight
			}
		}
		e += math.Abs(right-sure) / total
	}
	f := m.Figures(0.9)
	if math.Abs(f.LogLoss-loss/total) > 1e-12 || math.Abs(f.CalibrationError-e) > 1e-12 || e < 0.1 {
		t.Errorf("log loss %v, calibration error %v, want %v and %v", f.LogLoss, f.CalibrationError, loss/total, e)
	}
	for j := range 4 {
		in, found, right := 0.0, 0.0, 0.0
		for _, r := range rows {
			if r.class == j {
				in += r.weight
			}
			if r.predicted == j {
				found += r.weight
			}
			if r.class == j && r.predicted == j {
				right += r.weight
			}
		}
		if got := f.Each[j].Recall; math.Abs(*got-right/in) > 1e-12 {
			t.Errorf("recall of class %d is %v, want %v", j, *got, right/in)
		}
		switch got := f.Each[j].Precision; {
		case j == 3 && got != nil:
			t.Errorf("class 3, which is never predicted, has the precision %v", *got)
		case j < 3 && math.Abs(*got-right/found) > 1e-12:
			t.Errorf("precision of class %d is %v, want %v", j, *got, right/found)
		}
	}
}
