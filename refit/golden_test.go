package refit

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
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
	b := features.NewBank(features.Map{Kernel: features.Gaussian{Scale: 1}, Dim: dim, Seed: 2})
	b.Grow(4)
	wide, narrow := Features(b, 4, x, 0.5), Features(b, 1, x, 0)
	coefficients := func(a Matrix, targets []float64, l Loss, lambda, l1 float64) uint64 {
		f, err := Refit(context.Background(), Data{Features: a, Targets: targets}, Options{Loss: l, Lambda: lambda, L1: l1})
		if err != nil || !f.Reached {
			t.Fatalf("%+v, %v", f, err)
		}
		return digest(f.Coefficients)
	}
	learn, _ := RelatedTasks(1, 2, 20, 0, 4)
	m, _, err := LearnMetrics(context.Background(), learn, 4, MetricConfig{}, Config{Primal: 1, Dual: 4, Relative: 1e-2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"square", coefficients(wide, y, Square{}, 1e-2, 0), 0x5a5eaa9f6d52d240},
		{"square, by the normal equations", coefficients(narrow, y, Square{}, 1e-4, 0), 0x85867d75333c62b2},
		{"square with λ₁", coefficients(wide, y, Square{}, 1e-4, 1e-4), 0xa469825bcfaf16cf},
		{"smooth hinge", coefficients(wide, class, SmoothHinge{}, 1e-4, 0), 0x35f82010c11996df},
		{"logistic", coefficients(wide, class, Logistic{}, 1e-4, 0), 0x79d586d39206be65},
		{"metrics", digest(Transform(m.Of(1), 4)), 0xaec0f4d3e3dc02c6},
	} {
		if c.got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, c.got, c.want)
		}
	}
}
