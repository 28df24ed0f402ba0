package mixture

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// sharing are the rates of the copies of Weights: the part of each weight that goes back
// to the prior after a row. 0 is for streams on which one expert stays the best, the
// others for those on which the best changes about that often.
var sharing = [...]float64{0, 1e-4, 1e-3, 1e-2}

const (
	// copySharing is the rate among the copies.
	copySharing = 1e-3

	// leastWeight keeps a weight from becoming 0, from which it could not return.
	leastWeight = 1e-250
)

// Weights are those of experts whose predictions are mixed: learn-α (Monteleoni and
// Jaakkola 2003), which is fixed share (Herbster and Warmuth 1998) for several rates, and
// among these fixed share again. An expert may be asleep, that is, without a prediction
// for a row; it then keeps its weight (Freund, Schapire, Singer and Warmuth 1997).
//
// If the mixture has at most the loss -ln Σ w exp(-ℓ), as one of probabilities has for
// ℓ = -ln p, the sum of its losses over n rows is at most
//
//	L + ln(1/prior) + m·ln(1/(α·least)) - (n-1-m)·ln(1-α) + ln 4 - (n-1)·ln(1-copySharing)
//
// for the loss L of every sequence of experts that changes m times, for each α in
// sharing (m = 0 if α is 0), where prior is that of the first of them and least the
// smallest.
type Weights struct {
	prior   []float64
	experts []float64 // copies × experts
	copies  []float64

	factors []float64 // scratch
}

// WeightsSize returns the size of the state of the Weights of that many experts.
func WeightsSize(experts int) int { return len(sharing) * (experts + 1) }

// NewWeights returns the Weights whose state is of, as Start left it or an update since.
func NewWeights(prior, of []float64) Weights {
	n := len(sharing) * len(prior)
	return Weights{prior: prior, experts: of[:n:n], copies: of[n:], factors: make([]float64, len(prior))}
}

// Start sets all weights to the prior.
func (w *Weights) Start() {
	for a := range w.copies {
		w.copies[a] = 1 / float64(len(w.copies))
		copy(w.of(a), w.prior)
	}
}

// of returns the weights of the experts in copy a.
func (w *Weights) of(a int) []float64 {
	n := len(w.prior)
	return w.experts[a*n : (a+1)*n]
}

// Mix sets dst to the weights of the experts that are awake, whose sum is 1, and of the
// others to 0.
func (w *Weights) Mix(dst []float64, awake []bool) {
	clear(dst)
	for a, share := range w.copies {
		of := w.of(a)
		if total := sum(of, awake); total > 0 {
			share /= total
			for e, v := range of {
				if awake[e] {
					dst[e] += float64(share * v)
				}
			}
		}
	}
}

func sum(of []float64, awake []bool) float64 {
	s := 0.0
	for e, v := range of {
		if awake[e] {
			s += v
		}
	}
	return s
}

// Update takes the losses of the experts that are awake. The weight of one whose loss is
// not finite is lost.
func (w *Weights) Update(losses []float64, awake []bool) {
	least := math.Inf(1)
	for e, l := range losses {
		if awake[e] && l < least {
			least = l
		}
	}
	if math.IsInf(least, 0) {
		return // none of them tells the others apart
	}
	for e, l := range losses {
		w.factors[e] = least - l
	}
	vec.Exps(w.factors, w.factors)
	for e, l := range losses {
		if d := l - least; !awake[e] || !(d < 700) { // or NaN
			w.factors[e] = 0
		}
	}
	total := 0.0
	for a, alpha := range sharing {
		of := w.of(a)
		before, after := sum(of, awake), 0.0
		for e, v := range of {
			after += float64(v * w.factors[e])
		}
		mean := max(after/before, leastWeight)
		for e, v := range of {
			if awake[e] {
				v = v * w.factors[e] / mean
			}
			of[e] = max(float64((1-alpha)*v)+float64(alpha*w.prior[e]), leastWeight)
		}
		w.copies[a] *= mean
		total += w.copies[a]
	}
	for a, v := range w.copies {
		w.copies[a] = max(float64((1-copySharing)*(v/total))+copySharing/float64(len(w.copies)), leastWeight)
	}
}
