package kernel

// Chi2 is the additive χ² kernel Σⱼ 2xⱼyⱼ/(xⱼ+yⱼ) of histograms. A bin of the size Scale is added
// to x and y, and both are divided by their sums. The spectrum of each bin is 1/cosh(πω) (Vedaldi
// and Zisserman 2012, table 1).
type Chi2 struct {
	additive
	Scale float64
}

var chi2 = Family{
	Name:  "chi2",
	Usage: "chi2[:SCALE]",
	Help:  "Σ 2xᵢyᵢ/(xᵢ+yᵢ) of histograms that are divided by their sum plus SCALE; inputs are 0 or more",
	Parse: func(parameters string) (Kernel, error) {
		scale, err := parseScale(parameters)
		return Chi2{Scale: scale}, err
	},
	Examples: []string{"chi2:1", "chi2:0.03"},
}

func (k Chi2) String() string                       { return withScale("chi2", k.Scale) }
func (k Chi2) LengthScale() float64                 { return k.Scale }
func (k Chi2) WithLengthScale(scale float64) Kernel { return Chi2{Scale: scale} }

func (k Chi2) Eval(x, y []float64) float64 {
	return overBins(x, y, k.Scale, func(a, b float64) float64 { return 2 * a * b / (a + b) })
}

func (k Chi2) Prepare(dst []float64, x []float32) { k.prepare(dst, x, k.Scale) }

func (k Chi2) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	k.sample(w, dim, s, s.Sech)
}
