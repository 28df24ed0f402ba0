package vec

import "math"

// The polynomials of the definition: cos pi r and (sin pi r) / r in s = r*r,
// for r in [-1/2, 1/2], lowest power first.
var (
	cosine = [5]float32{1, -4.934795379638672, 4.05844783782959, -1.3320683240890503, 0.2200242131948471}
	sine   = [5]float32{3.141592502593994, -5.1677021980285645, 2.549957752227783, -0.597625195980072, 0.07643289119005203}
)

// Polynomials returns the polynomials of the definition, for other implementations of it: cos pi r
// and (sin pi r) / r in r*r, for r in [-1/2, 1/2], lowest power first.
func Polynomials() (cos, sin [5]float32) { return cosine, sine }

func sumGeneric(dst []float64, x, w, a []float32, dim, scores, rows int, s *Scratch) {
	size := Panel * dim
	sumPanels(dst, a, len(w)/size, scores, rows, s, func(p int) { s.tile.features(x, w[p*size:(p+1)*size], dim, rows) })
}

func sumPhasesGeneric(dst []float64, scale float32, t, a []float32, scores, rows int, s *Scratch) {
	sumPanels(dst, a, len(t)/(Panel*Lanes), scores, rows, s, func(p int) { s.tile.fromPhases(scale, t[p*Panel*Lanes:], rows) })
}

// sumPanels is Sum for features from any source: features puts those of panel p into the tile.
func sumPanels(dst []float64, a []float32, panels, scores, rows int, s *Scratch, features func(p int)) {
	const perGroup = Group / Panel
	for p := 0; p < panels; p += perGroup {
		f := s.chains(2 * scores * Lanes)
		for q := p; q < min(p+perGroup, panels); q++ {
			features(q)
			aq := a[q*2*scores*Panel:]
			for c := range scores {
				dot(f[c*Lanes:], &s.tile.cos, aq[c*Panel:], rows)
				dot(f[(scores+c)*Lanes:], &s.tile.sin, aq[(scores+c)*Panel:], rows)
			}
		}
		for c := range scores {
			for i := range rows {
				dst[c*Lanes+i] += float64(f[c*Lanes+i]) + float64(f[(scores+c)*Lanes+i])
			}
		}
	}
}

func gradientGeneric(acc, x, w, g []float32, dim, scores int, s *Scratch) {
	size := Panel * dim
	for p := range len(w) / size {
		for i := range len(g) / (scores * Lanes) {
			s.tile.features(x[i*Lanes*dim:], w[p*size:(p+1)*size], dim, Lanes)
			s.tile.spread(acc[p*2*scores*Panel*width:], g[i*scores*Lanes:], scores)
		}
	}
}

func gradientPhasesGeneric(acc []float32, scale float32, t, g []float32, scores int, s *Scratch) {
	for p := range len(t) / (Panel * Lanes) {
		s.tile.fromPhases(scale, t[p*Panel*Lanes:], Lanes)
		s.tile.spread(acc[p*2*scores*Panel*width:], g, scores)
	}
}

func featuresGeneric(dst, x, w []float32, dim int, s *Scratch) {
	size := Panel * dim
	for p := range len(w) / size {
		s.tile.features(x, w[p*size:(p+1)*size], dim, Lanes)
		s.tile.store(dst[p*2*Panel*Lanes:])
	}
}

func featuresPhasesGeneric(dst []float32, scale float32, t []float32, s *Scratch) {
	for p := range len(t) / (Panel * Lanes) {
		s.tile.fromPhases(scale, t[p*Panel*Lanes:], Lanes)
		s.tile.store(dst[p*2*Panel*Lanes:])
	}
}

// addChainsGeneric adds the sum of the lanes 16i to 16i+15 to dst[i]. It adds the two halves first.
func addChainsGeneric(dst []float64, acc []float32) {
	for i := range dst {
		l := (*[width]float32)(acc[width*i:])
		var v [width / 2]float64
		for i := range v {
			v[i] = float64(l[i]) + float64(l[i+width/2])
		}
		a, b, c, d := v[0]+v[4], v[1]+v[5], v[2]+v[6], v[3]+v[7]
		dst[i] += (a + c) + (b + d)
	}
}

// FMA returns x*y + z with one rounding, as hardware does, for subnormal results,
// signed zeros, infinities and NaNs as well.
//
// The product of two float32 is exact in float64, and only the sum is rounded
// twice, to 53 bits and to 24. That differs from rounding once if the first
// rounding ends exactly half way between two float32.
func FMA(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	s := p + float64(z)
	if isTie(s) || s > -0x1p-126 && s < 0x1p-126 {
		s = roundToOdd(p, float64(z), s)
	}
	return float32(s)
}

// isTie reports whether s lies half way between two float32 that are normal. In loops over float64
// that hold float32 values and have no subnormal results, FMA is written out: s = x*y + z,
// roundToOdd if isTie(s), then float64(float32(s)). (A function that does all three is too large
// for the compiler to inline.)
func isTie(s float64) bool { return math.Float64bits(s)<<35 == 1<<63 }

// roundToOdd moves s, the rounded sum of p and z, off a tie towards the exact sum: if the sum was
// not exact, to the neighbour with an odd significand ("rounding to odd", Boldo and Melquiond
// 2008). The next rounding then goes in the right direction.
func roundToOdd(p, z, s float64) float64 {
	v := s - p
	e := (p - (s - v)) + (z - v) // the rounding error of s, exactly (Knuth)
	b := math.Float64bits(s)
	if e == 0 || b&1 == 1 || e != e {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}
