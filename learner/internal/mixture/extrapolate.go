package mixture

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Beyond the rows that were learned, the scores of random features mean nothing: the kernel says
// that they return to the mean, and a finite number of cosines does not even do that. In a mixture
// that extrapolates, the engine and the kernel machines therefore see inputs within the range of
// those rows, and what an input is beyond it moves their scores as it moves those of the linear
// member that forgets nothing.

// margin is how much wider the range is than the inputs that were learned, at either end, in scales
// of the kernel: so close to a row its predictions are good. Chosen by trial, see docs/constants.md.
const margin = 0.1

// farthest is how far from the range an input still moves the scores, as a multiple of its width, so
// that a wild input moves them no further. Chosen by trial, see docs/constants.md.
const farthest = 0.5

// farthestOfClasses is farthest for the scores of classes: so little of a trend in the odds is enough
// to decide for a class. Chosen by trial, see docs/constants.md.
const farthestOfClasses = 0.1

// Margin returns by how much the range of scaled inputs is wider than those that were learned, for a
// kernel of that scale.
func Margin(scale float64) float32 { return float32(margin * scale) }

// span is the range of each input over the rows that the members have learned.
type span struct {
	low, high []float32 // nil before the first fit, and in a mixture that does not extrapolate
	margin    float32
}

// add widens s by the inputs of rows x that have a weight.
func (s *span) add(x []float32, weights []float64) {
	if len(weights) == 0 {
		return
	}
	d := len(x) / len(weights)
	for i, w := range weights {
		row := x[i*d : (i+1)*d]
		if !(w > 0) {
			continue
		}
		if s.low == nil {
			s.low, s.high = slices.Clone(row), slices.Clone(row)
			continue
		}
		for j, v := range row {
			s.low[j], s.high[j] = min(s.low[j], v), max(s.high[j], v)
		}
	}
}

// ends returns what Static.Range has. farthest is that of the task.
func (s *span) ends(farthest float64) []float32 {
	n := len(s.low)
	out := make([]float32, 4*n)
	for j := range n {
		low, high := s.low[j]-s.margin, s.high[j]+s.margin
		far := float32(farthest * float64(high-low))
		out[j], out[n+j], out[2*n+j], out[3*n+j] = low, high, low-far, high+far
	}
	return out
}

// save writes s, and load reads it.
func (s *span) save(a *state.Arrays) {
	state.Put(a, "mixture.span", max(1, len(s.low)), slices.Concat(s.low, s.high))
}

func (s *span) load(from *state.Reader, inputs int) {
	columns := max(1, inputs)
	if len(from.In) > 0 && from.In[0].Shape[0] == 0 { // no row has had a weight
		columns = 1
	}
	ends := state.Take[float32](from, "mixture.span", state.AnySize, columns)
	if from.Err != nil || len(ends) == 0 {
		return
	}
	if from.Require(len(ends) == 2*inputs, "mixture.span: %d numbers for %d inputs", len(ends), inputs); from.Err != nil {
		return
	}
	s.low, s.high = ends[:inputs:inputs], ends[inputs:]
	requireRange(from, "mixture.span", ends)
}

// requireRange checks the ends of a range.
func requireRange(from *state.Reader, name string, ends []float32) {
	n := len(ends) / 2
	for j, lo := range ends[:n] {
		hi := ends[n+j]
		from.Require(-math.MaxFloat32 <= lo && lo <= hi && hi <= math.MaxFloat32, "%s: from %v to %v", name, lo, hi)
	}
}

// setSteady sets the coefficients of the linear member that forgets nothing; they are 0 before it has
// learned.
func (m *Mixture) setSteady(h *target.Head) {
	if m.span.low == nil {
		m.steady = nil
		return
	}
	n := len(m.factors)
	m.steady = make([]float32, h.Scores()*n)
	i := slices.IndexFunc(m.kinds, func(k member.Kind) bool { return k.Name == steadyLinear })
	if i < 0 || !m.members[i].(member.Affine).Ready() {
		return
	}
	sum := make([]float64, n+1)
	for c := range h.Scores() {
		clear(sum)
		m.members[i].(member.Affine).AddTo(sum, c, 1, h)
		for j, v := range sum[:n] {
			m.steady[c*n+j] = float32(v)
		}
	}
}

