package features

import (
	"math"
	"math/bits"

	"github.com/accrete-ml/accrete/features/kernel/random"
	"github.com/accrete-ml/accrete/internal/vec"
)

// fastfood is the structure of Fastfood, S H G Π H B / Scale (Le, Sarlós and Smola 2013), with n
// the least power of two that is not below Dim: B has random signs, Π permutes, G has normal
// numbers on the diagonal, and S makes each row as long as a normal vector of n numbers. The words
// of a transform are n signs, the permutation as n indices, and the bits of the n float32 of G and
// of the n of S.
var fastfood = structure{words: 4, draw: Map.fastfoodWords, apply: fastfoodTransform, unit: func(int) float64 { return 1 }}

func (m Map) fastfoodWords(words []uint32, transform int) {
	n := len(words) / 4
	m.signs(words[:n], transform)
	s := random.New(m.Seed, uint64(transform))
	order := words[n : 2*n]
	for i := range order {
		order[i] = uint32(i)
	}
	for i := n - 1; i > 0; i-- {
		j, _ := bits.Mul64(s.Uint64(), uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	g := make([]float32, n)
	s.FillNormal(g)
	square := 0.0
	for i, v := range g {
		words[2*n+i] = math.Float32bits(v)
		square += float64(float64(v) * float64(v))
	}
	unit := 1 / math.Sqrt(max(square, 0x1p-80)*float64(n))
	for i := range n {
		words[3*n+i] = math.Float32bits(float32(math.Sqrt(2*s.Gamma(float64(n)/2)) * unit))
	}
}

// fastfoodTransform sets t, [n][Lanes], to the products with a panel of rows x,
// [dim][Lanes].
func fastfoodTransform(t, x []float32, words []uint32, n, dim int) {
	const lanes = vec.Lanes
	first := make([]float32, n*lanes)
	copy(first, x[:dim*lanes])
	vec.Hadamard(first, words[:n])
	for i, from := range words[n : 2*n] {
		g := math.Float32frombits(words[2*n+i])
		for l, v := range first[int(from)*lanes : (int(from)+1)*lanes] {
			t[i*lanes+l] = float32(v * g)
		}
	}
	vec.Hadamard(t, make([]uint32, n))
	for i, v := range words[3*n:] {
		s := math.Float32frombits(v)
		for l := range lanes {
			t[i*lanes+l] = float32(t[i*lanes+l] * s)
		}
	}
}
