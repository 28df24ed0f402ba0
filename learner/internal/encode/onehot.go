package encode

import (
	"fmt"
	"slices"
)

// maxOneHot is the largest number of values of a category that get a column each.
// Chosen by trial, see docs/constants.md.
const maxOneHot = 16

// oneHot has a column for each value of the first rows, in the order in which they
// came, and one for all others. Its parameters are the keys of the values.
var oneHot = encoder{
	name:  "one-hot",
	width: func(c *column, _ *prior) int { return len(c.parameters) + 1 },
	apply: func(c *column, dst []float64, v float64, _ *prior) {
		clear(dst)
		i := slices.Index(c.parameters, float64(keyOf(v)))
		if i < 0 {
			i = len(c.parameters)
		}
		dst[i] = 1
	},
	valid: func(keys []float64) bool {
		for i, k := range keys {
			if k != float64(int64(k)) || k < missingKey || k >= maxKey || slices.Contains(keys[:i], k) {
				return false
			}
		}
		return len(keys) > 0 && len(keys) <= maxOneHot
	},
	becomes: func(c *column) string { return oneHotOf(len(c.parameters)) + " and other" },
}

func oneHotOf(values int) string {
	if values == 1 {
		return "one-hot of 1 value"
	}
	return fmt.Sprintf("one-hot of %d values", values)
}

// planCategory chooses the encoder of a category by the number of its values.
func planCategory(x []float64, stride int) column {
	c := column{kind: asOneHot}
	for i := 0; i < len(x); i += stride {
		if k := float64(keyOf(x[i])); !slices.Contains(c.parameters, k) {
			if len(c.parameters) == maxOneHot {
				return column{kind: asStatistics}
			}
			c.parameters = append(c.parameters, k)
		}
	}
	return c
}
