package kernel

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Composite is a Scaled kernel made of other kernels, its parts. Each part has a scale of its own.
// LengthScale is the scale of the first part, and WithLengthScale changes all scales in proportion.
type Composite interface {
	Scaled

	// Parts returns the parts.
	Parts() []Scaled

	// WithParts returns the same kernel with other parts, of the same number.
	WithParts(parts []Scaled) Kernel
}

// maxParts is the number of parts that a sum or a product can have. The parts are in an array
// because kernels must be comparable.
const maxParts = 4

// parts has some kernels, followed by nil.
type parts [maxParts]Scaled

// all returns the parts that are not nil.
func (p parts) all() []Scaled {
	n := 0
	for n < maxParts && p[n] != nil {
		n++
	}
	return append([]Scaled(nil), p[:n]...)
}

func (p parts) lengthScale() float64 {
	for _, k := range p.all() {
		if k.LengthScale() == 0 {
			return 0
		}
	}
	return p[0].LengthScale()
}

// rescaled returns the parts with their scales changed in proportion, so that the first part has
// this scale. If the parts have no scales, all of them get this one.
func (p parts) rescaled(scale float64) []Scaled {
	all, first := p.all(), p.lengthScale()
	for i, k := range all {
		v := scale
		if i > 0 && first > 0 && scale > 0 {
			v = min(maxScale, max(minScale, float64(k.LengthScale()*(scale/first))))
		}
		all[i] = k.WithLengthScale(v).(Scaled)
	}
	return all
}

// newParts checks the parts of a sum or a product.
func newParts(kernels []Kernel, product bool) ([]Scaled, error) {
	if len(kernels) > maxParts {
		return nil, fmt.Errorf("%d kernels in a sum or product: want at most %d", len(kernels), maxParts)
	}
	all := make([]Scaled, len(kernels))
	for i, k := range kernels {
		s, ok := k.(Scaled)
		_, mapped := k.(Mapped)
		if _, own := k.(Featured); !ok || mapped || own && product {
			what := "cannot be combined with other kernels"
			if ok && !mapped {
				what = "can be part of a sum, but not of a product"
			}
			return nil, fmt.Errorf("%s %s", k, what)
		}
		if all[i] = s; (s.LengthScale() == 0) != (all[0].LengthScale() == 0) {
			return nil, errors.New("want a scale for every kernel of a sum or product, or for none")
		}
	}
	return all, nil
}

const minWeight, maxWeight = 1e-6, 1e6

// parseSum reads a sum of products of kernels.
func parseSum(s string) (Kernel, error) {
	terms := split(s, '+')
	var kernels []Kernel
	weights := make([]float64, 0, len(terms))
	for _, term := range terms {
		factors, weight := split(term, '*'), 1.0
		if v, err := strconv.ParseFloat(factors[0], 64); err == nil && len(factors) > 1 {
			if !(v >= minWeight && v <= maxWeight) || len(terms) == 1 {
				return nil, fmt.Errorf("kernel %q: %s is not a weight from %g to %g of a kernel in a sum", s, factors[0], minWeight, maxWeight)
			}
			factors, weight = factors[1:], v
		}
		var product []Kernel
		for _, f := range factors {
			k, err := parseFamily(f)
			if err != nil {
				return nil, err
			}
			product = append(product, k)
		}
		all, err := newParts(product, len(product) > 1)
		switch {
		case len(product) == 1:
			kernels = append(kernels, product[0])
		case err != nil:
			return nil, fmt.Errorf("kernel %q: %w", s, err)
		default:
			kernels = append(kernels, Product{}.WithParts(all))
		}
		weights = append(weights, weight)
	}
	if len(kernels) == 1 {
		return kernels[0], nil
	}
	all, err := newParts(kernels, false)
	if err != nil {
		return nil, fmt.Errorf("kernel %q: %w", s, err)
	}
	k := Sum{}
	copy(k.weights[:], weights)
	copy(k.kernels[:], all)
	return k.ofParts(), nil
}

// split divides s at each separator, except for the sign in the exponent of a number such as 1e+12.
func split(s string, separator byte) (all []string) {
	from := 0
	for i := range len(s) {
		exponent := i >= 2 && s[i-1] == 'e' && strings.IndexByte("0123456789.", s[i-2]) >= 0
		if s[i] == separator && !exponent {
			all = append(all, s[from:i])
			from = i + 1
		}
	}
	return append(all, s[from:])
}

// golden is 2^64 divided by the golden ratio. Its multiples are spread evenly over the 64-bit
// words.
const golden = 0x9e3779b97f4a7c15

// unit returns the number in [0, 1) given by the first 53 bits of a word.
func unit(word uint64) float64 { return math.Ldexp(float64(word>>11), -53) }
