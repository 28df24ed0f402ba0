package decide

import (
	"math"

	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/internal/vec"
)

const (
	// trust is the weight of the rows of the rarer class at which a Rule is halfway between the
	// best one for these rows and the one that follows from their calibrated probabilities. Chosen
	// by trial on generated streams (docs/imbalance.md).
	trust = 200

	// slopePrior and shiftPrior are the strengths of the prior that keeps the calibration close to
	// the probabilities of the model. Chosen by trial, likewise.
	slopePrior, shiftPrior = 20, 0.5

	// plausible is the number of standard errors by which the F1 of the rows so far may fall short
	// of the best one. If it falls short by more, the calibration is wrong, and the Rule moves half
	// as far, and again half as far, down to a share of leastShare.
	plausible  = 1
	leastShare = 0.01

	calibrationSteps = 8
	longestStep      = 1 // in slope and in shift
	converged        = 1e-6
	leastSlope       = 0.05 // with a smaller slope the order of the probabilities means next to nothing
	mostLogOdds      = 22   // log odds of the outermost buckets
)

// smoothed returns the best Rule for the counts, moved towards the best Rule for calibrated
// probabilities. For the latter, the best threshold is half of the F1 (Lipton, Elkan and
// Naryanaswamy 2014, theorem 1). It is moved because with few rows of the class, the best bucket
// fits their noise.
func (f *F1) smoothed() Rule {
	r, rare, weight, most := f.best()
	if weight < few || r.bucket == 0 {
		return r
	}
	half := vec.Log(most / (2 - most)) // the log odds of the probability most/2
	if rare == 0 {
		half = -half
	}
	z := max(-mostLogOdds, min(mostLogOdds, f.calibrate(rare).model(half)))
	far := float64(ranking.Bucket(vec.Exp(z)) - r.bucket)
	for share := trust / (trust + weight); share > leastShare; share /= 2 {
		moved := max(1, r.bucket+int(math.Round(share*far)))
		if f.score(rare, moved) > most-plausible*most*(1-float64(most/2))/math.Sqrt(weight) {
			return Rule{bucket: moved}
		}
	}
	return r
}

// score returns the F1 of a class that is chosen from a bucket upwards, or below it if the class is
// 0.
func (f *F1) score(rare, bucket int) float64 {
	var hits, misses, lost float64
	for b := range ranking.Buckets {
		if (b >= bucket) == (rare == 1) {
			hits, misses = hits+f.counts[rare][b], misses+f.counts[1-rare][b]
		} else {
			lost += f.counts[rare][b]
		}
	}
	return ranking.F1(hits, misses, lost)
}

// calibration maps the log odds z of class 1 by the model to calibrated ones: middle + shift +
// slope (z - middle). Relative to the middle, slope and shift hardly depend on each other.
type calibration struct{ middle, slope, shift float64 }

// model returns the log odds by the model that correspond to the calibrated log odds right.
func (c calibration) model(right float64) float64 {
	return c.middle + (right-c.middle-c.shift)/max(leastSlope, c.slope)
}

// calibrate returns the most likely calibration, by Newton's method (Platt 1999). The middle is the
// mean log odds of the rows of the given class.
func (f *F1) calibrate(class int) calibration {
	c, weight := calibration{slope: 1}, 0.0
	for b, n := range f.counts[class] {
		c.middle, weight = c.middle+float64(n*logOdds[b]), weight+n
	}
	c.middle /= weight
	for range calibrationSteps {
		// The gradient and the second derivatives of the log likelihood and the prior.
		g0, g1 := float64(slopePrior*(1-c.slope)), float64(-shiftPrior*c.shift)
		h00, h01, h11 := float64(slopePrior), 0.0, float64(shiftPrior)
		for b, ones := range f.counts[1] {
			n := ones + f.counts[0][b]
			if n == 0 {
				continue
			}
			z := logOdds[b] - c.middle
			p := 1 / (1 + vec.Exp(-c.middle-c.shift-float64(c.slope*z)))
			residual, curvature := ones-float64(n*p), float64(n*float64(p*(1-p)))
			g0, g1 = g0+float64(residual*z), g1+residual
			curved := float64(curvature * z)
			h00, h01, h11 = h00+float64(curved*z), h01+curved, h11+curvature
		}
		determinant := float64(h00*h11) - float64(h01*h01)
		if !(determinant > 0) { // always true except for rounding errors
			break
		}
		slope := (float64(g0*h11) - float64(g1*h01)) / determinant
		shift := (float64(g1*h00) - float64(g0*h01)) / determinant
		scale := min(1, longestStep/max(math.Abs(slope), math.Abs(shift)))
		c.slope, c.shift = c.slope+float64(scale*slope), c.shift+float64(scale*shift)
		if max(math.Abs(slope), math.Abs(shift)) < converged {
			break
		}
	}
	return c
}

// logOdds has the log odds in the middle of each bucket.
var logOdds = func() (z [ranking.Buckets]float64) {
	for b := range z {
		z[b] = -mostLogOdds
		if b > 0 && b < len(z)-1 {
			z[b] = max(-mostLogOdds, min(mostLogOdds, vec.Log((ranking.Edge(b)+ranking.Edge(b+1))/2)))
		}
	}
	z[len(z)-1] = mostLogOdds
	return z
}()
