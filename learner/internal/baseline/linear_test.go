package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// offline is the ridge solution that gonum finds for all rows at once: one row
// of dim+1 weights for each output, the intercept last and free.
func offline(x []float32, targets, weights []float64, dim, scores int) *mat.Dense {
	rows := len(weights)
	z, y := mat.NewDense(rows, dim+1, nil), mat.NewDense(rows, scores, nil)
	for i, w := range weights {
		r := math.Sqrt(w)
		for j := range dim {
			z.Set(i, j, r*float64(x[i*dim+j]))
		}
		z.Set(i, dim, r)
		for k := range scores {
			y.Set(i, k, r*targets[i*scores+k])
		}
	}
	var gram, moment, w mat.Dense
	gram.Mul(z.T(), z)
	for j := range dim {
		gram.Set(j, j, gram.At(j, j)+ridgePenalty)
	}
	moment.Mul(z.T(), y)
	if err := w.Solve(&gram, &moment); err != nil {
		panic(err)
	}
	return &w
}

// linearData is rows of correlated inputs, and targets that depend on them.
func linearData(rows, dim, scores int) (x []float32, targets, weights []float64) {
	rng := rand.New(rand.NewPCG(uint64(dim), 2))
	slope := make([]float64, dim*scores)
	for i := range slope {
		slope[i] = rng.NormFloat64() / math.Sqrt(float64(dim))
	}
	for range rows {
		common := rng.NormFloat64()
		for range dim {
			x = append(x, float32(0.5*common+rng.NormFloat64()))
		}
		for k := range scores {
			y := 0.3 + 0.5*rng.NormFloat64()
			for j, v := range x[len(x)-dim:] {
				y += slope[k*dim+j] * float64(v)
			}
			targets = append(targets, y)
		}
		weights = append(weights, 0.1+rng.Float64())
	}
	return x, targets, weights
}

func TestLinearIsTheRidgeSolution(t *testing.T) {
	for _, dim := range []int{1, 7, 60, maxRidgeInputs} {
		const scores = 2
		rows := 4*dim + 50
		x, targets, weights := linearData(rows, dim, scores)
		l := NewLinear(warmup.Ones(dim), scores)
		for i, w := range weights {
			l.Add(x[i*dim:(i+1)*dim], targets[i*scores:(i+1)*scores], w)
		}
		l.End()
		want := offline(x, targets, weights, dim, scores)
		for k := range scores {
			for j := range dim + 1 {
				if got := l.w[k*(dim+1)+j]; math.Abs(got-want.At(j, k)) > 1e-9 {
					t.Fatalf("dim %d: weight %d of output %d is %v, offline %v", dim, j, k, got, want.At(j, k))
				}
			}
		}
	}
}

// TestLinearIsWithinFivePercentOfTheOfflineRidge compares squared errors on rows
// to come, after a stream of mini-batches: the stale solution of the normal
// equations, and AdaGrad above the limit.
func TestLinearIsWithinFivePercentOfTheOfflineRidge(t *testing.T) {
	for _, dim := range []int{5, 100, maxRidgeInputs + 1} {
		rows := 100 * dim
		if dim > maxRidgeInputs {
			rows = 12_000
		}
		x, targets, weights := linearData(rows+1000, dim, 1)
		l := NewLinear(warmup.Ones(dim), 1)
		for i := range rows {
			l.Add(x[i*dim:(i+1)*dim], targets[i:i+1], weights[i])
			if i%128 == 127 {
				l.End()
			}
		}
		want := offline(x[:rows*dim], targets[:rows], weights[:rows], dim, 1)
		var ours, theirs float64
		f := make([]float64, 1)
		for i := rows; i < rows+1000; i++ {
			l.Predict(f, x[i*dim:(i+1)*dim])
			ours += (f[0] - targets[i]) * (f[0] - targets[i])
			y := want.At(dim, 0)
			for j := range dim {
				y += want.At(j, 0) * float64(x[i*dim+j])
			}
			theirs += (y - targets[i]) * (y - targets[i])
		}
		if ours > 1.05*theirs {
			t.Errorf("dim %d: squared error %v, offline %v", dim, ours/1000, theirs/1000)
		}
	}
}

// TestLinearWidensAsIfTheClassHadAlwaysBeen: the classes that come later were
// wrong for each row before them.
func TestLinearWidensAsIfTheClassHadAlwaysBeen(t *testing.T) {
	const dim, rows = 4, 200
	x, _, weights := linearData(rows, dim, 1)
	class := func(i int) int { return min(i/50, i%4) }
	target := func(i, scores int) []float64 {
		t := make([]float64, scores)
		for k := range t {
			t[k] = -1
			if class(i) == k && scores > 1 || scores == 1 && class(i) == 1 {
				t[k] = 1
			}
		}
		return t
	}
	grown, whole := NewLinear(warmup.Ones(dim), 1), NewLinear(warmup.Ones(dim), 4)
	for i := range rows {
		if need := class(i) + 1; need > 2 {
			for k := max(3, grown.Targets+1); k <= need; k++ {
				grown.Widen(k)
			}
		}
		grown.Add(x[i*dim:(i+1)*dim], target(i, grown.Targets), weights[i])
		whole.Add(x[i*dim:(i+1)*dim], target(i, 4), weights[i])
	}
	grown.End()
	whole.End()
	for i := range whole.w {
		if math.Abs(grown.w[i]-whole.w[i]) > 1e-9 {
			t.Fatalf("weight %d is %v, with all classes from the start %v", i, grown.w[i], whole.w[i])
		}
	}
}

// However many scores there are, each is the sum of its own coefficients times the row, in order.
func TestPredictionsAreSumsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const dim = 7
	x := make([]float32, dim)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	for scores := range 10 {
		l := NewLinear(warmup.Ones(dim), scores)
		for i := range l.w {
			l.w[i] = r.NormFloat64()
		}
		got := make([]float64, scores)
		l.Predict(got, x)
		for k, f := range got {
			want := l.w[k*(dim+1)+dim]
			for i, v := range x {
				want += float64(l.w[k*(dim+1)+i] * float64(v))
			}
			if f != want {
				t.Errorf("%d scores: score %d is %v, want %v", scores, k, f, want)
			}
		}
	}
}
