package refit

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"

	randomfeatures "github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// digest is FNV-1a of the bits.
func digest(x []float64) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, v := range x {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		h.Write(b[:])
	}
	return h.Sum64()
}

// TestBitsAreGolden holds what may become part of a model to the bit, on every
// machine: a value here changes when the format of models does.
func TestBitsAreGolden(t *testing.T) {
	const rows, dim = 200, 3
	x, noise := make([]float32, rows*dim), make([]float32, rows)
	normals := vec.NewNormals(vec.Key("golden rows", 1, 0))
	normals.Fill(x)
	normals.Fill(noise)
	y, class := make([]float64, rows), make([]float64, rows)
	for i := range y {
		y[i] = vec.Sin(2*float64(x[3*i])) + float64(noise[i])/8
		class[i] = math.Copysign(1, y[i])
	}
	b := randomfeatures.NewBank(randomfeatures.Map{Kernel: kernel.Gaussian{Scale: 1}, Dim: dim, Seed: 2})
	b.Grow(4)
	wide, narrow := features(b, 4, x, 0.5), features(b, 1, x, 0)
	coefficients := func(a *matrix.Float32, targets []float64, l loss.Dual, lambda float64) uint64 {
		f, err := fitScores(context.Background(), newExamples(a, targets, 1, nil), l, Options{Lambda: lambda}, nil)
		if err != nil || !f.Reached {
			t.Fatalf("%+v, %v", f, err)
		}
		return digest(f.Coefficients)
	}
	sparse := &optim.Problem{A: wide, Targets: y, Loss: loss.Square{}, L2: 1e-4, L1: 1e-4}
	_, columns := wide.Dims()
	scale, _ := optim.Scale(wide, columns, 1)
	s, err := optim.Solve(context.Background(), sparse, optim.Config{Scale: scale / 2, Relative: 1e-3, Passes: 100, Shuffle: true}, optim.Start{X: make([]float64, columns)})
	if err != nil || !s.Reached {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"square", coefficients(wide, y, loss.Square{}, 1e-2), 0x5a5eaa9f6d52d240},
		{"square, by the normal equations", coefficients(narrow, y, loss.Square{}, 1e-4), 0x85867d75333c62b2},
		{"square with λ₁", digest(s.X), 0xa469825bcfaf16cf},
		{"smoothed hinge", coefficients(wide, class, loss.SmoothedHinge{}, 1e-4), 0x35f82010c11996df},
		{"logistic", coefficients(wide, class, loss.Logistic{}, 1e-4), 0x79d586d39206be65},
	} {
		if c.got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, c.got, c.want)
		}
	}
}
