package encode

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// decayed is statistics with weights of rows that halve with each half-life, both in the sums of a
// value and in the mean of all rows. Its first parameter is the half-life.
//
// Instead of all weights shrinking with every row, the weights of new rows grow, and the statistics
// are divided by this growth when they are read.
var decayed = encoder{
	name:  "decayed",
	moves: true,
	width: func(_ *column, p *prior) int { return len(p.sums) + 1 },
	apply: func(c *column, dst []float64, v float64, p *prior) {
		t := c.table
		n, sums := t.find(keyOf(v))
		n /= t.growth
		for k := range p.sums {
			s, mean := 0.0, 0.0
			if sums != nil {
				s = sums[k] / t.growth
			}
			if t.total[0] > 0 {
				mean = t.total[1+k] / t.total[0]
			}
			a := c.shrinkage(k)
			dst[k] = (s + float64(a*mean)) / (n + a)
		}
		dst[len(p.sums)] = vec.Log((n + 1) / (t.total[0]/t.growth + 1))
	},
	valid: func(parameters []float64) bool {
		return len(parameters) > 0 && parameters[0] >= 1 && parameters[0] <= MaxHalfLife && parameters[0] == math.Trunc(parameters[0]) && credibilities(parameters[1:])
	},
	becomes: func(c *column) string {
		return fmt.Sprintf("target statistic and log frequency, half-life %.0f rows", c.parameters[0])
	},
}

// maxGrowth is a power of 2, so that dividing by it is exact.
const maxGrowth = 1 << 40

// decay shrinks the weights of all rows so far by the factor for one row.
func (t *table) decay(halfLife float64) {
	if t.growth *= vec.Exp(math.Ln2 / halfLife); t.growth < maxGrowth {
		return
	}
	t.growth /= maxGrowth
	for i := range t.total {
		t.total[i] /= maxGrowth
	}
	for i := range t.counts {
		t.counts[i] /= maxGrowth
	}
}

func (t *table) addDecayed(key int64, y *target.Label, weight float64, p *prior) {
	weight = float64(weight * t.growth)
	t.add(key, y, weight, p)
	t.total[0] += weight
	for k := range t.targets {
		t.total[1+k] += float64(weight * p.target(y, k))
	}
}

// loadDecayed reads what Save wrote of statistics that decay.
func (e *Encoding) loadDecayed(s *state.Reader) {
	var tables []*table
	for j := range e.columns {
		if e.columns[j].kind == asDecayed {
			tables = append(tables, e.columns[j].table)
		}
	}
	if tables == nil {
		return
	}
	n := 2 + len(e.prior.sums)
	all := state.Take[float64](s, "encode.decayed", len(tables), n)
	if s.Err != nil {
		return
	}
	for i, t := range tables {
		row := all[i*n : (i+1)*n]
		t.growth, t.total = row[0], append([]float64(nil), row[1:]...)
		s.Require(t.growth >= 1 && t.growth < maxGrowth && t.total[0] >= 0, "encode.decayed: a growth of %v and a weight of %v", t.growth, t.total[0])
	}
}
