package vec

import (
	"fmt"
	"strings"
)

// isa is one implementation of the kernels. All of them give the same bits.
type isa struct {
	name     string
	sum      func(dst []float64, x, w, a []float32, dim, outputs, rows int, s *Scratch)
	gradient func(acc, x, w, g []float32, dim, outputs int, s *Scratch)

	sumGiven      func(dst []float64, scale float32, t, a []float32, outputs, rows int, s *Scratch)
	gradientGiven func(acc []float32, scale float32, t, g []float32, outputs int, s *Scratch)
	featuresGiven func(dst []float32, scale float32, t []float32, s *Scratch)
	hadamard      func(t []float32, signs []uint32)

	lanes     func(dst []float64, acc []float32)
	features  func(dst, x, w []float32, dim int, s *Scratch)
	few       func(dst []float64, x, w, coef []float32, dim, outputs int, s *Scratch) // a row; nil where there is no faster way
	product   func(t *[Panel][Lanes]float32, x, w []float32, dim int)
	widen     func(dst []float64, f []float32)
	normals   func(n *Normals, dst []float32)
	packRows  func(dst, x []float32, dim int) // 16 rows; nil where there is no faster way
	packFour  func(dst, w []float32, dim int) // four frequencies; likewise
	transpose func(dst, w []float32, dim int) // four frequencies' coefficients; likewise
	peak      func(n int)                     // n*12 fused multiply-adds of the widest vectors; nil where there are none
	width     int                             // float32 in such a vector
}

var generic = isa{
	name: "generic", sum: sumGeneric, gradient: gradientGeneric, lanes: lanesGeneric, features: featuresGeneric,
	sumGiven: sumGivenGeneric, gradientGiven: gradientGivenGeneric, featuresGiven: featuresGivenGeneric, hadamard: hadamardGeneric,
	product: productGeneric, widen: widenGeneric, normals: normalsGeneric,
}

// all is what this machine can run, the best first.
var all = append(native(), generic)

// use is the one in use. Built with the tag purego, the program has generic only.
var use = all[0]

// ISA is the name of the implementation in use: avx512, avx2 or generic.
func ISA() string { return use.name }

// ISAs is the names of those that this machine can run, the best first.
func ISAs() []string {
	var names []string
	for _, i := range all {
		names = append(names, i.name)
	}
	return names
}

// Select takes another implementation into use, or the best one if name is "".
// It is for the beginning of a program, which may look at the environment
// variable ACCRETE_ISA, and for tests and benchmarks: no kernel may run
// meanwhile, unless it is the one that is in use already.
func Select(name string) error {
	for _, i := range all {
		if name == i.name || name == "" {
			if i.name != use.name {
				use = i
			}
			return nil
		}
	}
	return fmt.Errorf("no instruction set is named %q here: want one of %s", name, strings.Join(ISAs(), ", "))
}

// Peak does n*12 fused multiply-adds of vectors in registers, and returns the
// number of float32 operations, a multiplication and an addition each: the
// yardstick of the kernels. It returns 0 where there are no vectors.
func Peak(n int) float64 {
	if use.peak == nil {
		return 0
	}
	use.peak(n)
	return float64(n) * 12 * 2 * float64(use.width)
}
