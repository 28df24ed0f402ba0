package learner

import (
	"math"
	"testing"
)

// graded is what a row was predicted, and what it was.
type graded struct {
	value, weight      float64
	model, naive, same float64 // errors
	loss               float64
}

// TestProgressAgreesWithPredictionsOneByOne computes the figures from the
// predictions that were handed out, in two passes and without tricks.
func TestProgressAgreesWithPredictionsOneByOne(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		many := 1300
		if s.config.Algorithm == "ridge" && (s.name == "binary" || s.name == "regression") { // more than the longer window
			many = 13_500
		}
		rows := s.rows(many)
		l := newLearner(t, s.config)
		all := make([][]graded, s.config.targets()) // of each target
		counts := map[int]float64{}
		var last Label
		sum, total := make([]float64, len(all)), 0.0
		for at := 0; at < rows.Len(); {
			p := l.Predict(rows.Slice(at, rows.Len()))
			for i := range p.Len() {
				y, w := rows.Label(at+i), rows.Weight(at+i)
				if y.Task == Auto {
					continue
				}
				for j := range all {
					if last.Task == Auto {
						continue
					}
					g := graded{value: y.At(j), weight: w}
					g.loss, _ = p.Loss(i)
					switch {
					case y.Task == Novelty && p.Size == 0:
						continue // nothing has been predicted
					case y.Task == Novelty:
						g.model, g.loss = is(Novel(p.Row(i))), p.head.GradedLoss(p.scores(i), nil, y, j)
					case y.Task == Regression:
						g.model = math.Pow(p.Row(i)[j]-y.At(j), 2)
						g.naive = math.Pow(sum[j]/total-y.At(j), 2)
						g.same = math.Pow(last.At(j)-y.At(j), 2)
					default:
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
					all[j] = append(all[j], g)
				}
				counts[y.Class] += w
				last = y
				for j := range sum {
					sum[j] += w * y.At(j)
				}
				total += w
			}
			at += p.Len()
			l.Learn(p)
		}
		p := l.Progress()
		n := len(all[0])
		for _, test := range []struct {
			name string
			got  Scores
			from int
		}{
			{"whole", p.Whole, 0},
			{"recent", p.Recent, max(0, n-10_000-n%100)},
			{"latest", p.Latest, n - 1000 - n%100},
		} {
			if test.got.Rows != int64(n-test.from) {
				t.Errorf("%s: %d rows, want %d", test.name, test.got.Rows, n-test.from)
			}
			each := test.got.Each
			if each == nil {
				each = []Scores{test.got}
			}
			near := func(name string, got, want float64) {
				if math.Abs(got-want) > 1e-9*(1+want) {
					t.Errorf("%s, %s: %v, want %v", test.name, name, got, want)
				}
			}
			var sum [3]float64
			for j, rows := range all {
				errors, loss := figuresOf(rows[test.from:], l.head.Task)
				near("model", each[j].Model.Error, errors[0])
				near("majority", each[j].Majority.Error, errors[1])
				near("no change", each[j].NoChange.Error, errors[2])
				near("loss", test.got.Model.Loss, loss)
				for i, e := range errors {
					sum[i] += e / float64(len(all))
				}
			}
			near("model", test.got.Model.Error, sum[0])
			near("majority", test.got.Majority.Error, sum[1])
			near("no change", test.got.NoChange.Error, sum[2])
		}
	})
}

// figuresOf is the errors of the model and of two baselines, and the mean loss.
func figuresOf(rows []graded, task Task) (errors [3]float64, loss float64) {
	var w, mean, variance float64
	for _, g := range rows {
		w += g.weight
		mean += g.weight * g.value
		for i, e := range []float64{g.model, g.naive, g.same} {
			errors[i] += g.weight * e
		}
		loss += g.weight * g.loss
	}
	for _, g := range rows {
		variance += g.weight * (g.value - mean/w) * (g.value - mean/w)
	}
	scale := w
	if task == Regression {
		scale = variance
	}
	for i := range errors {
		errors[i] /= scale
	}
	return errors, loss / w
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
