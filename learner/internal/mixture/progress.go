package mixture

import (
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/member"
)

// Grade is how good an expert is, for one target.
type Grade struct {
	Weight       float64 // in the mixture, without its stacks
	ServedWeight float64 // in the weighted mean of a scorer; 0 for experts that it cannot have
	Graded       float64 // weight of the rows that it has predicted
	Loss, Error  float64 // means over these
	RecentLoss   float64 // decayed
	RecentError  float64
}

// Outliers returns the number of rows that were not learned, since a label was far from all
// others.
func (m *Mixture) Outliers() int64 {
	if len(m.now.bounds) == 0 {
		return 0
	}
	return int64(m.now.bounds[0].head[boundOutside])
}

// Grades returns the grades of all experts for target j. They are followed by that of the mixture,
// whose Weight is the weight of its part without stacks, and that of the mixture of a scorer.
func (m *Mixture) Grades(j int) []Grade {
	r := m.now
	all := make([]Grade, m.experts+others)
	for e := range all {
		t := m.tally(r, j, e)
		g := &all[e]
		if g.Graded = t[tallyWeight]; g.Graded > 0 {
			g.Loss, g.Error = t[tallyLoss]/g.Graded, t[tallyError]/g.Graded
			g.RecentLoss, g.RecentError = t[tallyRecentLoss]/t[tallyRecentWeight], t[tallyRecentError]/t[tallyRecentWeight]
		}
	}
	weights, awake := make([]float64, m.experts), slices.Repeat([]bool{true}, m.experts)
	r.inner[j].Mix(weights, awake)
	for e, w := range weights {
		all[e].Weight = w
	}
	r.served[j].Mix(weights[:len(m.static)], awake[:len(m.static)])
	keepEngine(weights[:len(m.static)], m.engineFloor(r, j))
	for i, e := range m.static {
		all[e].ServedWeight = weights[i]
	}
	r.outer[j].Mix(weights[:len(outerPrior)], awake[:len(outerPrior)])
	all[m.experts].Weight = weights[0]
	return all
}

// Labelled reports whether expert e needs the labels of earlier rows.
func (m *Mixture) Labelled(e int) bool {
	return e > 0 && e <= len(m.kinds) && m.kinds[e-1].Labels
}

// Linear returns the values, of that size, of the linear model with the greatest weight
// for the row of the last Predict, those of the engine while there is none, and zeros while there
// is only one class.
func (m *Mixture) Linear(size int) []float64 {
	if len(m.p) != m.experts*size {
		return make([]float64, size) // the only class is certain
	}
	best, most := 0, 0.0
	m.ahead.served[0].Mix(m.w[:len(m.static)], m.everyStatic)
	for i, e := range m.static {
		if e == 0 || !m.awake[e] || m.w[i] <= most {
			continue
		}
		if _, ok := m.members[e-1].(member.Affine); ok {
			best, most = e, m.w[i]
		}
	}
	return m.p[best*size : (best+1)*size]
}
