package refit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim"
)

// fit minimises the objective of e. l is the loss of each score, or nil for the multinomial loss.
// To prune, it sets the λ₁ of e, solves to half of the gap, and then removes as many of the
// smallest features as the other half allows, because an iterate still has many features that would
// be 0 at the optimum.
func fit(ctx context.Context, e *examples, l loss.Dual, o Options, start []float64) (*Fit, error) {
	if o.Prune == 0 {
		return fitOnce(ctx, e, l, o, start)
	}
	e.l1 = o.Prune * e.mostPenalty(groupLoss{l})
	most := o.effective().Relative
	o.Relative = most / 2
	f, err := fitOnce(ctx, e, l, o, start)
	if err == nil {
		err = f.dropSmallest(e, l, o, most)
		f.Reached = f.Relative <= most
	}
	return f, err
}

// fitOnce is fit with the present λ₁ of e.
func fitOnce(ctx context.Context, e *examples, l loss.Dual, o Options, start []float64) (*Fit, error) {
	switch {
	case e.joint(l):
		return fitGroups(ctx, e, groupLoss{l}, o, start)
	case l == nil:
		return fitSoftmax(ctx, e, o, start)
	}
	return fitScores(ctx, e, l, o, start)
}

// descend takes steps until the gap is small enough or the passes, one for each step, or ctx end.
// evaluate returns the primal objective of the iterate and the dual objective of a point. begin is
// the time at which the fit began.
func (f *Fit) descend(ctx context.Context, o Options, begin float64, passes int, evaluate func() (primal, dual float64), step func()) {
	for ; ; f.Passes++ {
		primal, dual := evaluate()
		f.Primal, f.Dual = primal, max(f.Dual, dual)
		if f.Passes == 0 {
			f.StartPrimal, f.StartGap = f.Primal, f.Gap()
		}
		if o.Progress != nil {
			o.Progress(0, optim.Point{Passes: f.Passes, Seconds: o.now() - begin, Primal: f.Primal, Dual: f.Dual})
		}
		f.Reached = f.Gap() <= o.Relative*f.unit
		if f.Reached || f.Passes >= float64(passes) || ctx.Err() != nil {
			break
		}
		step()
	}
	f.Suboptimality = f.StartPrimal - f.Dual
	f.certify(o.Lambda)
	f.Seconds = o.now() - begin
}

// byScore rearranges coefficients, features × scores, to one column for each score, one column after
// another. Nil coefficients are 0.
func (e *examples) byScore(coefficients []float64) []float64 {
	_, p := e.features.Dims()
	x := make([]float64, p*e.scores)
	for j, v := range coefficients {
		x[j%e.scores*p+j/e.scores] = v
	}
	return x
}

// byFeature is the inverse of byScore.
func (e *examples) byFeature(x []float64) []float64 {
	_, p := e.features.Dims()
	coefficients := make([]float64, len(x))
	for j := range coefficients {
		coefficients[j] = x[j%e.scores*p+j/e.scores]
	}
	return coefficients
}

// certifyAs makes f the certificate of coefficients close to those that fit has solved for.
func (f *Fit) certifyAs(e *examples, l loss.Dual, o Options, coefficients []float64) error {
	switch {
	case e.joint(l):
		f.certifyGroups(e, groupLoss{l}, o, coefficients)
	case l == nil:
		return f.certifySoftmax(e, o, coefficients)
	default:
		f.certifyScores(e, l, o, coefficients)
	}
	return nil
}

// joint reports whether λ₁ makes all scores one problem.
func (e *examples) joint(l loss.Dual) bool { return e.l1 > 0 && (l == nil || e.scores > 1) }

// certify sets the fields that follow from the gap: P is λ-strongly convex in all coefficients.
func (f *Fit) certify(lambda float64) {
	f.Relative = f.Gap() / f.unit
	f.Bound = f.norm * math.Sqrt(2*max(0, f.Gap())/lambda)
}

// dropSmallest sets the coefficients of random features to 0, in ascending order of their norms: as
// many as a relative gap of most allows.
func (f *Fit) dropSmallest(e *examples, l loss.Dual, o Options, most float64) error {
	_, p := e.features.Dims()
	type feature struct {
		at     int
		square float64
	}
	per := 2 * e.scores
	all, before := make([]feature, p/2), f.Coefficients
	for j := range all {
		all[j].at = j * per
		for _, v := range before[j*per : (j+1)*per] {
			all[j].square += float64(v * v)
		}
	}
	slices.SortStableFunc(all, func(a, b feature) int { return cmp.Compare(a.square, b.square) })
	without := func(n int) []float64 {
		x := slices.Clone(before)
		for _, j := range all[:n] {
			clear(x[j.at : j.at+per])
		}
		return x
	}
	least, end := 0, len(all)+1 // dropping least features is allowed, dropping end is not
	for end-least > 1 {
		n := (least + end) / 2
		if err := f.certifyAs(e, l, o, without(n)); err != nil {
			return err
		}
		if f.Relative <= most {
			least = n
		} else {
			end = n
		}
	}
	return f.certifyAs(e, l, o, without(least))
}
