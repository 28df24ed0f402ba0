// Package vec stands in for the arithmetic of internal/vec until it is there.
package vec

import "math"

func Exp(x float64) float64   { return math.Exp(x) }
func Log(x float64) float64   { return math.Log(x) }
func Log1p(x float64) float64 { return math.Log1p(x) }
