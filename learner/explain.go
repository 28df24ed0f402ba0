package learner

import (
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
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
	// float32, at most ExplanationRest times the sum of the magnitudes of coefficients.
	Rest []float64
}

// ExplanationRest bounds Explanation.Rest.
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
	n, k := b.Len(), m.head.Scores()
	d := len(m.x) / max(1, n)
	out := make([]Explanation, n)
	for i := range out {
		parts := make([]float64, d*k)
		e := Explanation{Size: k, Base: append([]float64(nil), m.intercept...), Scores: append([]float64(nil), m.f[i*k:(i+1)*k]...)}
		m.attribute(parts, e.Base, m.x[i*d:(i+1)*d])
		m.inUnits(parts, e.Base, e.Scores)
		e.Parts, e.Rest = m.byColumn(parts, k), make([]float64, k)
		for c := range k {
			rest := e.Scores[c] - e.Base[c]
			for j := range len(e.Parts) / k {
				rest -= e.Parts[j*k+c]
			}
			e.Rest[c] = rest
		}
		out[i] = e
	}
	return out, nil
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

// attribute adds to parts and base what x, a scaled row, adds to each score.
func (m *Model) attribute(parts, base []float64, x []float32) {
	k := len(base)
	if m.pruned != nil {
		addWaves(parts, base, x, m.pruned.Map, m.pruned.blocks, m.coef, func(i int) bool { return m.pruned.kept[i/8]>>(i%8)&1 == 1 })
	} else {
		addWaves(parts, base, x, m.bank.Map(), m.bank.Blocks(), m.coef, nil)
	}
	if m.forest != nil {
		attribution.Leaves(parts, base, m.forest, x, m.leafCoef)
	}
	if m.static == nil || len(m.static.Engine) == 0 {
		return
	}
	own, ownBase := make([]float64, len(parts)), make([]float64, k)
	if m.machines != nil {
		addWaves(own, ownBase, x, m.machines.Map(), m.machines.Blocks(), m.static.Coef, nil)
	}
	for c, share := range m.static.Engine {
		base[c] = float64(share*base[c]) + ownBase[c]
		for j := range x {
			parts[j*k+c] = float64(share*parts[j*k+c]) + own[j*k+c]
		}
	}
	attribution.Linear(parts, base, x, m.static.Linear)
}

// addWaves adds the parts of random features of whole blocks of a Map. Unless kept is nil,
// coef has the coefficients of those only that it selects.
func addWaves(parts, base []float64, x []float32, of features.Map, blocks int, coef []float32, kept func(i int) bool) {
	size := of.BlockSize
	if size == 0 {
		size = features.DefaultBlockSize
	}
	per := 2 * len(base)
	all := make([]float32, size*of.Dim)
	for b := range blocks {
		of.Frequencies(all, b)
		weights := of.Weights(b)
		chosen, n := all[:0], 0
		var weighted []float32
		for i := range size {
			if kept != nil && !kept(b*size+i) {
				continue
			}
			chosen = append(chosen, all[i*of.Dim:(i+1)*of.Dim]...)
			for _, v := range coef[n : n+per] {
				if weights != nil {
					weighted = append(weighted, float32(weights[i]*v))
				}
			}
			n += per
		}
		if weights == nil {
			weighted = coef[:n]
		}
		attribution.Waves(parts, base, x, chosen, weighted)
		coef = coef[n:]
	}
}

// byColumn returns the parts of the raw columns, each of which may be several for the model.
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
