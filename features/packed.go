package features

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Packed is coefficients as Sum computes with them, of which a few change between sums: it
// saves packing the others again. The zero value is without any. It is no part of a model.
type Packed struct {
	Team *cores.Team // does the sums; nil: as many goroutines as they justify

	coef             []float32 // in panels of vec.PackCoefficients
	features, scores int
}

// Set takes the rows [from, to) of coef, which has a row of scores for each feature, and
// those beside them that share their panels. All others are those of the calls before.
func (p *Packed) Set(coef []float32, from, to, scores int) {
	n := len(coef) / scores
	p.Resize(n, scores)
	const panel = 2 * vec.Panel
	from, to = from/panel*panel, min(vec.Panels(to, panel)*panel, n)
	if from < to {
		vec.PackCoefficients(p.coef[from*scores:vec.Panels(to, panel)*panel*scores], coef[from*scores:to*scores], scores)
	}
}

// Resize has p be of that many features. It keeps the coefficients that there were, unless
// there are fewer features now or another number of scores. Several goroutines may then Set
// features at the same time, where no two of them share a panel of 2 × vec.Panel.
func (p *Packed) Resize(features, scores int) {
	if p.scores != scores || p.features > features {
		*p = Packed{Team: p.Team, coef: p.coef[:0], scores: scores}
	}
	if p.features < features {
		p.features = features
		size := vec.Panels(features/2, vec.Panel) * 2 * vec.Panel * scores
		p.coef = slices.Grow(p.coef, size-len(p.coef))[:size]
	}
}

// of reports whether p has the coefficients of Sum for this number of features and scores.
func (p *Packed) of(features, scores int) bool {
	return p != nil && p.features == features && p.scores == scores
}
