package divergence

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// take adds the features of rows to the reference, or to the block after it.
func (m *Monitor) take(x []float64) {
	for len(x) > 0 {
		n := min(len(x), vec.Lanes*m.dim)
		m.takePanel(x[:n])
		x = x[n:]
	}
}

// takePanel is take for at most vec.Lanes rows.
func (m *Monitor) takePanel(x []float64) {
	s := &m.scratch
	rows := len(x) / m.dim
	s.standard = resized(s.standard, len(x))
	m.standardise(s.standard, x)

	s.phi = resized(s.phi, rows*jointFeatures)
	m.bank.Features(s.phi, 0, s.standard)
	s.joint = resized(s.joint, jointFeatures)
	sums := m.block
	if m.products != nil {
		sums = m.reference
	}
	for i := range rows {
		for j, v := range s.phi[i*jointFeatures : (i+1)*jointFeatures] {
			s.joint[j] = float64(v)
			sums[j] += float64(v)
		}
		if m.products != nil {
			for j, v := range s.joint {
				vec.Axpy(v, s.joint[:j+1], m.products[j*jointFeatures:j*jointFeatures+j+1])
			}
		}
	}
	m.takeColumns(x, sums[jointFeatures:])
}

// takeColumns adds the features of each column to the sums. The features of a missing value are 0.
func (m *Monitor) takeColumns(x, sums []float64) {
	const size = vec.Panel * vec.Lanes
	s := &m.scratch
	rows, panels := len(x)/m.dim, vec.Panels(m.dim, vec.Panel)
	s.packed = resized(s.packed, panels*size)
	clear(s.packed[m.dim*vec.Lanes:])
	vec.PackRows(s.packed, s.standard, m.dim)
	var products []float64
	if m.products != nil {
		products = m.products[jointFeatures*jointFeatures:]
	}
	for p := range panels {
		vec.FeaturesPhases(s.tile[:], halfTurns, s.packed[p*size:(p+1)*size], &s.vec)
		for j := p * vec.Panel; j < min((p+1)*vec.Panel, m.dim); j++ {
			if m.ignores(j) {
				continue
			}
			at := (j - p*vec.Panel) * vec.Lanes
			cosines, sines := s.tile[at:at+rows], s.tile[size+at:size+at+rows]
			to := (*[columnFeatures]float64)(sums[j*columnFeatures:])
			for i := range rows {
				if v := x[i*m.dim+j]; v != v {
					continue
				}
				f := columnRow(float64(cosines[i]), float64(sines[i]))
				for k, v := range f {
					to[k] += v
				}
				if products != nil {
					of := products[j*columnFeatures*columnFeatures:]
					for k, v := range f {
						for l := range k + 1 {
							of[k*columnFeatures+l] += float64(v * f[l])
						}
					}
				}
			}
		}
	}
}

// halfTurns multiplies a standardised value to give its phase at columnFrequency, in half turns.
const halfTurns = float32(columnFrequency / 3.14159265358979323846)

// columnRow returns the features of a value: its cosine and sine, and the cosine and sine at three
// times the frequency.
func columnRow(cos, sin float64) [columnFeatures]float64 {
	return [...]float64{
		cos, sin,
		float64(cos * (float64(4*float64(cos*cos)) - 3)),
		float64(sin * (3 - float64(4*float64(sin*sin)))),
	}
}

func (m *Monitor) ignores(column int) bool { return m.ignored != nil && m.ignored[column] }

// standardise sets dst to the rows in standard deviations from the mean. Missing values and ignored
// columns are set to the mean.
func (m *Monitor) standardise(dst []float32, x []float64) {
	for i := 0; i < len(x); i += m.dim {
		m.scale.row(dst[i:i+m.dim], x[i:i+m.dim])
		for j, is := range m.ignored {
			if is {
				dst[i+j] = 0
			}
		}
	}
}

func resized[T float32 | float64](x []T, n int) []T { return slices.Grow(x[:0], n)[:n] }
