package features

import (
	"strconv"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Gaussian is the kernel exp(-‖x-y‖² / (2 Scale²)). Its frequencies are normal
// with the standard deviation 1/Scale (Rahimi and Recht 2007, figure 1).
// A Scale of 0 stands for one that is still to be chosen; such a kernel has a
// name, but no values and no frequencies.
type Gaussian struct{ Scale float64 }

func (k Gaussian) String() string {
	if k.Scale == 0 {
		return "gaussian"
	}
	return "gaussian:" + strconv.FormatFloat(k.Scale, 'g', -1, 64)
}

func (k Gaussian) Eval(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		d := (v - y[i]) / k.Scale
		s += float64(d * d)
	}
	return vec.Exp(-s / 2)
}

func (k Gaussian) Sample(w []float32, dim int, chance *vec.Normals) {
	if !(k.Scale >= minScale && k.Scale <= maxScale) {
		panic("features: frequencies of the kernel " + k.String())
	}
	chance.Fill(w)
	s := float32(1 / k.Scale)
	for i, v := range w {
		w[i] = float32(v * s)
	}
}
