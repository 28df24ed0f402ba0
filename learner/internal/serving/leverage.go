package serving

import (
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// leverage holds the arrays of the leverage of the frequencies. They are in a State only if there
// is one.
type leverage struct {
	x       []float32
	penalty []float64
}

func (v *Part) saveLeverage(a *state.Arrays) {
	if v.Fit == nil || v.Fit.Leverage == nil {
		return
	}
	x, penalty := v.Fit.Leverage.Rows()
	state.Put(a, "leverage", v.Fit.Width(v.Dim), x)
	state.Put(a, "leverage.penalty", 1, []float64{penalty})
}

// takeLeverage reads the arrays for rows of dim inputs.
func (v *Part) takeLeverage(s *state.Reader, dim int) (l leverage) {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "leverage" {
		return l
	}
	s.Require(v.Fit != nil && v.Sampling == features.Leveraged, "a leverage of frequencies with sampling %v", v.Sampling)
	l.x = state.Take[float32](s, "leverage", state.AnySize, dim)
	l.penalty = state.Take[float64](s, "leverage.penalty", 1, 1)
	return l
}

// loadLeverage constructs the leverage from its arrays.
func (v *Part) loadLeverage(s *state.Reader, from leverage, dim int) {
	if from.penalty == nil || s.Err != nil {
		return
	}
	s.Require(len(from.x) <= features.LeverageRows*dim, "a leverage of %d numbers", len(from.x))
	if s.Err != nil {
		return
	}
	l, err := features.NewLeverage(v.Fit.Kernel, from.x, dim, from.penalty[0])
	if err != nil {
		s.Fail("%v", err)
		return
	}
	v.Fit.Leverage = l
}
