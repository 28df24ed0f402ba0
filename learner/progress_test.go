package learner

import (
	"math"
	"testing"
)

// graded is what a row was predicted, and what it was.
type graded struct {
	y                  Label
	weight             float64
	model, naive, same float64 // errors
	loss               float64
}

// TestProgressAgreesWithPredictionsOneByOne computes the figures from the
// predictions that were handed out, in two passes and without tricks.
func TestProgressAgreesWithPredictionsOneByOne(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		many := 3000
		if s.config.Algorithm == "dsg" { // more than the longer window
			many = 13_500
		}
		rows := s.rows(many)
		l := newLearner(t, s.config)
		var all []graded
		counts := map[int]float64{}
		var last Label
		var sum, total float64
		for at := 0; at < rows.Len(); {
			p := l.Predict(rows.Slice(at, rows.Len()))
			for i := range p.Len() {
				y, w := rows.Label(at+i), rows.Weight(at+i)
				if y.Task == Auto {
					continue
				}
				if last.Task != Auto {
					g := graded{y: y, weight: w}
					g.loss, _ = p.Loss(i)
					if y.Task == Regression {
						g.model = math.Pow(p.Row(i)[0]-y.Value, 2)
						g.naive = math.Pow(sum/total-y.Value, 2)
						g.same = math.Pow(last.Value-y.Value, 2)
					} else {
						likely, most := 0, 0
						for c, v := range p.Row(i) {
							if v > p.Row(i)[likely] {
								likely = c
							}
							if counts[c] > counts[most] {
								most = c
							}
						}
						for c := range len(counts) {
							if counts[c] > counts[most] {
								most = c
							}
						}
						g.model, g.naive, g.same = is(likely != y.Class), is(most != y.Class), is(last.Class != y.Class)
					}
					all = append(all, g)
				}
				counts[y.Class] += w
				last = y
				sum += w * y.Value
				total += w
			}
			at += p.Len()
			l.Learn(p)
		}
		p := l.Progress()
		n := len(all)
		for _, test := range []struct {
			name string
			got  Scores
			rows []graded
		}{
			{"whole", p.Whole, all},
			{"recent", p.Recent, all[max(0, n-10_000-n%100):]},
			{"latest", p.Latest, all[n-1000-n%100:]},
		} {
			if test.got.Rows != int64(len(test.rows)) {
				t.Errorf("%s: %d rows, want %d", test.name, test.got.Rows, len(test.rows))
			}
			var w, mean, variance, model, naive, same, loss float64
			for _, g := range test.rows {
				w += g.weight
				mean += g.weight * g.y.Value
				model += g.weight * g.model
				naive += g.weight * g.naive
				same += g.weight * g.same
				loss += g.weight * g.loss
			}
			for _, g := range test.rows {
				variance += g.weight * (g.y.Value - mean/w) * (g.y.Value - mean/w)
			}
			scale := w
			if l.task == Regression {
				scale = variance
			}
			for _, f := range []struct {
				name      string
				got, want float64
			}{
				{"model", test.got.Model.Error, model / scale},
				{"majority", test.got.Majority.Error, naive / scale},
				{"no change", test.got.NoChange.Error, same / scale},
				{"loss", test.got.Model.Loss, loss / w},
			} {
				if math.Abs(f.got-f.want) > 1e-9*(1+f.want) {
					t.Errorf("%s, %s: %v, want %v", test.name, f.name, f.got, f.want)
				}
			}
		}
	})
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
