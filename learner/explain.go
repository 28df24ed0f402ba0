package learner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/learner/internal/attribution"
)

// Explanation says which columns move the scores of a row, and by how much, compared with
// the row at the centre of the columns' scaling, which is the mean of the first rows
// unless they are sparse.
type Explanation struct {
	Size   int       // number of scores: one for two classes, otherwise one for each class or target
	Base   []float64 // scores at the centre
	Scores []float64 // scores of the row, before the link; of a regression with an identity link in the label's units, as everything here
	Parts  []float64 // columns × Size: what each column of the row adds to each score

	// Rest is what Scores has beyond Base and all Parts: the rounding of random features to
	// float32, at most ExplanationRest times the sum of the magnitudes of coefficients; and, for a
	// mixture of numbers, the difference that the limits of its predictions make.
	Rest []float64
}

// ExplanationRest bounds Explanation.Rest where no limit of a prediction applies.
const ExplanationRest = 1e-6

// ErrUnexplained means that the predictions of a model cannot be explained.
var ErrUnexplained = errors.New("the predictions cannot be explained")

// Explain explains the prediction of each row of b by integrated gradients: see package
// attribution. The error is ErrUnexplained for kernels with features of their own and for
// a given metric.
func (m *Model) Explain(b *Batch) ([]Explanation, error) {
	if m.dim != 0 && b.Dim() != m.dim {
		return nil, fmt.Errorf("%w: rows have %d values, the model has %d inputs", ErrUnexplained, b.Dim(), m.dim)
	}
	if m.bank == nil {
		return nil, fmt.Errorf("%w: the model has made no fit yet", ErrUnexplained)
	}
	if m.given != nil {
		return nil, fmt.Errorf("%w: the model has a metric, which mixes the columns", ErrUnexplained)
	}
	if m.static != nil && m.static.Sparse != nil {
		return nil, fmt.Errorf("%w: columns of sparse inputs have no names after hashing", ErrUnexplained)
	}
	if _, own := m.bank.Map().Kernel.(kernel.Featured); own {
		return nil, fmt.Errorf("%w: the kernel %v has features of its own, not frequencies", ErrUnexplained, m.bank.Map().Kernel)
	}
	m.Predict(b)
	n, within := b.Len(), m.seenOf(m.x)
	out := make([]Explanation, n)
	var team cores.Team
	tasks := (n + explainedTogether - 1) / explainedTogether
	team.Resize(tasks)
	team.Run(tasks, func(_, i int) {
		m.explain(out, within, i*explainedTogether, min((i+1)*explainedTogether, n))
	})
	return out, nil
}

// explainedTogether is the number of rows that are explained together, with random features that
// are drawn once.
const explainedTogether = 16

// explain sets out[from:to] to the explanations of these rows. Predict must have been called
// before. within has all rows as seenOf returns them.
func (m *Model) explain(out []Explanation, within []float32, from, to int) {
	k, d := m.head.Scores(), len(m.x)/len(out)
	x := make([]float64, (to-from)*d)
	for i, v := range within[from*d : to*d] {
		x[i] = float64(v)
	}
	base, ownBase := slices.Clone(m.intercept), make([]float64, k)
	own := make([]float64, len(x)*k) // of the machines of a mixture
	var parts []float64
	if m.pruned != nil {
		parts = waveParts(base, x, m.pruned.Map, m.pruned.blocks, m.coef, func(i int) bool { return m.pruned.kept[i/8]>>(i%8)&1 == 1 })
	} else {
		parts = waveParts(base, x, m.bank.Map(), m.bank.Blocks(), m.coef, nil)
	}
	if m.machines != nil && m.static != nil && len(m.static.Engine) > 0 {
		own = waveParts(ownBase, x, m.machines.Map(), m.machines.Blocks(), m.static.Coef, nil)
	}
	for i := range out[from:to] {
		e := Explanation{Size: k, Base: slices.Clone(base), Scores: slices.Clone(m.f[(from+i)*k : (from+i+1)*k])}
		of := parts[i*d*k : (i+1)*d*k]
		m.attribute(of, e.Base, m.x[(from+i)*d:(from+i+1)*d], within[(from+i)*d:(from+i+1)*d], own[i*d*k:(i+1)*d*k], ownBase)
		m.inUnits(of, e.Base, e.Scores)
		e.Parts, e.Rest = m.byColumn(of, k), make([]float64, k)
		for c := range k {
			rest := e.Scores[c] - e.Base[c]
			for j := range len(e.Parts) / k {
				rest -= e.Parts[j*k+c]
			}
			e.Rest[c] = rest
		}
		out[from+i] = e
	}
}

