package vec

// Scratch is memory for one call at a time. The zero value is ready to use.
type Scratch struct {
	tile tile
	sums []float32
	row  []float32 // for SumRow
	tall []float32 // of Gram
	wide []float32 // of Gram
	run  []float32 // features of a run and a panel of frequencies

	some   Coordinates
	phases [Group * Lanes]float32 // for Gram, SumOf and FeaturesOf

	rowFeatures [8 * 2 * Group]float32 // for eight groups
	rowSums     [8 * 2 * 16]float32    // chains of these groups
}

// chains returns n float32 chains, all at +0.
func (s *Scratch) chains(n int) []float32 {
	if cap(s.sums) < n {
		s.sums = make([]float32, n)
	}
	f := s.sums[:n]
	clear(f)
	return f
}

// features returns memory for the features of a run of rows and a panel of frequencies.
func (s *Scratch) features() []float32 {
	if s.run == nil {
		s.run = make([]float32, Run*2*Panel)
	}
	return s.run
}

// sines returns memory for the sines of a panel.
func (s *Scratch) sines() *float32 { return &s.tile.sin[0][0] }

// Sum adds the sums of the features times their packed coefficients a to dst, [scores][Lanes]. It
// does so for the first rows of a panel of rows x; the other rows of dst are undefined afterwards.
// w are packed frequencies, the first of which begins a group.
func Sum(dst []float64, x, w, a []float32, dim, scores, rows int, s *Scratch) {
	panels := check(x, w, dim)
	if panels == 0 {
		return
	}
	_, _, _ = dst[scores*Lanes-1], a[panels*2*scores*Panel-1], x[rows-1]
	active.sum(dst, x, w, a, dim, scores, rows, s)
}

// SumPhases is Sum with phases in memory: t is [panels of frequencies][Panel][Lanes], and the
// phases in half turns are scale times t, rounded to float32.
func SumPhases(dst []float64, scale float32, t, a []float32, scores, rows int, s *Scratch) {
	panels := checkPhases(t)
	if panels == 0 {
		return
	}
	_, _ = dst[scores*Lanes-1], a[panels*2*scores*Panel-1]
	active.sumPhases(dst, scale, t, a, scores, rows, s)
}

// GradientPhases is Gradient with phases in memory, as in SumPhases.
func GradientPhases(acc []float32, scale float32, t, g []float32, scores int, s *Scratch) {
	panels := checkPhases(t)
	if panels == 0 {
		return
	}
	_, _ = acc[panels*2*scores*Panel*width-1], g[scores*Lanes-1]
	active.gradientPhases(acc, scale, t, g, scores, s)
}

// FeaturesPhases is Features with phases in memory, as in SumPhases.
func FeaturesPhases(dst []float32, scale float32, t []float32, s *Scratch) {
	panels := checkPhases(t)
	if panels == 0 {
		return
	}
	_ = dst[panels*2*Panel*Lanes-1]
	active.featuresPhases(dst, scale, t, s)
}

func checkPhases(t []float32) int {
	if len(t)%(Panel*Lanes) != 0 {
		panic("vec: phases that are not whole panels")
	}
	return len(t) / (Panel * Lanes)
}

// MaxSumRows returns the number of rows up to which calling SumRow for each row takes less time
// than calling Sum for a panel. It is 0 if SumRow has no implementation.
func MaxSumRows() int {
	if active.sumRow == nil {
		return 0
	}
	return 6
}

// SumRow sets dst, groups x scores, to the sums over each group of the packed frequencies w, for
// one row x. x and coef are not packed. coef has a row of scores for each feature, starting with
// the first one in w; it may cover only a part of w. The sum of a column of dst, in order, is what
// Sum adds.
func SumRow(dst []float64, x, w, coef []float32, dim, scores int, s *Scratch) {
	m := len(coef) / (2 * scores)
	if m == 0 {
		return
	}
	if dim < 1 || len(x) != dim || len(w) != Panels(m, Panel)*Panel*dim || len(coef) != 2*m*scores {
		panic("vec: slices that do not fit together")
	}
	_ = dst[Panels(m, Group)*scores-1]
	if cap(s.row) < dim {
		s.row = make([]float32, dim)
	}
	row := s.row[:dim]
	for k, v := range x {
		row[k] = clamp(v)
	}
	active.sumRow(dst, row, w, coef, dim, scores, s)
}

// Gradient adds the features of up to Run rows, which are panels x, times their factors g,
// [panels][scores][Lanes], to the chains acc of the packed frequencies w. acc is
// [panels][Panel][2][scores][16].
func Gradient(acc, x, w, g []float32, dim, scores int, s *Scratch) {
	panels, n := check(x, w, dim), len(g)/(scores*Lanes)
	if panels == 0 || n == 0 {
		return
	}
	if len(x) != n*Lanes*dim || len(g) != n*scores*Lanes || n*Lanes > Run {
		panic("vec: Gradient of slices that do not fit together")
	}
	_ = acc[panels*2*scores*Panel*width-1]
	active.gradient(acc, x, w, g, dim, scores, s)
}

// Features writes the features of a panel of rows x and the packed frequencies
// w to dst, [panels][2][Panel][Lanes]: cosines, then sines.
func Features(dst, x, w []float32, dim int, s *Scratch) {
	panels := check(x, w, dim)
	if panels == 0 {
		return
	}
	_ = dst[panels*2*Panel*Lanes-1]
	active.features(dst, x, w, dim, s)
}

// check returns the number of panels in w. It panics if the loops would read
// past the end of a slice.
func check(x, w []float32, dim int) int {
	if dim < 1 || len(x) < dim*Lanes || len(w)%(dim*Panel) != 0 {
		panic("vec: a panel that is not of the dimension given")
	}
	return len(w) / (dim * Panel)
}

// ChainsLen returns the length of Gradient's acc for m packed frequencies, a
// multiple of Panel.
func ChainsLen(m, scores int) int { return m * 2 * scores * width }

// AddChains adds the chains of a run for the frequencies from, from+1, ... to dst. The rows 2j and
// 2j+1 of dst have scores values each, and belong to the cosine and the sine of frequency from+j.
func AddChains(dst []float64, acc []float32, from, scores int) {
	active.addChains(dst, acc[2*from*scores*width:][:len(dst)*width])
}
