package encode

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// normalQuantiles is the number of quantiles that normal scores are computed from.
const normalQuantiles = 33

// halfScores are the normal scores Φ⁻¹((i + 1/2) / 33) of the middle quantile and those
// above it.
var halfScores = [normalQuantiles/2 + 1]float64{0, 0.07603162312038837, 0.15250597424624424, 0.22988411757923216, 0.308665805694934, 0.3894142978521444, 0.4727891209922672, 0.5595922742274325, 0.6508373064444771, 0.7478585947633021, 0.8524950342746939, 0.9674215661017014, 1.0968035620935135, 1.2477538553513243, 1.4342001596863794, 1.6906216295848984, 2.166106752892329}

// normal turns numbers into normal scores. A quantile of the first rows has its score; the score is
// linear between two quantiles, and grows with the logarithm of the distance beyond the first and
// the last. The parameters are the quantiles, which increase, and then their scores. A missing
// number becomes the score 0, that of the median.
var normal = encoder{
	name:    "normal",
	width:   one,
	apply:   score,
	valid:   validScores,
	becomes: func(*column) string { return "normal score" },
}

// normalIndicated adds an indicator of missing numbers to normal scores.
var normalIndicated = encoder{
	name:    "normal, indicated",
	width:   func(*column, *prior) int { return 2 },
	apply:   indicating(score),
	valid:   validScores,
	becomes: func(*column) string { return "normal score, and an indicator of missing" },
}

// normalScores returns the parameters for the values x[0], x[stride], and so on; nil if
// they do not vary. Quantiles that are equal have the mean of their scores.
func normalScores(x []float64, stride int) []float64 {
	var values []float64
	for i := 0; i < len(x); i += stride {
		if !math.IsNaN(x[i]) {
			values = append(values, bounded(x[i]))
		}
	}
	slices.Sort(values)
	if len(values) == 0 || values[0] == values[len(values)-1] {
		return nil
	}
	var knots, scores []float64
	equal := 0.0
	for i := range normalQuantiles {
		v := values[min(len(values)-1, (2*i+1)*len(values)/(2*normalQuantiles))]
		s := halfScores[max(i-normalQuantiles/2, normalQuantiles/2-i)]
		if i < normalQuantiles/2 {
			s = -s
		}
		if n := len(knots) - 1; n >= 0 && knots[n] == v {
			equal++
			scores[n] += (s - scores[n]) / equal
			continue
		}
		knots, scores, equal = append(knots, v), append(scores, s), 1
	}
	if len(knots) == 1 { // all but the tails are equal
		knots, scores = []float64{values[0], values[len(values)-1]}, []float64{-halfScores[normalQuantiles/2], halfScores[normalQuantiles/2]}
	}
	return append(knots, scores...)
}

func score(c *column, dst []float64, v float64, _ *prior) {
	dst[0] = 0
	if math.IsNaN(v) {
		return
	}
	n := len(c.parameters) / 2
	knots, scores := c.parameters[:n], c.parameters[n:]
	v = bounded(v)
	i := max(1, min(below(knots, v), n-1))
	switch {
	case v < knots[0]:
		dst[0] = scores[0] - beyond(knots[0]-v, knots[1]-knots[0], scores[1]-scores[0])
	case v > knots[n-1]:
		dst[0] = scores[n-1] + beyond(v-knots[n-1], knots[n-1]-knots[n-2], scores[n-1]-scores[n-2])
	default:
		share := (v - knots[i-1]) / (knots[i] - knots[i-1])
		dst[0] = scores[i-1] + float64(share*(scores[i]-scores[i-1]))
	}
}

// below returns the number of knots that are less than v. In wide tables most cells have the least value
// of their column, so that the first knot is compared first.
func below(knots []float64, v float64) int {
	if v <= knots[0] {
		return 0
	}
	from, to := 1, len(knots)
	for from < to {
		if at := (from + to) / 2; knots[at] < v {
			from = at + 1
		} else {
			to = at
		}
	}
	return from
}

// beyond returns how much the score changes at a distance beyond the outer one of two quantiles.
// width is the distance between the two, and scores the difference of their scores. At first the
// score changes at the same rate as between them.
func beyond(distance, width, scores float64) float64 {
	return float64(scores * vec.Log(1+min(distance/width, math.MaxFloat64)))
}

func validScores(parameters []float64) bool {
	n := len(parameters) / 2
	if n < 2 || len(parameters) != 2*n || n > normalQuantiles {
		return false
	}
	for i, v := range parameters {
		if math.IsNaN(v) || bounded(v) != v || i%n > 0 && !(v > parameters[i-1]) || i >= n && math.Abs(v) > normalQuantiles {
			return false
		}
	}
	return true
}
