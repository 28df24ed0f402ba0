package vec

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// Key returns the key of the random generator for a purpose, a seed and an
// index: the tag, padded with zeros to 16 bytes, then seed and index in little
// endian. It panics if the tag is longer than 16 bytes.
func Key(tag string, seed, index uint64) (key [32]byte) {
	if copy(key[:16], tag) < len(tag) {
		panic("vec: a tag of more than 16 bytes")
	}
	binary.LittleEndian.PutUint64(key[16:], seed)
	binary.LittleEndian.PutUint64(key[24:], index)
	return key
}

// Normals is a sequence of independent standard normal numbers that depends on its key alone.
//
// Its 32-bit words are those of chacha8rand (C2SP; ChaCha8 of math/rand/v2), low half first. Eight
// words make eight numbers (Box and Muller 1958). For i = 0, 1, 2, 3, word i gives a radius and
// word i+4 an angle; number i is the cosine, and number i+4 the sine. The arithmetic is float32,
// with a rounding after every operation and none fused.
type Normals struct {
	words rand.ChaCha8
	key   [8]uint32 // used instead of words by implementations with their own ChaCha8
	rest  [refill]float32
	left  int // number of elements at the end of rest that are still to be returned
}

// refill is the number of words that chacha8rand generates with one key, and therefore the number
// of normals that are generated together.
const refill = 248

// NewNormals returns the sequence for key.
func NewNormals(key [32]byte) *Normals {
	n := new(Normals)
	n.Reset(key)
	return n
}

// Reset starts the sequence for another key.
func (n *Normals) Reset(key [32]byte) {
	n.words.Seed(key)
	for i := range n.key {
		n.key[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	n.left = 0
}

// Fill sets dst to the next numbers of the sequence.
func (n *Normals) Fill(dst []float32) {
	k := copy(dst, n.rest[refill-n.left:])
	n.left -= k
	dst = dst[k:]
	if whole := len(dst) / refill * refill; whole > 0 {
		active.normals(n, dst[:whole])
		dst = dst[whole:]
	}
	if len(dst) > 0 {
		active.normals(n, n.rest[:])
		n.left = refill - copy(dst, n.rest[:])
	}
}

// normalsGeneric fills dst, whose length is a multiple of refill.
func normalsGeneric(n *Normals, dst []float32) {
	for ; len(dst) > 0; dst = dst[8:] {
		z := (*[8]float32)(dst)
		a, b, c, d := n.words.Uint64(), n.words.Uint64(), n.words.Uint64(), n.words.Uint64()
		z[0], z[4] = boxMuller(uint32(a), uint32(c))
		z[1], z[5] = boxMuller(uint32(a>>32), uint32(c>>32))
		z[2], z[6] = boxMuller(uint32(b), uint32(d))
		z[3], z[7] = boxMuller(uint32(b>>32), uint32(d>>32))
	}
}

// -2 ln(1+y) = y*logarithm(y) for y in [-1/4, 1/2], lowest power first
var logarithm = [9]float32{-2, 1.000001311302185, -0.6666720509529114, 0.49986526370048523, -0.39951106905937195, 0.3364562690258026, -0.2999366521835327, 0.24183042347431183, -0.10851885378360748}

// boxMuller turns two words into two normals. The radius is the square root of
// -2 ln(u/2^32), with the last bit of u set, and the angle is v/2^32 turns, with
// v as a signed number. The largest radius is 6.66.
func boxMuller(u, v uint32) (float32, float32) {
	b := math.Float32bits(float32(u | 1))
	e := float32(int32(b>>23) - (127 + 32))
	m := math.Float32frombits(b&(1<<23-1) | 127<<23)
	if m >= 1.5 {
		m, e = m/2, e+1
	}
	y := m - 1
	l := logarithm[8]
	for k := 7; k >= 0; k-- {
		l = float32(l*y) + logarithm[k]
	}
	const ln2 = float32(math.Ln2)
	r := float32(math.Sqrt(float64(float32(l*y) + float32(e*(-2*ln2)))))

	r = flip(r, (v^v<<1)&(1<<31)) // further than a quarter turn
	t := float32(int32(v<<1)) * 0x1p-32
	q := float32(t * t)
	c, s := cosine[4], sine[4]
	for k := 3; k >= 0; k-- {
		c = float32(c*q) + cosine[k]
		s = float32(s*q) + sine[k]
	}
	return float32(c * r), float32(float32(s*t) * r)
}
