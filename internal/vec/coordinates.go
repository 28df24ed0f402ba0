package vec

// Coordinates are those in which a panel of rows has a number other than 0. The others change
// no bit of a chain, which is never -0. The zero value is all of them.
type Coordinates struct {
	list   []uint32 // 16 times each, in order; nil is all
	memory []uint32
}

// someOf is the least share of zeros, 1 in someOf, that makes up for reading a list.
const someOf = 8

// Set sets c to the coordinates of a panel of rows x, or to all of them where that takes less
// time.
func (c *Coordinates) Set(x []float32, dim int) {
	c.list = nil
	if active.nonzero == nil || dim < someOf {
		return
	}
	check(x, nil, dim)
	if cap(c.memory) < dim {
		c.memory = make([]uint32, dim)
	}
	if n := active.nonzero(c.memory[:dim], x, dim); n <= dim-dim/someOf {
		c.list = c.memory[:n]
	}
}

// Coordinates returns those of a panel of rows x, in memory of s, until the next call.
func (s *Scratch) Coordinates(x []float32, dim int) Coordinates {
	s.some.Set(x, dim)
	return s.some
}

// SumOf is Sum for rows of which only some coordinates are not 0.
func SumOf(dst []float64, x, w, a []float32, dim, scores, rows int, of Coordinates, s *Scratch) {
	if of.list == nil || scores == 1 || active.sumSome == nil {
		Sum(dst, x, w, a, dim, scores, rows, s)
		return
	}
	panels := check(x, w, dim)
	if panels == 0 {
		return
	}
	_, _ = dst[scores*Lanes-1], a[panels*2*scores*Panel-1]
	of.check(dim)
	active.sumSome(dst, x, w, a, of.list, dim, scores, s)
}

// FeaturesOf is Features for rows of which only some coordinates are not 0.
func FeaturesOf(dst, x, w []float32, dim int, of Coordinates, s *Scratch) {
	if of.list == nil || active.featuresSome == nil {
		Features(dst, x, w, dim, s)
		return
	}
	panels := check(x, w, dim)
	if panels == 0 {
		return
	}
	_ = dst[panels*2*Panel*Lanes-1]
	of.check(dim)
	active.featuresSome(dst, x, w, of.list, dim)
}

// check panics if c are not coordinates of rows of dim numbers.
func (c Coordinates) check(dim int) {
	if n := len(c.list); n > 0 && int(c.list[n-1]) >= 16*dim {
		panic("vec: coordinates of other rows")
	}
}
