package serving

import (
	"math"

	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// saveForest writes the trees and the coefficients of their leaves, if there are any.
func (v *Part) saveForest(a *state.Arrays) {
	if v.Forest == nil {
		return
	}
	columns, thresholds := v.Forest.Encode()
	state.Put(a, "forest.columns", len(columns), columns)
	state.Put(a, "forest.thresholds", len(thresholds), thresholds)
	state.Put(a, "forest.coefficients", v.Head.Scores(), v.LeafCoef)
}

// loadForest reads what saveForest wrote for a model with k scores and rows of dim values.
func (v *Part) loadForest(s *state.Reader, dim, k int) {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "forest.columns" {
		return
	}
	columns := state.TakeRow[byte](s, "forest.columns")
	thresholds := state.TakeRow[float32](s, "forest.thresholds")
	if s.Err != nil {
		return
	}
	f, err := forest.Decode(columns, thresholds, dim)
	if err != nil {
		s.Fail("%v", err)
		return
	}
	v.Forest = f
	v.LeafCoef = state.Take[float32](s, "forest.coefficients", f.Leaves(), k)
	s.Require(k > 0, "a forest without scores")
	require(s, v.LeafCoef, func(c float32) bool { return math.Abs(float64(c)) < engine.MaxCoefficient }, "the coefficient of a leaf is %v")
}
