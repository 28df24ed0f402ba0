package onnx

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// rounded rounds to float32, the precision in which a model adds up numbers.
func (g *graph) rounded(v value) value { return g.cast(g.cast(v, tensorFloat32), tensorFloat64) }

// chain returns the sum of n products, computed like a chain of fused multiply-adds in float32.
// The products are exact in float64.
func (g *graph) chain(n int, product func(i int) value) (total value) {
	for i := range n {
		p := product(i)
		if i > 0 {
			p = g.op("Add", p, total)
		}
		total = g.rounded(p)
	}
	return total
}

// features returns the cosines and the sines of scaled rows x, rows × frequencies, by the
// definition in package vec.
func (g *graph) features(x value, frequencies [][]float64) (cos, sin value) {
	t := g.chain(len(frequencies[0]), func(k int) value {
		of := make([]float64, len(frequencies))
		for j, w := range frequencies {
			of[j] = w[k]
		}
		return g.op("Mul", g.with(axis(1), "Gather", x, g.integers(int64(k))), g.row(of))
	})
	n := g.op("Round", t)
	r := g.op("Sub", t, n)
	half := g.op("Mul", n, g.double(0.5))
	odd := g.op("Sub", half, g.op("Floor", half)) // 0 or 1/2
	sign := g.op("Sub", g.double(1), g.op("Mul", odd, g.double(4)))
	q := g.rounded(g.op("Mul", r, r))
	cosine, sine := vec.Polynomials()
	cos, sin = g.polynomial(cosine[:], q), g.rounded(g.op("Mul", g.polynomial(sine[:], q), r))
	return g.op("Mul", cos, sign), g.op("Mul", sin, sign)
}

// polynomial evaluates a polynomial at q by fused multiply-adds in float32. Its coefficients
// begin with the lowest power.
func (g *graph) polynomial(coefficients []float32, q value) value {
	last := len(coefficients) - 1
	v := g.double(float64(coefficients[last]))
	for i := last - 1; i >= 0; i-- {
		v = g.rounded(g.op("Add", g.op("Mul", q, v), g.double(float64(coefficients[i]))))
	}
	return v
}

// waves returns the sum of the features of scaled rows x times their coefficients: rows × scores.
// coefficients alternates between the cosine and the sine of each frequency.
func (g *graph) waves(x value, frequencies [][]float64, coefficients []float32, scores int) value {
	groups := vec.Panels(len(frequencies), vec.Group)
	padded := append([][]float64(nil), frequencies...)
	for len(padded) < groups*vec.Group {
		padded = append(padded, make([]float64, len(frequencies[0])))
	}
	cos, sin := g.features(x, padded)
	shape := g.integers(-1, int64(groups), vec.Group)
	var both [2]value
	for i, v := range []value{cos, sin} {
		v = g.op("Reshape", v, shape)
		both[i] = g.chain(vec.Group, func(j int) value {
			a := make([]float64, groups*scores) // of feature j of each group
			for group := range groups {
				for c := range scores {
					if at := group*vec.Group + j; at < len(frequencies) {
						a[group*scores+c] = float64(coefficients[(2*at+i)*scores+c])
					}
				}
			}
			return g.op("Mul", g.with(axis(2), "Gather", v, g.integers(int64(j))), g.doubles(a, 1, groups, scores))
		})
	}
	return g.with([]attribute{{"keepdims", 0}}, "ReduceSum", g.op("Add", both[0], both[1]), g.integers(1))
}

