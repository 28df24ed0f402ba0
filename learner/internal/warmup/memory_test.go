package warmup

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// TestMemoryOfOtherMatricesHasNoInfluence on a fit: it reads nothing that it has not written.
func TestMemoryOfOtherMatricesHasNoInfluence(t *testing.T) {
	const n, dim = 300, 3
	x := table(n*dim, normal(0, 1))
	labels := make([]target.Label, n)
	for i := range labels {
		labels[i] = target.Label{Task: target.Regression, Value: math.Sin(2*x[i*dim]) + x[i*dim+1]}
	}
	for _, name := range []string{"gaussian", "laplacian", "polynomial:2", "gaussian+laplacian"} {
		k, err := kernel.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, blocks := range []int{0, 4} {
			a := Request{Version: Newest, Task: target.Regression, Kernel: k, Weights: Ones(n), Scores: true}
			if a.Fixed.Blocks = blocks; blocks > 0 {
				a.Fixed.Map, a.Single = features.Map{Dim: dim, BlockSize: 16, Seed: 1}, true
			}
			fit := func(of float64) Fit {
				for range 100 {
					releaseMatrix(slices.Repeat([]float64{of}, n*n))
				}
				return NewFit(x, labels, dim, a)
			}
			if got, want := fit(math.NaN()), fit(0); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %d blocks of features: after matrices of NaN the fit is %+v, after those of 0 it is %+v", name, blocks, got, want)
			}
		}
	}
}
