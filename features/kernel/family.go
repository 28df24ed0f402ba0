package kernel

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/spell"
)

// Family is a family of kernels with the same name and different parameters.
type Family struct {
	Name  string // letters, digits and hyphens, in lower case
	Usage string // the forms that Parse reads: "gaussian[:SCALE]"
	Help  string // one line: the formula, and what it is for

	// Parse returns the kernel with these parameters, which are the text after the name and a
	// colon, or "".
	Parse func(parameters string) (Kernel, error)

	// Examples are names, as written by String, of kernels that have values and frequencies. The
	// tests use them to check the promises of Kernel.
	Examples []string
}

// All are the families that Parse knows. A program may append its own
// before it makes a Learner or reads a snapshot.
var All = []Family{
	gaussian,
	laplacian,
	cauchy,
	matern,
	rationalQuadratic,
	skewedChi2,
	skewedIntersection,
	chi2,
	intersection,
	jensenShannon,
	hellinger,
	polynomial,
	dotProduct,
	arcCosine,
	exponentialSemigroup,
	reciprocalSemigroup,
	hierarchical,
}

// Parse reads the form that Kernel's String writes: "gaussian:2.5", or "gaussian" for the kernel
// whose scale is still to be chosen. Kernels can be multiplied and added:
// "0.7*gaussian+0.3*laplacian*cauchy". "auto" is the kernel Auto.
func Parse(s string) (Kernel, error) {
	if s == (Auto{}).String() {
		return Auto{}, nil
	}
	if strings.ContainsAny(s, "+*") {
		return parseSum(s)
	}
	return parseFamily(s)
}

// parseFamily reads a kernel of one of the families.
func parseFamily(s string) (Kernel, error) {
	name, parameters, colon := strings.Cut(s, ":")
	var names, usages []string
	for _, f := range All {
		if f.Name != name {
			names, usages = append(names, f.Name), append(usages, f.Usage)
			continue
		}
		if colon && parameters == "" {
			return nil, fmt.Errorf("kernel %q: no parameter after the colon: want %s", s, f.Usage)
		}
		k, err := f.Parse(parameters)
		if err != nil {
			return nil, fmt.Errorf("kernel %q: %w", s, err)
		}
		return k, nil
	}
	return nil, spell.Unknown("kernel", name, names, usages)
}

// The range of scales, in which frequencies and their reciprocals are far from the limits of
// float32.
const minScale, maxScale = 1e-12, 1e12

var errScale = fmt.Errorf("scale: want a number from %g to %g", minScale, maxScale)

// parseScale reads the only parameter of a kernel. It returns 0 if there is none.
func parseScale(parameters string) (float64, error) {
	if parameters == "" {
		return 0, nil
	}
	scale, err := strconv.ParseFloat(parameters, 64)
	if err != nil || !validScale(scale) {
		return 0, errScale
	}
	return scale, nil
}

// parseShapeScale reads SHAPE[,SCALE]. Parameters that are missing get the default shape and the
// scale 0.
func parseShapeScale(parameters string, shape float64, check func(float64) error) (float64, float64, error) {
	first, rest, comma := strings.Cut(parameters, ",")
	if first != "" {
		v, err := strconv.ParseFloat(first, 64)
		if err != nil {
			v = math.NaN()
		}
		if err := check(v); err != nil {
			return 0, 0, err
		}
		shape = v
	}
	if !comma {
		return shape, 0, nil
	}
	if first == "" || rest == "" {
		return 0, 0, errors.New("no parameter beside the comma")
	}
	scale, err := parseScale(rest)
	return shape, scale, err
}

func validScale(scale float64) bool { return scale >= minScale && scale <= maxScale }

// checkScale panics if k cannot have frequencies because this scale is invalid.
func checkScale(k Kernel, scale float64) {
	if !validScale(scale) {
		panic(fmt.Sprintf("kernel: the scale of %s is %v: set Scale to a number from %g to %g", k, scale, minScale, maxScale))
	}
}

// checkShape panics if k cannot have frequencies because check finds its shape invalid.
func checkShape(k Kernel, shape float64, check func(float64) error) {
	if err := check(shape); err != nil {
		panic(fmt.Sprintf("kernel: %s: %v", k, err))
	}
}

// squaredDistance returns the squared Euclidean distance.
func squaredDistance(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		d := v - y[i]
		s += float64(d * d)
	}
	return s
}

// withScale returns the name of a kernel whose only parameter is its scale.
func withScale(name string, scale float64) string {
	if scale == 0 {
		return name
	}
	return name + ":" + strconv.FormatFloat(scale, 'g', -1, 64)
}

// withShapeScale returns the name of a kernel that parseShapeScale reads.
func withShapeScale(name string, shape, scale float64) string {
	name += ":" + strconv.FormatFloat(shape, 'g', -1, 64)
	if scale == 0 {
		return name
	}
	return name + "," + strconv.FormatFloat(scale, 'g', -1, 64)
}
