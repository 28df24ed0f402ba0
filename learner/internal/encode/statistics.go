package encode

import (
	"cmp"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// statistics turns a value into the smoothed mean (S + a·p)/(n + a) of each target, and the
// logarithm of the share of the rows with this value. n is the weight of these rows so far, S the
// sum of the target over them, and p the mean of the target over all rows. The parameters are a for
// each target; without parameters, a is smoothing.
var statistics = encoder{
	name:  "statistics",
	moves: true,
	width: func(_ *column, p *prior) int { return len(p.sums) + 1 },
	apply: func(c *column, dst []float64, v float64, p *prior) {
		n, sums := c.table.find(c.key(v))
		for k := range p.sums {
			s := 0.0
			if sums != nil {
				s = sums[k]
			}
			a := c.shrinkage(k)
			dst[k] = (s + float64(a*p.mean(k))) / (n + a)
		}
		dst[len(p.sums)] = vec.Log((n + 1) / (p.weight + 1))
	},
	valid:   credibilities,
	becomes: func(*column) string { return "target statistic and log frequency" },
}

// maxEntries bounds the values of a category that a table keeps from one mini-batch to
// the next. Chosen by trial, see docs/constants.md.
const maxEntries = 16384

// Bytes returns the most memory that the tables of e take, with one that is being
// bounded: the keys, the counts and the index.
func (e *Encoding) Bytes() int64 {
	bytes := int64(0)
	for j := range e.columns {
		if c := &e.columns[j]; c.table != nil {
			bytes += 2 * int64(c.mostEntries()) * int64(8*(2+c.table.targets)+40)
		}
	}
	return bytes
}

// table has the statistics of the values of a category.
type table struct {
	targets int
	index   map[int64]int // of each key's entry
	keys    []int64
	counts  []float64 // for each entry, its weight and the sum of each target

	growth float64   // of statistics that decay: what the weights are multiplied by
	total  []float64 // of statistics that decay: the sums of counts
}

func newTable(targets int) *table {
	return &table{targets: targets, index: map[int64]int{}, growth: 1, total: make([]float64, 1+targets)}
}

// entry returns the numbers of entry i.
func (t *table) entry(i int) []float64 {
	n := 1 + t.targets
	return t.counts[i*n : (i+1)*n]
}

// find returns the weight and the sums of a key; sums is nil if it is not in t.
func (t *table) find(key int64) (weight float64, sums []float64) {
	i, ok := t.index[key]
	if !ok {
		return 0, nil
	}
	e := t.entry(i)
	return e[0], e[1:]
}

func (t *table) add(key int64, y *target.Label, weight float64, p *prior) {
	e := t.entry(t.at(key, 0))
	e[0] += weight
	for k := range t.targets {
		e[1+k] += float64(weight * p.target(y, k))
	}
}

// at returns the entry of a key. If there is none, it adds one, whose first number is first.
func (t *table) at(key int64, first float64) int {
	i, ok := t.index[key]
	if !ok {
		i = len(t.keys)
		t.index[key] = i
		t.keys = append(t.keys, key)
		t.counts = append(t.counts, make([]float64, 1+t.targets)...)
		t.entry(i)[0] = first
	}
	return i
}

// bound removes entries if there are more than most, and leaves 7/8 of most: those with the largest
// weights, and of equal weights those with the smallest keys.
func (t *table) bound(most int) {
	if len(t.keys) <= most {
		return
	}
	order := t.order(func(a, b int) int {
		return cmp.Or(cmp.Compare(t.entry(b)[0], t.entry(a)[0]), cmp.Compare(t.keys[a], t.keys[b]))
	})
	t.keep(order[:most*7/8])
}

// order returns the entries in an order.
func (t *table) order(compare func(a, b int) int) []int {
	all := make([]int, len(t.keys))
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, compare)
	return all
}

// keep leaves some entries.
func (t *table) keep(entries []int) {
	kept := newTable(t.targets)
	kept.growth, kept.total = t.growth, t.total
	kept.keys = make([]int64, 0, len(entries))
	kept.counts = make([]float64, 0, len(entries)*(1+t.targets))
	for i, from := range entries {
		kept.index[t.keys[from]] = i
		kept.keys = append(kept.keys, t.keys[from])
		kept.counts = append(kept.counts, t.entry(from)...)
	}
	*t = *kept
}
