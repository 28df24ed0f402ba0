package vec

import "math"

// Shapes of the packed layout, and the lengths of the chains in package doc's
// definition. The group is a multiple of the panel, and of 32.
const (
	Lanes = 32  // rows in a panel of rows
	Panel = 12  // frequencies in a panel of frequencies
	Group = 96  // frequencies whose features share a float32 chain
	Run   = 256 // rows whose gradient shares float32 chains
	width = 16  // number of chains in which a run of a gradient is summed
)

// Panels returns the number of panels of n that hold m.
func Panels(m, n int) int { return (m + n - 1) / n }

const halfTurn = float32(1 / math.Pi)

// clamp returns v, with magnitudes above 2^50 and NaNs replaced by 2^50, and
// magnitudes below 2^-50 by 0.
func clamp(v float32) float32 {
	b := math.Float32bits(v)
	switch a := b &^ (1 << 31); {
	case a > (127+50)<<23:
		return math.Float32frombits(b&(1<<31) | (127+50)<<23)
	case a < (127-50)<<23:
		return 0
	}
	return v
}

// PackRows packs the rows of x, of dim values each, into panels of Lanes rows, [dim][Lanes], and
// pads the last panel with zeros. dst must have room for whole panels.
func PackRows(dst, x []float32, dim int) {
	rows := len(x) / dim
	for i := 0; i < rows; i += Lanes {
		panel := dst[i*dim : (i+Lanes)*dim]
		l := 0
		for ; active.packRows != nil && l+16 <= Lanes && i+l+16 <= rows; l += 16 {
			active.packRows(panel[l:], x[(i+l)*dim:], dim)
		}
		for ; l+8 <= Lanes && i+l+8 <= rows; l += 8 {
			pack8(panel[l:], x[(i+l)*dim:(i+l+8)*dim], dim)
		}
		for ; l < Lanes; l++ {
			if i+l < rows {
				for k, v := range x[(i+l)*dim : (i+l+1)*dim] {
					panel[k*Lanes+l] = clamp(v)
				}
				continue
			}
			for k := range dim {
				panel[k*Lanes+l] = 0
			}
		}
	}
}

// PackRow packs x as row i in dst, which consists of whole panels as from PackRows.
func PackRow(dst, x []float32, i int) {
	panel := dst[i/Lanes*Lanes*len(x):][:Lanes*len(x)]
	for k, v := range x {
		panel[k*Lanes+i%Lanes] = clamp(v)
	}
}

// pack8 packs eight rows at once, so that writes are contiguous.
func pack8(dst, x []float32, dim int) {
	x0, x1, x2, x3 := x[:dim], x[dim:][:dim], x[2*dim:][:dim], x[3*dim:][:dim]
	x4, x5, x6, x7 := x[4*dim:][:dim], x[5*dim:][:dim], x[6*dim:][:dim], x[7*dim:][:dim]
	for k := range dim {
		o := (*[8]float32)(dst[k*Lanes:])
		o[0], o[1], o[2], o[3] = clamp(x0[k]), clamp(x1[k]), clamp(x2[k]), clamp(x3[k])
		o[4], o[5], o[6], o[7] = clamp(x4[k]), clamp(x5[k]), clamp(x6[k]), clamp(x7[k])
	}
}

// PackFrequencies packs the rows of w, of dim values each in radians, as the frequencies from,
// from+1, ... of the panels in dst, [dim][Panel], in half turns. It does not touch other
// frequencies.
func PackFrequencies(dst, w []float32, from, dim int) {
	for n, j := len(w)/dim, 0; j < n; {
		panel := dst[(from+j)/Panel*Panel*dim:]
		lane := (from + j) % Panel
		if active.packFrequencies != nil && lane%4 == 0 && j+4 <= n {
			active.packFrequencies(panel[lane:], w[j*dim:], dim)
			j += 4
			continue
		}
		for k, v := range w[j*dim : (j+1)*dim] {
			panel[k*Panel+lane] = clamp(float32(v * halfTurn))
		}
		j++
	}
}

// PackCoefficients packs coef into panels [2][scores][Panel], and pads the last panel with zeros.
// The rows 2j and 2j+1 of coef are the coefficients of the cosine and the sine of frequency j, for
// each score.
func PackCoefficients(dst, coef []float32, scores int) {
	m := len(coef) / (2 * scores)
	for j := 0; j < m; j += Panel {
		panel := dst[2*j*scores : 2*(j+Panel)*scores]
		n := min(Panel, m-j)
		if n < Panel {
			clear(panel)
		}
		rows := coef[2*j*scores : 2*(j+n)*scores]
		switch {
		case n == Panel && scores == 1:
			p, r := (*[2 * Panel]float32)(panel), (*[2 * Panel]float32)(rows)
			for i := range Panel {
				p[i], p[Panel+i] = r[2*i], r[2*i+1]
			}
		case n == Panel && scores > 2 && active.transpose != nil:
			for i := 0; i < Panel; i += 4 {
				active.transpose(panel[i:], rows[2*i*scores:], 2*scores)
			}
		default:
			for i := range n {
				for h, v := range rows[2*i*scores : 2*(i+1)*scores] {
					panel[h*Panel+i] = v
				}
			}
		}
	}
}

// PackFactors packs the rows of g, of scores values each, into panels [scores][Lanes], rounded to
// float32, and pads the last panel with zeros.
func PackFactors(dst []float32, g []float64, scores int) {
	rows := len(g) / scores
	for i := 0; i < rows; i += Lanes {
		panel := dst[i*scores : (i+Lanes)*scores]
		n := min(Lanes, rows-i)
		if n < Lanes {
			clear(panel)
		}
		for l := range n {
			for c, v := range g[(i+l)*scores : (i+l+1)*scores] {
				panel[c*Lanes+l] = float32(v)
			}
		}
	}
}
