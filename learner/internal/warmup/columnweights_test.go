package warmup

import (
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/vec"
)

// TestSlopesAreSumsOverTheRows: those of every row, or of every third, are Σ k(i,l) α_l (x_l - x_i).
func TestSlopesAreSumsOverTheRows(t *testing.T) {
	s := curved(45, 3, 0.1)
	n, d := s.rows(), s.dim
	s.targets, s.y = 2, slices.Concat(s.y, s.y)
	kernel, a := s.distances(Ones(d)), []float64{0.5, 1, 1.5}
	alpha := [][]float64{s.y[:n], slices.Clone(s.y[:n])}
	slices.Reverse(alpha[1])
	for _, step := range []int{1, 3} {
		got, want := make([]float64, d), make([]float64, d)
		slopes := newSlopes(s)
		for i := 0; i < n; i += slopeRows * step {
			slopes.add(got, i, step, kernel, alpha, a)
		}
		for i := 0; i < n; i += step {
			for _, alpha := range alpha {
				for j := range d {
					sum := 0.0
					for l, v := range alpha {
						sum += kernel[max(i, l)*n+min(i, l)] * v * (s.x[l*d+j] - s.x[i*d+j]) * a[j]
					}
					want[j] += sum * sum
				}
			}
		}
		for j, v := range want {
			if math.Abs(got[j]-v) > 1e-9*v {
				t.Errorf("step %d, column %d: the squares of the slopes are %v, want %v", step, j, got[j], v)
			}
		}
	}
}

// TestTargetsAreSolvedForAsAlone with the bits of vec.CholeskySolve, however many there are.
func TestTargetsAreSolvedForAsAlone(t *testing.T) {
	for _, k := range []int{1, 2, 8, 9, 20} {
		s := sample{dim: 1, targets: k, x: make([]float64, 30), y: table(30*k, normal(0, 1))}
		n := s.rows()
		factor, alpha := make([]float64, n*n), make([][]float64, k)
		vec.Products(factor, table(n*n, normal(0, 1)), n)
		for i := range n {
			factor[i*n+i]++
		}
		if !vec.Cholesky(factor, n) {
			t.Fatal("not positive definite")
		}
		for c := range alpha {
			alpha[c] = make([]float64, n)
		}
		s.solve(alpha, factor)
		for c, got := range alpha {
			want := make([]float64, n)
			for i := range want {
				want[i] = s.y[i*k+c]
			}
			if vec.CholeskySolve(factor, n, want); !slices.Equal(got, want) {
				t.Errorf("%d targets: the solution for target %d is not that alone", k, c)
			}
		}
	}
}

// Columns that are constant or hidden have the mean weight of the others, which have the proportions
// that they would have alone. From the version Eighteenth on, the mean counts constant columns as 0.
func TestUnseenColumnsHaveTheMeanWeight(t *testing.T) {
	alone := curved(90, 3, 0.1)
	alone.version = Newest
	want := newColumnWeights(alone, weightings[0])
	with := alone
	with.dim, with.x = 6, nil
	for i := range alone.rows() {
		x := alone.x[i*3 : i*3+3]
		with.x = append(with.x, x[0], 7, x[1], hidden*x[0], x[2], -2)
	}
	for version, mean := range map[Version]float64{Seventeenth: 1, Eighteenth: 5. / 3} {
		with.version = version
		got := newColumnWeights(with, weightings[0])
		for j, w := range []float64{want[0], 1, want[1], 1, want[2], 1} {
			if w > minRoundWeight {
				w *= mean
			}
			if math.Abs(got[j]-w) > 1e-6*w {
				t.Errorf("version %d: column %d has the weight %v, want %v", version, j, got[j], w)
			}
		}
	}
	with.version = Fifteenth
	if before := newColumnWeights(with, weightings[0]); before[1] != minRoundWeight || before[0] < 1.9*want[0] {
		t.Errorf("in version 15 the weights are %v, with the others alone %v", before, want)
	}
}
