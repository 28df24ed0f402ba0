package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sparse returns a panel of rows in which about a share of the coordinates are 0, one more -0,
// and many others have a single number.
func sparse(r *rand.Rand, dim int, share float64) []float32 {
	x := make([]float32, dim*Lanes)
	for k := range dim {
		switch row := x[k*Lanes : (k+1)*Lanes]; {
		case r.Float64() < share:
		case r.IntN(2) == 0:
			row[r.IntN(Lanes)] = float32(r.NormFloat64())
		default:
			for i := range row {
				row[i] = float32(r.NormFloat64())
			}
		}
	}
	x[r.IntN(dim)*Lanes] = float32(math.Copysign(0, -1))
	return x
}

// indicators returns a panel of rows that have n of the first columns each, or one more or less,
// and another row without a number.
func indicators(r *rand.Rand, dim, columns, n int) []float32 {
	x := make([]float32, dim*Lanes)
	for i := range Lanes {
		for range max(0, n-1+r.IntN(3)) * min(1, i) {
			x[r.IntN(columns)*Lanes+i] = float32(r.NormFloat64())
		}
	}
	return x
}

// featuresOfPhases is FeaturesOf with Phases.
func featuresOfPhases(dst, x, w []float32, dim int, of *Coordinates, s *Scratch) {
	clear(dst)
	t := make([]float32, len(dst)/2)
	Phases(t, x, w, dim, of)
	FeaturesPhases(dst, 1, t, s)
}

func TestCoordinatesOfZerosChangeNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	eachISA(func(name string) {
		var s Scratch
		for _, dim := range []int{1, 7, 8, 9, 40, 131} {
			for _, share := range []float64{0, .1, .5, .95, 1} {
				const panels, scores = 9, 5 // a group and one more panel
				x, w, a := sparse(r, dim, share), make([]float32, panels*Panel*dim), make([]float32, panels*2*scores*Panel)
				for i := range w {
					w[i] = float32(r.NormFloat64())
				}
				for i := range a {
					a[i] = float32(r.NormFloat64())
				}
				of := s.Coordinates(x, dim)
				want, got := make([]float32, panels*2*Panel*Lanes), make([]float32, panels*2*Panel*Lanes)
				Features(want, x, w, dim, &s)
				if FeaturesOf(got, x, w, dim, of, &s); !slices.Equal(got, want) {
					t.Errorf("%s: %d coordinates, %v of them 0: the features differ", name, dim, share)
				}
				if featuresOfPhases(got, x, w, dim, of, &s); !slices.Equal(got, want) {
					t.Errorf("%s: %d coordinates, %v of them 0: the features of the phases differ", name, dim, share)
				}
				for _, scores := range []int{1, scores} {
					want, got := make([]float64, scores*Lanes), make([]float64, scores*Lanes)
					a := a[:panels*2*scores*Panel]
					Sum(want, x, w, a, dim, scores, Lanes, &s)
					if SumOf(got, x, w, a, dim, scores, Lanes, of, &s); !slices.Equal(got, want) {
						t.Errorf("%s: %d coordinates, %v of them 0, %d scores: the sums differ", name, dim, share, scores)
					}
				}
			}
		}
	})
}

// What is in a list is what has a bit other than 0, whatever the list had before.
func TestCoordinatesAreThoseThatAreNotZero(t *testing.T) {
	if active.nonzero == nil {
		t.Skip("without vectors there is no list")
	}
	r := rand.New(rand.NewPCG(83, 84))
	var c Coordinates
	for _, dim := range []int{200, 8, 31} {
		for _, share := range []float64{.3, 1, 0} {
			x := sparse(r, dim, share)
			var want []uint32
			for k := range dim {
				if slices.ContainsFunc(x[k*Lanes:(k+1)*Lanes], func(v float32) bool { return math.Float32bits(v) != 0 }) {
					want = append(want, uint32(16*k))
				}
			}
			c.Set(x, dim)
			if len(want) > dim-dim/someOf {
				if c.list != nil {
					t.Errorf("%d of %d coordinates are listed", len(c.list), dim)
				}
			} else if !slices.Equal(c.list, want) {
				t.Errorf("the coordinates are %v, want %v", c.list, want)
			}
		}
	}
}

func TestCoordinatesOfOtherRowsPanic(t *testing.T) {
	c := Coordinates{list: []uint32{16 * 8}}
	if active.featuresSome == nil {
		t.Skip("without vectors there is no list")
	}
	defer func() {
		if recover() == nil {
			t.Error("a coordinate past the end was read")
		}
	}()
	var s Scratch
	FeaturesOf(make([]float32, 2*Panel*Lanes), make([]float32, 8*Lanes), make([]float32, 8*Panel), 8, &c, &s)
}

func BenchmarkCoordinates(b *testing.B) {
	const dim, panels, scores = 123, 8, 5
	r := rand.New(rand.NewPCG(85, 86))
	w, f := make([]float32, panels*Panel*dim), make([]float32, panels*2*Panel*Lanes)
	a, dst := make([]float32, panels*2*scores*Panel), make([]float64, scores*Lanes)
	var s Scratch
	few := indicators(r, dim, dim/2, 14)
	of := s.Coordinates(few, dim)
	for _, rows := range []string{"few", "list"} {
		if rows == "list" {
			of.few = nil
		}
		b.Run("kernel=features/rows="+rows, func(b *testing.B) {
			for range b.N {
				FeaturesOf(f, few, w, dim, of, &s)
			}
		})
		b.Run("kernel=sum/rows="+rows, func(b *testing.B) {
			for range b.N {
				SumOf(dst, few, w, a, dim, scores, Lanes, of, &s)
			}
		})
	}
	for _, share := range []float64{0, .5, .9} {
		x := sparse(r, dim, share)
		b.Run(fmt.Sprintf("kernel=list/zeros=%v", share), func(b *testing.B) {
			for range b.N {
				s.Coordinates(x, dim)
			}
		})
		of := s.Coordinates(x, dim)
		b.Run(fmt.Sprintf("kernel=features/zeros=%v", share), func(b *testing.B) {
			for range b.N {
				FeaturesOf(f, x, w, dim, of, &s)
			}
		})
	}
}
