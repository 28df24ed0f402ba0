package encode

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// TextKeys is the number of columns of the type Gram that belong together.
	TextKeys = 64

	// gramSmoothing is the weight of the prior mean in the statistics of an n-gram. Chosen by trial,
	// see docs/constants.md.
	gramSmoothing = 2

	// rarestShare bounds the shares of a class and of all others from below, so that a single row of a
	// very rare class does not outweigh all other n-grams of a text. Not chosen by trial yet: a first
	// guess, see docs/constants.md.
	rarestShare = 1e-3
)

// grams turns the keys of the n-grams of a text, one in each of TextKeys columns, into one column for
// each target: the sum of the evidence of those n-grams that occurred in learned rows, divided by the
// square root of their number. The parameter is the number of columns.
var grams = encoder{
	name:  "grams",
	moves: true,
	width: func(_ *column, p *prior) int { return len(p.sums) },
	apply: func(c *column, dst []float64, v float64, p *prior) { gramStatistics(c, dst, []float64{v}, p) },
	valid: func(parameters []float64) bool {
		return len(parameters) == 1 && parameters[0] >= 1 && parameters[0] <= TextKeys && parameters[0] == math.Trunc(parameters[0])
	},
	becomes: func(*column) string { return "target statistic of n-grams" },
}

// unseen is a raw column that the model does not see: a key after the first of its group, which grams
// reads together with the first, or a hashed share of a text that has keys.
var unseen = encoder{
	name:    "unseen",
	width:   func(*column, *prior) int { return 0 },
	apply:   func(*column, []float64, float64, *prior) {},
	valid:   none,
	becomes: func(*column) string { return "" },
}

// keys returns the number of columns, from c on, that have the keys of n-grams.
func (c *column) keys() int { return int(c.parameters[0]) }

func gramStatistics(c *column, dst, keys []float64, p *prior) {
	clear(dst)
	var means [maxTargets]float64
	for k := range dst {
		means[k] = p.mean(k)
	}
	known := 0
	for _, v := range present(keys) {
		n, sums := c.table.find(keyOf(v))
		if n == 0 {
			continue
		}
		known++
		for k := range dst {
			dst[k] += p.evidence(n, sums[k], means[k])
		}
	}
	scale := 1 / math.Sqrt(float64(max(1, known)))
	for k := range dst {
		dst[k] = bounded(dst[k] * scale)
	}
}

// evidence returns the contribution of an n-gram to the statistic of a target. n is the weight of the rows
// with the n-gram, S the sum of the target over them, p its mean over all rows, and a is gramSmoothing. A
// class contributes the logarithm of its odds ratio, (S + a·p)/(n - S + a·(1-p)) to p/(1-p), as in naive
// Bayes (Maron 1961); a number contributes (S - n·p)/(n + a), the smoothed difference of its means.
func (p *prior) evidence(n, sum, mean float64) float64 {
	if !p.classes {
		return float64(sum-float64(n*mean)) / (n + gramSmoothing)
	}
	share := max(rarestShare, min(1-rarestShare, mean))
	is, not := max(0, sum)+float64(gramSmoothing*share), max(0, n-sum)+float64(gramSmoothing*(1-share))
	return vec.Log(is / not * ((1 - share) / share))
}

// present returns the keys that a text has. A text with fewer n-grams has zeros after them, and a
// missing text has missing keys.
func present(keys []float64) []float64 {
	for i, v := range keys {
		if !(v > 0) {
			return keys[:i]
		}
	}
	return keys
}

// planText plans column j, of the type Text or Gram. A text with columns of the type Gram after those
// of the type Text is seen through them alone.
func planText(columns []Type, j int) column {
	if columns[j] == Text {
		end := j + runOf(Text, columns[j:])
		if runOf(Gram, columns[end:]) == 0 {
			return column{kind: asText}
		}
		return column{kind: asUnseen}
	}
	first := j
	for first > 0 && columns[first-1] == Gram {
		first--
	}
	if (j-first)%TextKeys != 0 {
		return column{kind: asUnseen}
	}
	return column{kind: asGrams, parameters: []float64{float64(min(TextKeys, runOf(Gram, columns[j:])))}}
}

// runOf returns the number of columns at the front that are of type t.
func runOf(t Type, columns []Type) int {
	n := 0
	for n < len(columns) && columns[n] == t {
		n++
	}
	return n
}

// gramsFollow reports whether the columns that grams read exist, and become none.
func (e *Encoding) gramsFollow() bool {
	for j := range e.columns {
		c := &e.columns[j]
		if c.kind != asGrams {
			continue
		}
		if j+c.keys() > len(e.columns) {
			return false
		}
		for i := j + 1; i < j+c.keys(); i++ {
			if e.columns[i].kind != asUnseen {
				return false
			}
		}
	}
	return true
}

// learnGrams updates the statistics of n-grams with these keys.
func (c *column) learnGrams(keys []float64, y *target.Label, weight float64, p *prior) {
	for _, v := range present(keys) {
		c.table.add(keyOf(v), y, weight, p)
	}
}

// unlearnGrams is the inverse of learnGrams.
func (c *column) unlearnGrams(keys []float64, y *target.Label, weight float64, p *prior) {
	for _, v := range present(keys) {
		c.table.remove(keyOf(v), y, weight, p)
	}
}
