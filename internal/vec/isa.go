package vec

import (
	"fmt"
	"strings"
)

// isa is an implementation of the hot loops for an instruction set. All implementations give the
// same bits.
type isa struct {
	name     string
	sum      func(dst []float64, x, w, a []float32, dim, scores, rows int, s *Scratch)
	gradient func(acc, x, w, g []float32, dim, scores int, s *Scratch)

	sumPhases      func(dst []float64, scale float32, t, a []float32, scores, rows int, s *Scratch)
	gradientPhases func(acc []float32, scale float32, t, g []float32, scores int, s *Scratch)
	featuresPhases func(dst []float32, scale float32, t []float32, s *Scratch)
	hadamard       func(t []float32, signs []uint32)

	heldSum    func(dst []float64, f []float32, stride int, a []float32)
	heldSumFew func(dst []float64, f []float32, stride int, a []float32) // for up to fewColumns; nil if it would not be faster
	spreadSum  func(dst []float64, f, factors []float32, scores, stride int, s *Scratch)

	// For the coordinates in a list that nonzero makes; nil without vectors:
	nonzero      func(list []uint32, x []float32, dim int) int
	sumSome      func(dst []float64, x, w, a []float32, list []uint32, dim, scores int, s *Scratch)
	featuresSome func(dst, x, w []float32, list []uint32, dim int)
	productSome  func(t, x, w []float32, list []uint32, dim int)
	few          func(t, w []float32, few rowCoordinates, dim int) // computes phases; nil if it would not be faster

	addChains       func(dst []float64, acc []float32)
	features        func(dst, x, w []float32, dim int, s *Scratch)
	sumRow          func(dst []float64, x, w, coef []float32, dim, scores int, s *Scratch) // nil if it would not be faster than sum
	product         func(t, x, w []float32, dim int)                                       // t is [Panel][Lanes]
	accumulate      func(dst []float64, f []float32)
	normals         func(n *Normals, dst []float32)
	packRows        func(dst, x []float32, dim int) // 16 rows; nil if it would not be faster
	packFrequencies func(dst, w []float32, dim int) // four frequencies; nil if it would not be faster
	transpose       func(dst, w []float32, dim int) // coefficients of four frequencies; nil if it would not be faster
	peak            func(n int)                     // n*12 fused multiply-adds of the widest vectors; nil without vectors
	width           int                             // float32 numbers in such a vector
}

var generic = isa{
	name: "generic", sum: sumGeneric, gradient: gradientGeneric, addChains: addChainsGeneric, features: featuresGeneric,
	sumPhases: sumPhasesGeneric, gradientPhases: gradientPhasesGeneric, featuresPhases: featuresPhasesGeneric, hadamard: hadamardGeneric,
	heldSum: heldSumGeneric, spreadSum: spreadSumGeneric,
	product: productGeneric, accumulate: accumulateGeneric, normals: normalsGeneric,
}

// available are the implementations that this machine can run, the fastest first.
var available = append(native(), generic)

// active is the implementation in use. With the build tag purego it is always generic.
var active = available[0]

// ISA returns the name of the implementation in use: avx512, avx2 or generic.
func ISA() string { return active.name }

// ISAs returns the names of the implementations that this machine can run, the fastest first.
func ISAs() []string {
	var names []string
	for _, i := range available {
		names = append(names, i.name)
	}
	return names
}

// Select switches to the named implementation, or to the fastest one if name is "". Programs call
// it when they start, with the environment variable ACCRETE_ISA. Tests and benchmarks call it as
// well. Nothing else of this package may run at the same time, unless the implementation is already
// in use.
func Select(name string) error {
	for _, i := range available {
		if name == i.name || name == "" {
			if i.name != active.name {
				active = i
			}
			return nil
		}
	}
	return fmt.Errorf("no instruction set is named %q here: want one of %s", name, strings.Join(ISAs(), ", "))
}

// Peak executes n*12 fused multiply-adds of vectors in registers and returns the number of float32
// operations, counting multiplications and additions separately. It is the yardstick for the other
// loops. It returns 0 without vector instructions.
func Peak(n int) float64 {
	if active.peak == nil {
		return 0
	}
	active.peak(n)
	return float64(n) * 12 * 2 * float64(active.width)
}
