package encode

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// since turns the key of a record into two columns: the logarithm of the time in seconds since the
// last learned record of the key, and an indicator that there was none. The parameter is the index
// of the column with the time. A table keeps the latest time of each key; the keys with the
// earliest times leave it first.
var since = encoder{
	name:  "since",
	moves: true,
	width: func(*column, *prior) int { return 2 },
	apply: func(c *column, dst []float64, v float64, _ *prior) { sinceLast(c, dst, v, math.NaN()) },
	valid: func(parameters []float64) bool {
		return len(parameters) == 1 && parameters[0] >= 0 && parameters[0] < maxKey && parameters[0] == math.Trunc(parameters[0])
	},
	becomes: func(*column) string { return "log of the time since the last record of the key" },
}

// time returns the column that has the time for a key.
func (c *column) time() int { return int(c.parameters[0]) }

func sinceLast(c *column, dst []float64, key, now float64) {
	dst[0], dst[1] = 0, 1
	i, ok := c.table.index[keyOf(key)]
	if math.IsNaN(key) || math.IsNaN(now) || !ok {
		return
	}
	dst[0], dst[1] = vec.Log(1+max(0, bounded(now)-c.table.entry(i)[0])), 0
}

// seen notes the time of a record of a key.
func (t *table) seen(key, now float64) {
	if math.IsNaN(key) || math.IsNaN(now) {
		return
	}
	e := t.entry(t.at(keyOf(key), bounded(now)))
	e[0] = max(e[0], bounded(now))
}
