package features

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Packed holds coefficients in the layout in which Sum computes with them. If only a few of them
// change between sums, the others need not be packed again. The zero value holds none. A Packed is
// not part of a model.
type Packed struct {
	Team  *cores.Team // does the sums; nil: as many goroutines as they justify
	Cache *Cache      // of rows that may be those of the next sums, see Cache.Put; nil: none

	coef             []float32 // in panels of vec.PackCoefficients
	features, scores int
}

// Set packs the rows [from, to) of coef, which has a row of scores for each feature, and the rows
// that share a panel with them. All other rows remain as earlier calls have set them.
func (p *Packed) Set(coef []float32, from, to, scores int) {
	n := len(coef) / scores
	p.Resize(n, scores)
	const panel = 2 * vec.Panel
	from, to = from/panel*panel, min(vec.Panels(to, panel)*panel, n)
	if from < to {
		vec.PackCoefficients(p.coef[from*scores:vec.Panels(to, panel)*panel*scores], coef[from*scores:to*scores], scores)
	}
}

// Resize sets the number of features. It keeps the coefficients, unless there are fewer features
// than before or another number of scores. After it, several goroutines may call Set at the same
// time, as long as no two of them set features of the same panel of 2 × vec.Panel.
func (p *Packed) Resize(features, scores int) {
	if p.scores != scores || p.features > features {
		*p = Packed{Team: p.Team, Cache: p.Cache, coef: p.coef[:0], scores: scores}
	}
	if p.features < features {
		p.features = features
		size := vec.Panels(features/2, vec.Panel) * 2 * vec.Panel * scores
		p.coef = slices.Grow(p.coef, size-len(p.coef))[:size]
	}
}

// of reports whether p holds coefficients for this number of features and scores.
func (p *Packed) of(features, scores int) bool {
	return p != nil && p.features == features && p.scores == scores
}
