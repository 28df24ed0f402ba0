package vec

import "math"

// Coordinates are the coordinates in which at least one row of a panel is not 0. The others can be
// skipped without changing a bit of a chain, because a chain is never -0. The zero value stands for
// all coordinates.
type Coordinates struct {
	list   []uint32 // 16 times each coordinate, in ascending order; nil stands for all
	memory []uint32
	few    rowCoordinates
}

// rowCoordinates has, for each row, the numbers other than 0 in ascending order of their
// coordinates, padded with 0. It is empty unless every row has few of them.
type rowCoordinates []rowNumbers

// rowNumbers has one number of each row of a panel.
type rowNumbers struct {
	at [Lanes]uint32 // 48 times the coordinate: the offset of its column in a panel of frequencies, in bytes
	v  [Lanes]float32
}

const (
	// someOf determines the least share of zero coordinates, 1 in someOf, for which a list pays.
	someOf = 8

	// A row has few numbers if there are at most fewOf/fewIn of the length of its panel's list,
	// minus fewLess for the cost of the transposition. By BenchmarkCoordinates, half of the list
	// would do on a Zen 4, and more with AVX2. Processors whose units for AVX-512 are wider than
	// those of a Zen 4 gain less.
	fewOf, fewIn, fewLess = 3, 8, 3
)

// Set sets c to the coordinates of a panel of rows x, or to all coordinates if that takes less
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

// set returns the rowCoordinates of the rows x, in the memory of f. list has all coordinates in
// which x is not 0. The result is empty if a row has too many numbers.
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

// Coordinates returns the coordinates of a panel of rows x. They are in s, and valid until the next
// call.
func (s *Scratch) Coordinates(x []float32, dim int) *Coordinates {
	s.some.Set(x, dim)
	return &s.some
}

// SumOf is Sum for rows that are 0 outside the coordinates of.
func SumOf(dst []float64, x, w, a []float32, dim, scores, rows int, of *Coordinates, s *Scratch) {
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

// FeaturesOf is Features for rows that are 0 outside the coordinates of.
func FeaturesOf(dst, x, w []float32, dim int, of *Coordinates, s *Scratch) {
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

// Phases sets t, [panels of frequencies][Panel][Lanes], to the phases of a panel of rows x that are
// 0 outside the coordinates of. FeaturesPhases of t with the scale 1 returns the same bits as
// FeaturesOf.
func Phases(t, x, w []float32, dim int, of *Coordinates) {
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

// Products returns the number of multiplications for each phase of rows with these coordinates.
func (c *Coordinates) Products(dim int) int {
	switch {
	case len(c.few) > 0:
		return len(c.few)
	case c.list != nil:
		return len(c.list)
	}
	return dim
}

// check panics if c cannot be coordinates of rows of dim numbers.
func (c *Coordinates) check(dim int) {
	if n := len(c.list); n > 0 && int(c.list[n-1]) >= 16*dim {
		panic("vec: coordinates of other rows")
	}
}