// inUnits turns standardised scores of a regression, and their parts, into the label's
// units, unless the link of the loss does more than that.
func (m *Model) inUnits(parts, base, scores []float64) {
	if m.head.Task != Regression || m.head.Loss == nil || m.head.Loss.String() == "poisson" {
		return
	}
	k := len(base)
	for c := range base {
		u := m.head.Scales[c*len(m.head.Scales)/k]
		base[c] = u.Mean + float64(u.Deviation*base[c])
		scores[c] = u.Mean + float64(u.Deviation*scores[c])
		for j := range len(parts) / k {
			parts[j*k+c] = float64(parts[j*k+c] * u.Deviation)
		}
	}
}

// attribute completes parts and base, which hold what the random features add to the scores of x, a
// scaled row, that they see as within. It adds the leaves of trees. In a mixture it then multiplies
// the sum by the share of the algorithm, and adds the linear members, the kernel machines, and what x
// is beyond the range; own and ownBase hold what the machines add.
func (m *Model) attribute(parts, base []float64, x, within []float32, own, ownBase []float64) {
	k := len(base)
	if m.forest != nil {
		attribution.Leaves(parts, base, m.forest, within, m.leafCoef)
	}
	if m.static == nil || len(m.static.Engine) == 0 {
		return
	}
	for c, share := range m.static.Engine {
		base[c] = float64(share * base[c])
		for j := range x {
			parts[j*k+c] = float64(share * parts[j*k+c])
		}
	}
	for c, v := range ownBase {
		base[c] += v
	}
	for i, v := range own {
		parts[i] += v
	}
	attribution.Linear(parts, base, x, m.static.Linear)
	m.static.AttributeBeyond(parts, x, within)
}

// waveParts returns the parts, rows × columns × scores, of random features of whole blocks of a Map
// for rows x, and adds their scores at the centre to base. If kept is not nil, coef only has the
// coefficients of the features that kept selects, and those of the others are 0.
func waveParts(base, x []float64, of features.Map, blocks int, coef []float32, kept func(i int) bool) []float64 {
	size, d, k := of.BlockSize, of.Dim, len(base)
	if size == 0 {
		size = features.DefaultBlockSize
	}
	slopes, all, zeros := make([]float64, len(x)*k), make([]float32, size*d), make([]float32, 2*k)
	var waves attribution.Waves
	var own []float32
	for b := range blocks {
		of.Frequencies(all, b)
		weights := of.Weights(b)
		own = own[:0]
		for i := range size {
			if kept != nil && !kept(b*size+i) {
				own = append(own, zeros...)
				continue
			}
			for _, v := range coef[:2*k] {
				if weights != nil {
					v = float32(weights[i] * v)
				}
				own = append(own, v)
			}
			coef = coef[2*k:]
		}
		waves.Set(all, d, own)
		waves.AddBase(base)
		for i := 0; i < len(x); i += d {
			waves.AddSlopes(slopes[i*k:(i+d)*k], x[i:i+d])
		}
	}
	parts := make([]float64, len(slopes))
	for i := 0; i < len(x); i += d {
		of, slopes := parts[i*k:(i+d)*k], slopes[i*k:(i+d)*k]
		for j, v := range x[i : i+d] {
			for c := range k {
				of[j*k+c] = slopes[c*d+j] * v
			}
		}
	}
	return parts
}

// byColumn returns the part of each raw column: the sum over the columns that the model sees for
// it.
func (m *Model) byColumn(parts []float64, k int) []float64 {
	if m.encoding == nil {
		return parts
	}
	out := make([]float64, 0, m.encoding.Dim()*k)
	for j := range m.encoding.Dim() {
		sums := make([]float64, k)
		for range m.encoding.WidthOf(j) {
			for c, v := range parts[:k] {
				sums[c] += v
			}
			parts = parts[k:]
		}
		out = append(out, sums...)
	}
	return out
}
