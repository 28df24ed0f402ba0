package learner_test

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/test/datasets"
)

// noveltySet is the rows of a data set with a class in normal, and one in every few of
// the others as novelties, beginning with a third of the file.
func noveltySet(t *testing.T, name string, normal []float64, every, third int) []novelRow {
	s := datasets.Load(t, name)
	n, others := len(s.Y), 0
	var rows []novelRow
	for i := range n {
		at := (i + n*third/3) % n
		novel := !slices.Contains(normal, s.Y[at])
		if novel {
			if others++; (others-1)%every != 0 {
				continue
			}
		}
		rows = append(rows, novelRow{s.X[at*s.Dim : (at+1)*s.Dim], novel})
	}
	return rows
}

// The AUC on the second half of a stream is at most 0.02 below that of a batch one-class
// support vector machine, which is scikit-learn 1.9.1's OneClassSVM(gamma="scale") on the
// standardised first half, and is applied to the second. After a drift, from other
// classes that were normal, the first 2,048 rows since, a window, take the place of the
// first half.
// With -orders 3 it is the mean of three orders that counts, for each ν.
func TestNoveltyOnDataSetsIsAsGoodAsABatchSolver(t *testing.T) {
	thirds := 1
	if flag.Lookup("orders").Value.String() == "3" {
		thirds = 3
	}
	for _, s := range []struct {
		name, set      string
		before, normal []float64
		every          int
		batch          [3][3]float64 // of each order, for each ν
	}{
		{"spam", "spam.train", nil, []float64{0}, 12, [3][3]float64{{0.7497, 0.7526, 0.7610}, {0.7941, 0.7957, 0.8102}, {0.7523, 0.7586, 0.7690}}},
		{"letter", "letter.train", nil, []float64{0, 1, 2, 3, 4}, 80, [3][3]float64{{0.5928, 0.6155, 0.6270}, {0.6808, 0.7077, 0.7192}, {0.6839, 0.7165, 0.7443}}},
		{"drift", "letter.train", []float64{0, 1, 2, 3, 4}, []float64{5, 6, 7, 8, 9}, 80, [3][3]float64{{0.6285, 0.6437, 0.6560}, {0.7338, 0.7432, 0.7549}, {0.6522, 0.6765, 0.6824}}},
	} {
		t.Run(s.name, func(t *testing.T) {
			for j, nu := range []float64{0.05, 0.1, 0.2} {
				if thirds == 1 && nu != 0.1 {
					continue
				}
				mean, batch, rate, all := 0.0, 0.0, 0.0, ""
				for third := range thirds {
					rows := noveltySet(t, s.set, s.normal, s.every, third)
					from := len(rows) / 2
					if s.before != nil {
						earlier := noveltySet(t, s.set, s.before, s.every, third)
						from = len(earlier) + 2048
						rows = append(earlier, rows...)
					}
					d := detect(t, learner.Config{Nu: nu}, rows, from)
					mean += d.auc() / float64(thirds)
					rate += d.rate() / float64(thirds)
					batch += s.batch[third][j] / float64(thirds)
					all += fmt.Sprintf(" %.4f (batch %.4f, rate %.4f)", d.auc(), s.batch[third][j], d.rate())
				}
				t.Logf("nu %v: AUC %.4f, batch %.4f, rate %.4f:%s", nu, mean, batch, rate, all)
				if mean < batch-0.02 {
					t.Errorf("nu %v: AUC %.4f, of the batch solver %.4f", nu, mean, batch)
				}
				if math.Abs(rate-nu) > 0.02 {
					t.Errorf("nu %v: %.4f of the rows are flagged", nu, rate)
				}
			}
		})
	}
}
