package vec

import "math"

// Coordinates are those in which a panel of rows has a number other than 0. The others change
// no bit of a chain, which is never -0. The zero value is all of them.
type Coordinates struct {
	list   []uint32 // 16 times each, in order; nil is all
	memory []uint32
	few    rowCoordinates
}

// rowCoordinates are the numbers of each row other than 0, in order, where it has few, and then 0.
// They are empty if a row has more.
type rowCoordinates []rowNumbers

// rowNumbers is a number of each row of a panel.
type rowNumbers struct {
	at [Lanes]uint32 // 48 times its coordinate: the place of its column in a panel of frequencies
	v  [Lanes]float32
}

const (
	// someOf is the least share of zeros, 1 in someOf, that makes up for reading a list.
	someOf = 8

	// A row has few numbers if they are less than fewOf in fewIn of the list of its panel, and
	// fewLess for the transposition. By BenchmarkCoordinates half of the list would do on a Zen 4 and
	// more with AVX2; processors with wider units for AVX-512 than a Zen 4 gain less.
	fewOf, fewIn, fewLess = 3, 8, 3
)

// Set sets c to the coordinates of a panel of rows x, or to all of them where that takes less
// time.
func (c *Coordinates) Set(x []float32, dim int) {
	c.list, c.few = nil, c.few[:0]
	if active.nonzero == nil || dim < someOf {
		return
	}
	check(x, nil, dim)
	if cap(c.memory) < dim {
		c.memory = make([]uint32, dim)
	}
	if n := active.nonzero(c.memory[:dim], x, dim); n <= dim-dim/someOf {
		c.list = c.memory[:n]
		if active.few != nil {
			c.few = c.few.set(x, c.list)
		}
	}
}

// set returns those of the rows x, of which the list has all, in the memory of f.
func (f rowCoordinates) set(x []float32, list []uint32) rowCoordinates {
	var counts [Lanes]int
	most := len(list)*fewOf/fewIn - fewLess
	f = f[:0]
	for _, k := range list {
		for i, v := range x[k*(Lanes/16):][:Lanes] {
			if math.Float32bits(v) == 0 {
				continue
			}
			n := counts[i]
			if n >= most {
				return f[:0]
			}
			if n == len(f) {
				f = append(f, rowNumbers{})
			}
			f[n].at[i], f[n].v[i] = 3*k, v
			counts[i]++
		}
	}
	return f
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
	if len(of.few) == 0 {
		active.sumSome(dst, x, w, a, of.list, dim, scores, s)
		return
	}
	for p := 0; p < panels; p += Group / Panel {
		n := min(Group/Panel, panels-p)
		t := s.phases[:n*Panel*Lanes]
		active.few(t, w[p*Panel*dim:], of.few, dim)
		active.sumPhases(dst, 1, t, a[p*2*scores*Panel:], scores, rows, s)
	}
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
	if len(of.few) == 0 {
		active.featuresSome(dst, x, w, of.list, dim)
		return
	}
	t := s.phases[:Panel*Lanes]
	for p := range panels {
		active.few(t, w[p*Panel*dim:], of.few, dim)
		active.featuresPhases(dst[p*2*Panel*Lanes:], 1, t, s)
	}
}

// Phases sets t, [panels of frequencies][Panel][Lanes], to the phases of a panel of rows x, of which
// only some coordinates are not 0: FeaturesPhases of them, with the scale 1, has the bits of
// FeaturesOf.
func Phases(t, x, w []float32, dim int, of Coordinates) {
	panels := check(x, w, dim)
	if panels == 0 {
		return
	}
	_ = t[panels*Panel*Lanes-1]
	of.check(dim)
	if len(of.few) > 0 {
		active.few(t[:panels*Panel*Lanes], w, of.few, dim)
		return
	}
	for p := range panels {
		t, w := t[p*Panel*Lanes:], w[p*Panel*dim:]
		if of.list == nil || active.productSome == nil {
			active.product(t, x, w[:Panel*dim], dim)
		} else {
			active.productSome(t, x, w, of.list, dim)
		}
	}
}

// Products returns the number of products for each phase of rows with these coordinates.
func (c Coordinates) Products(dim int) int {
	switch {
	case len(c.few) > 0:
		return len(c.few)
	case c.list != nil:
		return len(c.list)
	}
	return dim
}

// check panics if c are not coordinates of rows of dim numbers.
func (c Coordinates) check(dim int) {
	if n := len(c.list); n > 0 && int(c.list[n-1]) >= 16*dim {
		panic("vec: coordinates of other rows")
	}
}