// steadyLinear is the name of the linear member that forgets nothing.
const steadyLinear = "linear:1"

// setRange sets the range of a scorer, and appends its slopes for score c, given the share of the
// engine and the machines together.
func (m *Mixture) setRange(c int, share float64) {
	if m.steady == nil {
		return
	}
	if m.Static.Range == nil {
		far := farthest
		if m.task == target.Classification {
			far = farthestOfClasses
		}
		m.Static.Range, m.Static.Slopes = m.span.ends(far), make([]float32, 0, len(m.steady))
	}
	n := len(m.factors)
	for _, v := range m.steady[c*n : (c+1)*n] {
		m.Static.Slopes = append(m.Static.Slopes, float32(float64(share*float64(v))))
	}
}

// Beyond appends to dst what inputs x that are beyond the range add to the scores of the engine, and
// to those of each kernel machine. within are x as Static.Within returns them.
func (m *Mixture) Beyond(dst []float64, x, within []float32) []float64 {
	for c := range len(m.steady) / max(1, len(x)) {
		dst = append(dst, m.Static.beyond(m.steady[c*len(x):(c+1)*len(x)], x, within))
	}
	return dst
}

// Within returns rows x with each input moved into the range: x itself if s has none, otherwise a
// copy that is appended to dst.
func (s *Static) Within(dst, x []float32) []float32 {
	d := len(s.Range) / 4
	if d == 0 {
		return x
	}
	low, high, from := s.Range[:d], s.Range[d:2*d], len(dst)
	dst = append(dst, x...)
	for row := range slices.Chunk(dst[from:], d) {
		for j, v := range row {
			row[j] = max(low[j], min(high[j], v))
		}
	}
	return dst
}

// addBeyond adds to the scores f of a row x what its inputs are beyond the range.
func (s *Static) addBeyond(f []float64, x, within []float32) {
	if len(s.Slopes) == 0 || slices.Equal(x, within) {
		return
	}
	for c := range f {
		f[c] += s.beyond(s.Slopes[c*len(x):(c+1)*len(x)], x, within)
	}
}

// beyond returns the sum of the slopes times the distances of the inputs.
func (s *Static) beyond(slopes, x, within []float32) (sum float64) {
	for j := range x {
		sum += float64(float64(slopes[j]) * s.distance(x, within, j))
	}
	return sum
}

// distance returns how far input j of x is beyond the range: at most farthest times its width, and
// negative below it.
func (s *Static) distance(x, within []float32, j int) float64 {
	n := len(x)
	return float64(max(s.Range[2*n+j], min(s.Range[3*n+j], x[j]))) - float64(within[j])
}

// AttributeBeyond adds to parts, inputs × scores, what each input of x adds to the scores because it
// is beyond the range.
func (s *Static) AttributeBeyond(parts []float64, x, within []float32) {
	if len(s.Slopes) == 0 {
		return
	}
	k := len(s.Engine)
	for j := range x {
		for c := range k {
			parts[j*k+c] += float64(float64(s.Slopes[c*len(x)+j]) * s.distance(x, within, j))
		}
	}
}

// saveRange writes the range and the slopes, if there are any, and loadRange reads them.
func (s *Static) saveRange(a *state.Arrays) {
	if s.Range != nil {
		state.Put(a, "mixture.range", len(s.Range)/4, s.Range)
		state.Put(a, "mixture.slopes", len(s.Range)/4, s.Slopes)
	}
}

func (s *Static) loadRange(from *state.Reader, scores, inputs int) {
	if from.Err != nil || len(from.In) == 0 || from.In[0].Name != "mixture.range" {
		return
	}
	from.Require(inputs > 0 && s.Early == nil, "mixture.range: there is no fit")
	s.Range = state.Take[float32](from, "mixture.range", 4, inputs)
	s.Slopes = state.Take[float32](from, "mixture.slopes", scores, inputs)
	if from.Err != nil {
		return
	}
	requireRange(from, "mixture.range", s.Range[:2*inputs])
	requireRange(from, "mixture.range", s.Range[2*inputs:])
	for _, v := range s.Slopes {
		from.Require(math.Abs(float64(v)) < mostStatic, "mixture.slopes: a slope is %v", v)
	}
}
