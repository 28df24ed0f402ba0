package vec

import "math"

// Lines are float64 numbers of the rows of a panel, [n][Lanes]: n numbers for each row. The loops
// over them do the same for each row as they would for a single row, and round every product.

// ShiftLines sets the lines dst to the lines f minus the largest number of each row.
func ShiftLines(dst, f []float64) {
	n := lines(f, dst)
	if n > 0 && !shiftVectors(n, f, dst) {
		for i := range Lanes {
			top := f[i]
			for at := i; at < len(f); at += Lanes {
				top = max(top, f[at])
			}
			for at := i; at < len(f); at += Lanes {
				dst[at] = f[at] - top
			}
		}
	}
}

// ShareLines divides the lines e by the sum of each row, which is added in order from +0.
func ShareLines(e []float64) {
	n := lines(e, e)
	if n > 0 && !sharesVectors(n, e) {
		for i := range Lanes {
			sum := 0.0
			for at := i; at < len(e); at += Lanes {
				sum += e[at]
			}
			for at := i; at < len(e); at += Lanes {
				e[at] /= sum
			}
		}
	}
}

// Parabola determines the curvatures that GradientLines computes. The second derivative of a loss
// at a point where its gradient is ±p is about min(Bound, Slope p (1-p) + Floor).
type Parabola struct{ Bound, Slope, Floor float64 }

// GradientLines bounds the lines g by ±most, multiplies them by the shares of the rows, and puts
// them into factors, rounded to float32. It sets curvature to the curvature of the parabola where p
// is the magnitude of the result divided by the row's number in divisor.
func GradientLines(g, share, divisor []float64, most float64, c Parabola, curvature []float64, factors []float32) {
	n := lines(g, curvature)
	if n == 0 {
		return
	}
	_, _, _ = share[Lanes-1], divisor[Lanes-1], factors[n*Lanes-1]
	table := [7]float64{most, -most, c.Bound, c.Slope, c.Floor, 1, math.Float64frombits(1<<63 - 1)}
	if gradientVectors(n, g, share, divisor, &table, curvature, factors) {
		return
	}
	for at, v := range g {
		i := at % Lanes
		v = float64(share[i] * max(-most, min(most, v)))
		g[at], factors[at] = v, float32(v)
		p := math.Abs(v) / divisor[i]
		curvature[at] = min(c.Bound, float64(c.Slope*p*(1-p))+c.Floor)
	}
}

// MajorantLines bounds the lines g by ±most, and multiplies them by the shares of the rows. It sets
// curvature to the share of the row times the curvature of a parabola that lies above the
// logarithmic loss and touches it where its gradient is ±q: min(bound, bound √(2√(q(1-q))) +
// floor). Here q is the magnitude of the original number in g. If a share is 0, both results are 0.
func MajorantLines(g, share []float64, most, bound, floor float64, curvature []float64) {
	n := lines(g, curvature)
	if n == 0 {
		return
	}
	_ = share[Lanes-1]
	table := [7]float64{most, -most, bound, floor, 1, 2, math.Float64frombits(1<<63 - 1)}
	if majorantVectors(n, g, share, &table, curvature) {
		return
	}
	for at, v := range g {
		if g[at], curvature[at] = 0, 0; share[at%Lanes] != 0 {
			q := math.Abs(v)
			root := math.Sqrt(2 * math.Sqrt(max(0, q*(1-q))))
			g[at] = share[at%Lanes] * max(-most, min(most, v))
			curvature[at] = share[at%Lanes] * min(bound, float64(bound*root)+floor)
		}
	}
}

// CurvatureLines sets the lines dst to share * (curvature * d²).
func CurvatureLines(dst, d, curvature, share []float64) {
	n := lines(d, dst)
	if n == 0 {
		return
	}
	_, _ = curvature[len(d)-1], share[Lanes-1]
	if !curvatureVectors(n, d, curvature, share, dst) {
		for at, v := range d {
			dst[at] = share[at%Lanes] * float64(curvature[at]*float64(v*v))
		}
	}
}

// StepLines subtracts two terms from each of the lines f: first a shift of that line, then a
// multiple of the same line of d.
func StepLines(f, d, shift, size []float64) {
	n := lines(f, d)
	if n == 0 {
		return
	}
	_, _ = shift[n-1], size[n-1]
	if !stepVectors(n, f, d, shift, size) {
		for at, v := range d {
			f[at] = f[at] - shift[at/Lanes] - float64(size[at/Lanes]*v)
		}
	}
}

// SumLines adds the numbers of each line to the same element of sum, one by one in order. The
// number of lines must be a multiple of 8.
func SumLines(sum, x []float64) {
	n := len(sum)
	if len(x) != n*Lanes || n%8 != 0 {
		panic("vec: SumLines of slices that do not fit together")
	}
	if n > 0 && !sumVectors(n, x, sum) {
		for c := range sum {
			for _, v := range x[c*Lanes : (c+1)*Lanes] {
				sum[c] += v
			}
		}
	}
}

// lines returns the number of lines of x and y.
func lines(x, y []float64) int {
	if len(x) != len(y) || len(x)%Lanes != 0 {
		panic("vec: lines that do not fit together")
	}
	return len(x) / Lanes
}
