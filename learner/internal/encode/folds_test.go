package encode

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// The statistics of a row are those of the rows of the other folds, by sums over them.
// Other columns, and what a row depends on besides, stay as they were.
func TestOutOfFoldStatisticsAreSumsOverTheOtherFolds(t *testing.T) {
	for _, task := range []target.Task{target.Classification, target.Regression} {
		x, types, labels, weights := all(task)
		e := NewPlan(types, x, labels, task)
		d, folds := len(types), 5
		causal := e.Rows(x, labels, weights)
		got := append([]float64(nil), causal...)
		e.OutOfFold(got, x, labels, weights, folds)
		at := 0
		for j := range e.columns {
			c := &e.columns[j]
			n := c.encoder().width(c, &e.prior)
			for i := range labels {
				for k := range n {
					v, want := got[i*e.width+at+k], causal[i*e.width+at+k]
					if c.kind == asStatistics {
						want = plainly(&e.prior, x, labels, weights, d, i, j, k, folds)
					}
					if c.kind != asDecayed && c.kind != asGrams && math.Abs(v-want) > 1e-9*max(1, math.Abs(want)) {
						t.Fatalf("%v: row %d, column %d, value %d is %v, want %v", task, i, j, k, v, want)
					}
				}
			}
			at += n
		}
		const row = 57
		labels[row].Class, labels[row].Value = (labels[row].Class+1)%3, labels[row].Value+1e3
		other := NewPlan(types, x, labels, task)
		again := other.Rows(x, labels, weights)
		other.OutOfFold(again, x, labels, weights, folds)
		for k := range e.width {
			if a, b := got[row*e.width+k], again[row*e.width+k]; a != b {
				t.Errorf("%v: value %d of row %d was %v and is %v with another label of its own", task, k, row, a, b)
			}
		}
	}
}

// plainly returns value k of the statistics of column j for row i.
func plainly(p *prior, x []float64, labels []target.Label, weights []float64, d, i, j, k, folds int) float64 {
	var n, sum, all, total float64
	for l := range labels {
		if l%folds == i%folds {
			continue
		}
		y := 0.0
		if k < len(p.sums) {
			y = p.target(&labels[l], k)
		}
		all, total = all+weights[l], total+weights[l]*y
		if a, b := x[l*d+j], x[i*d+j]; a == b || a != a && b != b {
			n, sum = n+weights[l], sum+weights[l]*y
		}
	}
	if k == len(p.sums) {
		return math.Log((n + 1) / (all + 1))
	}
	return (sum + smoothing*total/all) / (n + smoothing)
}
