package refit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

// ErrUnfit is returned for a model that cannot be refitted.
var ErrUnfit = errors.New("cannot be refitted")

// Live is how a model is refitted to rows. The zero value of each field stands
// for what its comment names.
type Live struct {
	Lambda   float64 // weight of ‖f‖²/2 beside the mean loss: 0.3 times what leave-one-out chooses on the last 512 rows, which are fewer
	Relative float64 // gap to reach, over the objective of the model 0: 1e-3
	Passes   int     // at most, for each output: 100

	Progress func(output int, at Point)
	Clock    func() float64 // in seconds; without it, Fit.Seconds is 0
}

// Refitted is a model that was refitted.
type Refitted struct {
	Model *learner.Model

	// Fit is about the coefficients as they are served, in float32. Where not
	// Comparable, the model before had another loss: Fit.StartPrimal, StartGap and
	// Suboptimality are then those of the model 0.
	Fit        *Fit
	Comparable bool

	// Suboptimality is by how much the objective of the model before, with its own
	// loss, is above the optimum at most: by the dual of the Fit where Comparable,
	// and otherwise by the certificate that it has on its own, which is loose.
	Suboptimality float64

	Loss     string
	Lambda   float64
	Rows     int
	Features int // cosines and sines, without the constant
}

// intercept is the constant feature, beside features of the norm 1.
const intercept = 0.25

// Refit fits the coefficients of m to the labelled rows of b, to the least mean
// loss by their weights. The features stay, and so does the loss, except that with more than MostDirect
// of them, the constant one included, classes under softmax get a least-squares
// problem each (one against the rest), which the model that comes out says too.
// ErrUnfit wraps why a model or its loss has no refit.
func (l Live) Refit(ctx context.Context, m *learner.Model, b *learner.Batch) (*Refitted, error) {
	solved, named, err := counterpart(m.Loss())
	if err != nil {
		return nil, err
	}
	d, err := m.Design(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	if d.Rows < 2 {
		return nil, fmt.Errorf("%w: there are %d labelled rows", ErrUnfit, d.Rows)
	}
	if slices.Max(d.Weights) == 0 {
		return nil, fmt.Errorf("%w: all rows have the weight 0", ErrUnfit)
	}
	frequencies := d.Blocks * d.Bank.Map().BlockSize
	multinomial := m.Loss() == loss.Softmax{} && 2*frequencies+1 <= MostDirect
	r := &Refitted{Loss: solved.String(), Lambda: l.Lambda, Rows: d.Rows}
	if multinomial {
		named, r.Loss = m.Loss(), m.Loss().String()
	}
	r.Comparable = named == m.Loss()
	if r.Lambda == 0 {
		r.Lambda = 0.3 * d.Penalty()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.Features = 2 * frequencies
	data := Data{Features: Features(d.Bank, d.Blocks, d.X, intercept), Targets: d.Targets, Outputs: d.Outputs, Weights: d.Weights}
	o := Options{Loss: solved, Lambda: r.Lambda, Relative: l.Relative, Passes: l.Passes, Progress: l.Progress, Clock: l.Clock}
	coef, level := m.Coefficients()
	before := FromModel(widened(coef), level, frequencies, intercept)
	solve, move := Refit, (*Fit).move
	if multinomial {
		solve, move = RefitSoftmax, (*Fit).moveSoftmax
	}
	if r.Comparable {
		o.Start = before
	}
	if r.Fit, err = solve(ctx, data, o); err != nil {
		return nil, err
	}
	r.Suboptimality = r.Fit.Suboptimality
	if !r.Comparable {
		if r.Suboptimality, err = softmaxGap(data, r.Lambda, before); err != nil {
			return nil, err
		}
	}
	coefficients, level := ToModel(r.Fit.Coefficients, d.Outputs, frequencies, intercept)
	narrow := make([]float32, len(coefficients))
	for i, c := range coefficients {
		narrow[i] = float32(c)
	}
	if err = move(r.Fit, data, o, FromModel(widened(narrow), level, frequencies, intercept)); err != nil {
		return nil, err
	}
	r.Model, err = m.With(named, narrow, level)
	return r, err
}

// counterpart returns what is solved for a model of a loss, and the loss of the
// model that comes out.
func counterpart(l loss.Loss) (Loss, loss.Loss, error) {
	switch l.(type) {
	case loss.Square, loss.OneVsRest:
		return Square{}, l, nil
	case loss.Logistic:
		return Logistic{}, l, nil
	case loss.SmoothedHinge:
		return SmoothHinge{}, l, nil
	case loss.Softmax:
		return Square{}, loss.OneVsRest{}, nil
	case nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrUnfit, learner.ErrUnsettled)
	}
	return nil, nil, fmt.Errorf("%w: the loss %v has no smooth conjugate here: want square, logistic, softmax, smoothed-hinge or one-vs-rest", ErrUnfit, l)
}

func widened(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}
