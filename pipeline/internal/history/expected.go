package history

import (
	"github.com/accrete-ml/accrete/learner"
)

// Expected estimates the error over the recent predictions, most of which may have no label yet. It
// uses the error that the predictions themselves expect: 1 minus the probability of the class that
// was decided on, or the variance of a number. For the rows that do have labels, this expectation
// is compared with their error, as in the difference of confidences (Guillory et al., Predicting
// with confidence on unseen distributions, 2021).
type Expected struct {
	asked, graded, errors recently // errors are of classes only
}

// memory is the number of predictions after which the weight of one has fallen to 1/e. An
// error of 20 % then has a standard error of .6 points: √(.2 · .8 / (2 · 2,000)).
const memory = 2000

// recently is a mean weighted by age.
type recently struct{ n, mean float64 }

func (r *recently) add(v float64) {
	r.n = min(r.n+1, memory)
	r.mean += (v - r.mean) / r.n
}

// ask adds the prediction for row i, whose label is not known yet.
func (e *Expected) ask(p *learner.Predictions, i, decided int) {
	if v, ok := expected(p, i, decided); ok {
		e.asked.add(v)
	}
}

// grade adds a prediction whose label has come. For a class, wrong says whether the prediction was
// wrong.
func (e *Expected) grade(p *learner.Predictions, i, decided int, wrong bool) {
	v, ok := expected(p, i, decided)
	if !ok {
		return
	}
	e.graded.add(v)
	if p.Task == learner.Classification {
		one := 0.0
		if wrong {
			one = 1
		}
		e.errors.add(one)
	}
}

// expected returns the error that a prediction expects; false if the prediction does not say.
func expected(p *learner.Predictions, i, decided int) (float64, bool) {
	switch u := p.Uncertainty(i); {
	case p.Size == 0:
		return 0, false
	case p.Task == learner.Classification && (decided < 0 || decided >= p.Size):
		return 0, false
	case p.Task == learner.Classification:
		return 1 - p.Row(i)[decided], true
	case p.Task == learner.Regression && u.HasVariance():
		v := 0.0
		for j := range p.Size { // one for each target
			v += u.Variance(j)
		}
		return v, true
	}
	return 0, false
}

// Error returns the estimate, given the progressive error over the recent labels. It returns nil
// until there is one.
func (e *Expected) Error(task learner.Task, progressive float64) *float64 {
	if e.asked.n == 0 || e.graded.n == 0 {
		return nil
	}
	v := 0.0
	switch {
	case task == learner.Classification:
		v = min(1, max(0, e.errors.mean+e.asked.mean-e.graded.mean))
	case e.graded.mean > 0:
		v = progressive * e.asked.mean / e.graded.mean
	default:
		return nil
	}
	return &v
}
