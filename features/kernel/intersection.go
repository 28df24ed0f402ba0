package kernel

// Intersection is the kernel Σⱼ min(xⱼ, yⱼ) of histograms. A bin of the size Scale is added to x
// and y, and both are divided by their sums. The spectrum of each bin is 2/(π(1+4ω²)) (Vedaldi and
// Zisserman 2012, table 1).
type Intersection struct {
	additive
	Scale float64
}

var intersection = Family{
	Name:  "intersection",
	Usage: "intersection[:SCALE]",
	Help:  "Σ min(xᵢ, yᵢ) of histograms that are divided by their sum plus SCALE; inputs are 0 or more",
	Parse: func(parameters string) (Kernel, error) {
		scale, err := parseScale(parameters)
		return Intersection{Scale: scale}, err
	},
	Examples: []string{"intersection:1", "intersection:0.03"},
}

func (k Intersection) String() string                       { return withScale("intersection", k.Scale) }
func (k Intersection) LengthScale() float64                 { return k.Scale }
func (k Intersection) WithLengthScale(scale float64) Kernel { return Intersection{Scale: scale} }

func (k Intersection) Eval(x, y []float64) float64 {
	return overBins(x, y, k.Scale, func(a, b float64) float64 { return min(a, b) })
}

func (k Intersection) Prepare(dst []float64, x []float32) { k.prepare(dst, x, k.Scale) }

func (k Intersection) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	k.sample(w, dim, s, func() float64 { return s.Cauchy() / 2 })
}
