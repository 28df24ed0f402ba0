package vec

// Scratch is memory for one call at a time. Its zero value is ready.
type Scratch struct {
	tile tile
	f    []float32
	x    []float32              // of SumFew
	tall []float32              // of Gram
	wide []float32              // of Gram
	run  []float32              // features of a run and a panel of frequencies
	few  [8 * 2 * Group]float32 // features of eight groups
	dots [8 * 2 * 16]float32    // their chains
}

// chains is n float32 chains, all at +0.
func (s *Scratch) chains(n int) []float32 {
	if cap(s.f) < n {
		s.f = make([]float32, n)
	}
	f := s.f[:n]
	clear(f)
	return f
}

// features is memory for the features of a run of rows and a panel of frequencies.
func (s *Scratch) features() []float32 {
	if s.run == nil {
		s.run = make([]float32, Run*2*Panel)
	}
	return s.run
}

// sines is memory for the sines of a panel.
func (s *Scratch) sines() *float32 { return &s.tile.sin[0][0] }

// Sum adds the outputs of the first rows of a panel of rows x to dst,
// [outputs][Lanes]: the features of the packed frequencies w, of which the
// first begins a group, times their packed coefficients a. Other rows of dst
// are undefined afterwards.
func Sum(dst []float64, x, w, a []float32, dim, outputs, rows int, s *Scratch) {
	panels := check(x, w, dim)
	if panels == 0 {
		return
	}
	_, _, _ = dst[outputs*Lanes-1], a[panels*2*outputs*Panel-1], x[rows-1]
	use.sum(dst, x, w, a, dim, outputs, rows, s)
}

// SumPhases is Sum for phases in memory: t is [panels of frequencies][Panel][Lanes],
// and scale times t, rounded to float32, are the phases in half turns.
func SumPhases(dst []float64, scale float32, t, a []float32, outputs, rows int, s *Scratch) {
	panels := checkPhases(t)
	if panels == 0 {
		return
	}
	_, _ = dst[outputs*Lanes-1], a[panels*2*outputs*Panel-1]
	use.sumGiven(dst, scale, t, a, outputs, rows, s)
}

// GradientPhases is Gradient for phases in memory, like those of SumPhases.
func GradientPhases(acc []float32, scale float32, t, g []float32, outputs int, s *Scratch) {
	panels := checkPhases(t)
	if panels == 0 {
		return
	}
	_, _ = acc[panels*2*outputs*Panel*width-1], g[outputs*Lanes-1]
	use.gradientGiven(acc, scale, t, g, outputs, s)
}

// FeaturesPhases is Features for phases in memory, like those of SumPhases.
func FeaturesPhases(dst []float32, scale float32, t []float32, s *Scratch) {
	panels := checkPhases(t)
	if panels == 0 {
		return
	}
	_ = dst[panels*2*Panel*Lanes-1]
	use.featuresGiven(dst, scale, t, s)
}

func checkPhases(t []float32) int {
	if len(t)%(Panel*Lanes) != 0 {
		panic("vec: phases that are not whole panels")
	}
	return len(t) / (Panel * Lanes)
}

// Few is how many rows are better given to SumFew, one by one, than to Sum as a
// panel. It is 0 where SumFew has no implementation.
func Few() int {
	if use.few == nil {
		return 0
	}
	return 6
}

// SumFew sets dst, groups x outputs, to what each group of the frequencies w
// adds to the outputs of the row x, neither of them packed but for w: coef has
// a row of outputs for each feature, from the first one in w on, for as many as
// count. The sum of a column in order is what Sum adds.
func SumFew(dst []float64, x, w, coef []float32, dim, outputs int, s *Scratch) {
	m := len(coef) / (2 * outputs)
	if m == 0 {
		return
	}
	if dim < 1 || len(x) != dim || len(w) != Panels(m, Panel)*Panel*dim || len(coef) != 2*m*outputs {
		panic("vec: slices that do not fit together")
	}
	_ = dst[Panels(m, Group)*outputs-1]
	if cap(s.x) < dim {
		s.x = make([]float32, dim)
	}
	row := s.x[:dim]
	for k, v := range x {
		row[k] = confine(v)
	}
	use.few(dst, row, w, coef, dim, outputs, s)
}

// Gradient adds up to Run rows, panels x with the factors g, [panels][outputs][Lanes],
// to the chains acc of the packed frequencies w, [panels][Panel][2][outputs][16].
func Gradient(acc, x, w, g []float32, dim, outputs int, s *Scratch) {
	panels, n := check(x, w, dim), len(g)/(outputs*Lanes)
	if panels == 0 || n == 0 {
		return
	}
	if len(x) != n*Lanes*dim || len(g) != n*outputs*Lanes || n*Lanes > Run {
		panic("vec: Gradient of slices that do not fit together")
	}
	_ = acc[panels*2*outputs*Panel*width-1]
	use.gradient(acc, x, w, g, dim, outputs, s)
}

// Features writes the features of a panel of rows x and the packed frequencies
// w to dst, [panels][2][Panel][Lanes]: cosines, then sines.
func Features(dst, x, w []float32, dim int, s *Scratch) {
	panels := check(x, w, dim)
	if panels == 0 {
		return
	}
	_ = dst[panels*2*Panel*Lanes-1]
	use.features(dst, x, w, dim, s)
}

// check returns the number of panels in w. It panics where a kernel would read
// past the end.
func check(x, w []float32, dim int) int {
	if dim < 1 || len(x) < dim*Lanes || len(w)%(dim*Panel) != 0 {
		panic("vec: a panel that is not of the dimension given")
	}
	return len(w) / (dim * Panel)
}

// ChainsLen is the length of Gradient's acc for m packed frequencies, a
// multiple of Panel.
func ChainsLen(m, outputs int) int { return m * 2 * outputs * width }

// AddChains adds a run's chains for the frequencies from, from+1, ... to dst,
// whose rows 2j and 2j+1 are the cosine's and the sine's of frequency from+j,
// of outputs values each.
func AddChains(dst []float64, acc []float32, from, outputs int) {
	use.lanes(dst, acc[2*from*outputs*width:][:len(dst)*width])
}
