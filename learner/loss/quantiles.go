package loss

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxQuantiles is the maximum number of levels of Quantiles.
const MaxQuantiles = 32

// Quantiles is the sum of the losses Quantile for several levels τ, with one score for each level.
// The minimisers for a row may cross. Its predictions are therefore the scores in increasing order,
// the rearrangement of Chernozhukov, Fernández-Val and Galichon (2010, section 2.2): they are never
// further from the true quantiles than the scores (proposition 4 there). NewQuantiles returns a
// Quantiles.
type Quantiles struct {
	taus [MaxQuantiles]float64 // increasing; an array, so that losses compare with ==
	n    int
}

// NewQuantiles returns the loss with these levels, which must increase: from 2 to MaxQuantiles of
// them, each from 0.001 to 0.999.
func NewQuantiles(taus ...float64) (Quantiles, error) {
	q := Quantiles{n: len(taus)}
	if len(taus) < 2 || len(taus) > MaxQuantiles {
		return q, fmt.Errorf("%d quantiles: want 2 to %d", len(taus), MaxQuantiles)
	}
	p := Quantile{}.parameter()
	for i, tau := range taus {
		if !(tau >= p.least && tau <= p.most) || i > 0 && !(tau > taus[i-1]) {
			return q, fmt.Errorf("quantiles %v: want increasing numbers from %v to %v", taus, p.least, p.most)
		}
	}
	copy(q.taus[:], taus)
	return q, nil
}

// quantiles is NewQuantiles for levels that are known to be valid.
func quantiles(taus ...float64) Quantiles {
	q, err := NewQuantiles(taus...)
	if err != nil {
		panic("loss: " + err.Error())
	}
	return q
}

// Taus returns the levels.
func (q Quantiles) Taus() []float64 { return slices.Clone(q.taus[:q.n]) }

// Each returns the loss of each score.
func (q Quantiles) Each() []Loss {
	each := make([]Loss, q.n)
	for i, tau := range q.taus[:q.n] {
		each[i] = Quantile{tau}
	}
	return each
}

// Central returns the index of the level closest to 0.5. If two are equally close, it is the lower
// one.
func (q Quantiles) Central() int {
	at := 0
	for i, tau := range q.taus[:q.n] {
		if distance(tau) < distance(q.taus[at]) {
			at = i
		}
	}
	return at
}

func distance(tau float64) float64 { return max(tau-0.5, 0.5-tau) }

func (q Quantiles) Value(f []float64, y float64) float64 {
	sum := 0.0
	for i, tau := range q.taus[:q.n] {
		sum += Quantile{tau}.Value(f[i:i+1], y)
	}
	return sum
}

func (q Quantiles) Grad(dst, f []float64, y float64) {
	for i, tau := range q.taus[:q.n] {
		Quantile{tau}.Grad(dst[i:i+1], f[i:i+1], y)
	}
}

// Link sorts the scores.
func (Quantiles) Link(dst, f []float64) {
	copy(dst, f)
	slices.Sort(dst)
}

func (q Quantiles) Scores(int) int    { return q.n }
func (Quantiles) Smoothness() float64 { return Quantile{}.Smoothness() }
func (Quantiles) Classifies() bool    { return false }

func (q Quantiles) String() string {
	var b strings.Builder
	b.WriteString("quantile:")
	for i, tau := range q.taus[:q.n] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatFloat(tau, 'g', -1, 64))
	}
	return b.String()
}

// parseQuantiles reads the levels of Quantiles, separated by commas.
func parseQuantiles(text string) (Loss, error) {
	var taus []float64
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return nil, fmt.Errorf("loss quantile:%s: %q is not a number", text, part)
		}
		taus = append(taus, v)
	}
	q, err := NewQuantiles(taus...)
	if err != nil {
		return nil, fmt.Errorf("loss quantile:%s: %w", text, err)
	}
	return q, nil
}
