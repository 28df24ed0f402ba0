package vec

import "math/rand/v2"

// Signs sets signs to random sign bits from the words of the chacha8rand sequence
// of key: bit b of word i becomes number 64i+b.
func Signs(signs []uint32, key [32]byte) {
	words := rand.NewChaCha8(key)
	for i := 0; i < len(signs); i += 64 {
		w := words.Uint64()
		for b := range min(64, len(signs)-i) {
			signs[i+b] = uint32(w>>b&1) << 31
		}
	}
}

// Orthogonal sets t, [n][Lanes], to H D₃ H D₂ H D₁ x for a panel of rows x, [dim][Lanes], padded
// with zeros. H is the Walsh-Hadamard transform of n, a power of two, with entries 1 and -1. The
// signs of the diagonal matrices are in signs, [3][n], starting with those of D₁. Divided by n, the
// matrix is the square root of n times an orthogonal one ("structured orthogonal random features",
// Yu et al. 2016).
//
// A transform consists of stages of sums and differences in float32, of rows that are 1, 2, 4, ...
// apart, in this order.
func Orthogonal(t, x []float32, signs []uint32, n, dim int) {
	if n < 1 || n&(n-1) != 0 || dim > n || len(t) != n*Lanes || len(x) != dim*Lanes || len(signs) != 3*n {
		panic("vec: Orthogonal of slices that do not fit together")
	}
	clear(t[copy(t, x):])
	for i := 0; i < 3*n; i += n {
		active.hadamard(t, signs[i:i+n])
	}
}

// Hadamard multiplies the rows of t, [n][Lanes], by the signs, and applies the transform of
// Orthogonal once.
func Hadamard(t []float32, signs []uint32) {
	if n := len(signs); n < 1 || n&(n-1) != 0 || len(t) != n*Lanes {
		panic("vec: Hadamard of slices that do not fit together")
	}
	active.hadamard(t, signs)
}

// hadamardGeneric multiplies the rows of t by signs and transforms it.
func hadamardGeneric(t []float32, signs []uint32) {
	for i, s := range signs {
		if s != 0 {
			row := (*[Lanes]float32)(t[i*Lanes:])
			for l, v := range row {
				row[l] = -v
			}
		}
	}
	for h := 1; h < len(signs); h *= 2 {
		for i := range signs {
			if i&h == 0 {
				a, b := (*[Lanes]float32)(t[i*Lanes:]), (*[Lanes]float32)(t[(i+h)*Lanes:])
				for l, u := range a {
					v := b[l]
					a[l], b[l] = u+v, u-v
				}
			}
		}
	}
}