// scores returns the scores of the model for scaled rows x: rows × scores.
func (m *model) scores(g *graph, x value) value {
	intercept := numbers[float64](m, "intercept")
	k, within := len(intercept), m.within(g, x)
	f := g.row(intercept)
	if coefficients := numbers[float32](m, "coefficients"); len(coefficients) > 0 {
		f = g.op("Add", g.waves(within, m.served(), coefficients, k), f)
	} else { // for each row
		f = g.op("Add", g.op("MatMul", x, g.doubles(make([]float64, m.width*k), m.width, k)), f)
	}
	if m.trees != nil {
		f = g.op("Add", f, m.trees.leaves(g, within, k))
	}
	share := numbers[float64](m, "mixture.engine")
	if len(share) == 0 {
		return f
	}
	all := numbers[float32](m, "mixture.linear") // scores × (inputs + 1)
	linear, added := make([]float64, m.width*k), make([]float64, k)
	for c := range k {
		own := all[c*(m.width+1) : (c+1)*(m.width+1)]
		for j := range m.width {
			linear[j*k+c] = float64(own[j])
		}
		added[c] = float64(own[m.width])
	}
	plus := g.op("Add", g.op("MatMul", x, g.doubles(linear, m.width, k)), g.row(added))
	limits := numbers[float64](m, "mixture.limits") // scores × 4: lower and upper limit of plus, and of the sum
	limited := func(v value, at int) value {
		if len(limits) == 0 {
			return v
		}
		lo, hi := make([]float64, k), make([]float64, k)
		for c := range k {
			lo[c], hi[c] = limits[4*c+at], limits[4*c+at+1]
		}
		return g.clipped(v, slices.Concat(lo, hi))
	}
	plus = limited(plus, 0)
	f = g.op("Add", g.op("Mul", f, g.row(share)), plus)
	if machines := numbers[float32](m, "mixture.coefficients"); len(machines) > 0 {
		size := min(int(m.sizes[blockSize]), ownBlock)
		f = g.op("Add", f, g.waves(within, m.frequencies(size, len(machines)/(2*size*k)), machines, k))
	}
	if slopes := numbers[float32](m, "mixture.slopes"); len(slopes) > 0 {
		f = g.op("Add", f, g.op("MatMul", m.distance(g, x, within), g.doubles(transposed(slopes, k), m.width, k)))
	}
	return limited(f, 2)
}

// within returns scaled rows x as random features see them: within the range of the rows that were
// learned, if the model has one.
func (m *model) within(g *graph, x value) value {
	if ends := doubles(numbers[float32](m, "mixture.range")); len(ends) > 0 {
		return g.clipped(x, ends[:2*m.width])
	}
	return x
}

// distance returns how far the inputs of rows x are beyond the range.
func (m *model) distance(g *graph, x, within value) value {
	return g.op("Sub", g.clipped(x, doubles(numbers[float32](m, "mixture.range"))[2*m.width:]), within)
}

// clipped returns rows x with each value between its ends, of which the lower ones come first.
func (g *graph) clipped(x value, ends []float64) value {
	n := len(ends) / 2
	return g.op("Max", g.op("Min", x, g.row(ends[n:])), g.row(ends[:n]))
}

// transposed returns a matrix of that many rows with its rows as columns.
func transposed(a []float32, rows int) []float64 {
	out, n := make([]float64, len(a)), len(a)/rows
	for i, v := range a {
		out[i%n*rows+i/n] = float64(v)
	}
	return out
}

// doubles returns the values of a as float64.
func doubles(a []float32) []float64 {
	out := make([]float64, len(a))
	for i, v := range a {
		out[i] = float64(v)
	}
	return out
}

// maxLeverage bounds the leverage of a row.
const maxLeverage = 1e9

// leverage returns 1 plus the leverage of each scaled row x, rows × 1, or an empty value if the
// model has no posterior. With the Cholesky factor L of the normal equations, the leverage of
// features z is |L⁻¹z|².
func (m *model) leverage(g *graph, x value) value {
	lower := numbers[float64](m, "posterior")
	if len(lower) == 0 {
		return ""
	}
	n := int(math.Sqrt(float64(2 * len(lower))))
	inverse := inverted(lower, n)
	count, size := (n-1)/2, int(m.sizes[blockSize])
	if count <= ownBlock {
		size = min(size, ownBlock)
	}
	root := 1 / math.Sqrt(float64(count))
	of := [2][]float64{make([]float64, count*n), make([]float64, count*n)} // of cosines and sines
	last := make([]float64, n)
	for i, row := range inverse {
		for j := range count {
			of[0][j*n+i], of[1][j*n+i] = row[2*j]*root, row[2*j+1]*root
		}
		last[i] = row[n-1]
	}
	cos, sin := g.features(x, m.frequencies(size, count/size))
	y := g.op("Add", g.op("MatMul", cos, g.doubles(of[0], count, n)), g.op("MatMul", sin, g.doubles(of[1], count, n)))
	y = g.op("Add", y, g.row(last))
	sum := g.op("ReduceSum", g.op("Mul", y, y), g.integers(1))
	return g.op("Add", g.op("Min", sum, g.double(maxLeverage)), g.double(1))
}

// inverted returns the inverse of a lower triangular n × n matrix, which is stored row by row.
func inverted(lower []float64, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		row := lower[i*(i+1)/2 : (i+1)*(i+2)/2]
		out[i][i] = 1 / row[i]
		for j, l := range row[:i] {
			for k := range j + 1 {
				out[i][k] -= l * out[j][k] / row[i]
			}
		}
	}
	return out
}
