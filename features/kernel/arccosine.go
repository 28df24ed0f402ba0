package kernel

import (
	"errors"
	"math"
)

// ArcCosine is the arc-cosine kernel of order 0 or 1 (Cho and Saul 2009). The constant Scale is
// appended to x and y, and both are divided by their length. For the angle θ between them, the
// kernel is
//
//	order 0: 1 - θ/π
//	order 1: (sin θ + (π-θ) cos θ)/π
//
// It is the kernel of a layer of infinitely many random neurons, which are steps for order 0 and
// rectified linear units for order 1. The random features are pairs of such neurons, one for a
// normal ω and one for -ω.
type ArcCosine struct {
	Order int
	Scale float64
}

var arcCosine = Family{
	Name:  "arc-cosine",
	Usage: "arc-cosine[:ORDER[,SCALE]]",
	Help:  "that of a layer of random neurons, of the angle between rows with the constant SCALE appended; ORDER is 0 for steps, 1 (default) for rectified linear ones",
	Parse: func(parameters string) (Kernel, error) {
		order, scale, err := parseShapeScale(parameters, 1, checkOrder)
		return ArcCosine{int(order), scale}, err
	},
	Examples: []string{"arc-cosine:1,1", "arc-cosine:0,2.5", "arc-cosine:1,0.3"},
}

func checkOrder(order float64) error {
	if order != 0 && order != 1 {
		return errors.New("ORDER has to be 0 or 1")
	}
	return nil
}

func (k ArcCosine) String() string {
	return withShapeScale("arc-cosine", float64(k.Order), k.Scale)
}
func (k ArcCosine) LengthScale() float64                 { return k.Scale }
func (k ArcCosine) WithLengthScale(scale float64) Kernel { return ArcCosine{k.Order, scale} }

func (k ArcCosine) Eval(x, y []float64) float64 {
	c := cosine(x, y, k.Scale)
	theta := angle(c)
	if k.Order == 0 {
		return 1 - theta/math.Pi
	}
	return min(1, (math.Sqrt(float64((1-c)*(1+c)))+float64((math.Pi-theta)*c))/math.Pi)
}

func (k ArcCosine) Sizes(dim int) (parameters, prepared int) { return dim + 1, dim + 1 }
func (k ArcCosine) Prepare(dst []float64, x []float32)       { direction(dst, x, k.Scale) }

func (k ArcCosine) Pairs(dst, x, w []float64) { k.FromProducts(dst, dots(x, w)) }

func (k ArcCosine) FromProducts(dst, products []float64) {
	for i, u := range products {
		a := math.Abs(u)
		if k.Order == 0 {
			a = 1
		}
		if dst[2*i], dst[2*i+1] = 0, a; u > 0 {
			dst[2*i], dst[2*i+1] = a, 0
		}
	}
}

func (k ArcCosine) Sample(w []float32, _ int, s *Source) {
	checkScale(k, k.Scale)
	checkShape(k, float64(k.Order), checkOrder)
	s.FillNormal(w)
}
