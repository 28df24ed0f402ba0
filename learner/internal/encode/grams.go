package encode

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// TextKeys is the number of columns of the type Gram that belong together.
	TextKeys = 64

	// gramSmoothing is the weight of the prior mean in the statistics of an n-gram. Chosen by trial,
	// see docs/constants.md.
	gramSmoothing = 2
)

// grams turns the keys of the n-grams of a text, one in each of TextKeys columns, into one column for
// each target: the sum of (S - n·p)/(n + a) over the n-grams that learned rows have had, divided by the
// square root of their number. As in statistics, n is the weight of the rows with the n-gram, S the sum
// of the target over them, and p the mean of the target over all rows; a is gramSmoothing. As in naive
// Bayes (Maron 1961), the n-grams count as independent of each other. The parameter is the number of
// columns.
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

// unseen is a column that becomes none: one of the keys after the first, which grams reads, or the
// share of n-grams of a text whose n-grams have keys.
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
			dst[k] += float64(sums[k]-float64(n*means[k])) / (n + gramSmoothing)
		}
	}
	scale := 1 / math.Sqrt(float64(max(1, known)))
	for k := range dst {
		dst[k] = bounded(dst[k] * scale)
	}
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
