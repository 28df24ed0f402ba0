package kernel

import (
	"errors"
	"math"
)

// Polynomial is the kernel (xᵀy + Scale²)^Degree, divided by the square root of the product of its
// values at (x, x) and (y, y). This is the Degree-th power of the cosine of x and y with the
// constant Scale appended. Its random features are products of complex signs (Kar and Karnick 2012;
// Wacker, Ohana and Filippone 2022).
type Polynomial struct {
	Degree int
	Scale  float64
}

const (
	defaultDegree = 2
	maxDegree     = 8
)

var polynomial = Family{
	Name:  "polynomial",
	Usage: "polynomial[:DEGREE[,SCALE]]",
	Help:  "(xᵀy + SCALE²)^DEGREE, divided by its values at (x,x) and (y,y), for products of inputs; DEGREE is 1, 2 (default), … or 8",
	Parse: func(parameters string) (Kernel, error) {
		degree, scale, err := parseShapeScale(parameters, defaultDegree, checkDegree)
		return Polynomial{int(degree), scale}, err
	},
	Examples: []string{"polynomial:2,1", "polynomial:1,0.3", "polynomial:3,2.5"},
}

func checkDegree(degree float64) error {
	if degree != math.Trunc(degree) || !(degree >= 1 && degree <= maxDegree) {
		return errors.New("DEGREE has to be 1, 2, … or 8")
	}
	return nil
}

func (k Polynomial) String() string {
	return withShapeScale("polynomial", float64(k.Degree), k.Scale)
}
func (k Polynomial) LengthScale() float64                 { return k.Scale }
func (k Polynomial) WithLengthScale(scale float64) Kernel { return Polynomial{k.Degree, scale} }

func (k Polynomial) Eval(x, y []float64) float64 { return power(cosine(x, y, k.Scale), k.Degree) }

func (k Polynomial) Sizes(dim int) (parameters, prepared int) {
	return 2 * k.Degree * (dim + 1), dim + 1
}
func (k Polynomial) Prepare(dst []float64, x []float32)   { direction(dst, x, k.Scale) }
func (k Polynomial) Pairs(dst, x, w []float64)            { multiply(dst, dots(x, w), k.Degree) }
func (k Polynomial) FromProducts(dst, products []float64) { multiply(dst, products, k.Degree) }

func (k Polynomial) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	checkShape(k, float64(k.Degree), checkDegree)
	s.Roots(w, dim+1)
}
