// Package features has random features for shift-invariant kernels (Rahimi and
// Recht 2007): frequencies drawn from the kernel's spectral density, and the
// cosine and the sine of each frequency's product with an input.
package features

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Kernel is a shift-invariant kernel with the value 1 at distance 0.
type Kernel interface {
	// String is the form that ParseKernel reads.
	String() string
	// Eval is the kernel's value, which the features estimate.
	Eval(x, y []float64) float64
	// Sample fills w with frequencies of dim numbers each, in radians, drawn
	// from the kernel's spectral density.
	Sample(w []float32, dim int, chance *vec.Normals)
}

// ParseKernel reads the form that Kernel's String writes: "gaussian:2.5", or
// "gaussian" for the kernel whose scale is still to be chosen.
func ParseKernel(s string) (Kernel, error) {
	name, parameter, has := strings.Cut(s, ":")
	switch name {
	case "gaussian":
		if !has {
			return Gaussian{}, nil
		}
		v, err := strconv.ParseFloat(parameter, 64)
		if err != nil || !(v >= minScale && v <= maxScale) {
			return nil, fmt.Errorf("kernel %q: the scale has to be a number from %g to %g", s, minScale, maxScale)
		}
		return Gaussian{Scale: v}, nil
	}
	return nil, fmt.Errorf("no kernel is named %q: want gaussian or gaussian:SCALE", name)
}

// The scales for which frequencies and their reciprocals are far from the ends
// of float32.
const minScale, maxScale = 1e-12, 1e12
