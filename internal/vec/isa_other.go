//go:build !amd64 || purego

package vec

func native() []isa { return nil }

func dotVectors(lanes *[8]float64, x, y []float64) bool { return false }

func axpyVectors(a float64, x, y []float64) bool { return false }

func rotateVectors(x, y []float64, c, s float64) bool { return false }

func panelVectors(k int, w, x, inverse []float64) bool { return false }

func expVectors(dst, x []float64) int { return 0 }
