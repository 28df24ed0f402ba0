package onnx

// How a column is encoded, in the array encode.columns (snapshot/FORMAT.md):
//   - asIs: as the number itself,
//   - asImputed: as the number, or a fixed value if it is missing,
//   - asIndicated: likewise, with an indicator of missing values,
//   - asAbsent: not at all,
//   - asNormal: as its normal score,
//   - asNormalIndicated: as its normal score, with an indicator of missing values.
const (
	asIs              = 0
	asImputed         = 1
	asIndicated       = 2
	asAbsent          = 3
	asNormal          = 8
	asNormalIndicated = 9
)

const (
	maxMagnitude = 1e150 // largest absolute value
	clip         = 8     // scaling is linear up to this many standard deviations
)

// encoded returns the rows in the encoding that the model uses, before they are scaled.
func (m *model) encoded(g *graph, x value) (value, error) {
	n, center := len(m.schema.Columns), numbers[float64](m, "center")
	kinds, parameters := numbers[int64](m, "encode.columns"), numbers[float64](m, "encode.parameters")
	replaced, take, indicate := make([]float64, n), make([]float64, n*m.width), make([]float64, n*m.width)
	var normal normalColumns
	at := 0
	for j := range n {
		kind, own := int64(asIs), parameters[:0]
		if kinds != nil {
			kind, own, parameters = kinds[3*j], parameters[:kinds[3*j+1]], parameters[kinds[3*j+1]:]
		}
		switch kind {
		case asIs:
			if !m.zeros {
				replaced[j] = center[at]
			}
			take[j*m.width+at] = 1
		case asImputed, asIndicated:
			replaced[j] = own[0]
			take[j*m.width+at] = 1
		case asNormal, asNormalIndicated:
			normal.add(j, at, own)
		case asAbsent:
		default:
			return "", unsupported("what the column %s becomes has no counterpart: %s", m.schema.Columns[j], changeColumns)
		}
		if kind == asIndicated || kind == asNormalIndicated {
			at++
			indicate[j*m.width+at] = 1
		}
		at++
	}
	missing := g.op("IsNaN", x)
	filled := g.op("Clip", g.op("Where", missing, g.row(replaced), x), g.double(-maxMagnitude), g.double(maxMagnitude))
	if kinds == nil {
		return filled, nil
	}
	all := g.op("Add", g.op("MatMul", filled, g.doubles(take, n, m.width)), g.op("MatMul", g.cast(missing, tensorFloat64), g.doubles(indicate, n, m.width)))
	if normal.raw == nil {
		return all, nil
	}
	return g.op("Add", all, m.normal(g, filled, missing, &normal)), nil
}

// scaled declares the input of the graph, and returns its rows encoded, scaled to the units of
// the kernel, and rounded to float32.
func (m *model) scaled(g *graph) (value, error) {
	x, err := m.encoded(g, g.input("x", tensorFloat64, len(m.schema.Columns)))
	if err != nil {
		return "", err
	}
	v := g.op("Mul", g.op("Sub", x, g.row(numbers[float64](m, "center"))), g.row(numbers[float64](m, "scale")))
	far := g.op("Abs", v)
	beyond := g.op("Log", g.op("Div", g.op("Max", far, g.double(clip)), g.double(clip)))
	clipped := g.op("Mul", g.op("Sign", v), g.op("Add", g.op("Mul", beyond, g.double(clip/2)), g.double(clip)))
	v = g.op("Where", g.op("Greater", far, g.double(clip)), clipped, v)
	return g.rounded(g.op("Mul", v, g.row(numbers[float64](m, "metric")))), nil
}
