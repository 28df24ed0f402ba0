package weighing

import (
	"github.com/accrete-ml/accrete/learner/internal/state"
)

const (
	// memoryRows is the number of labelled rows after which a row counts 1/e in the class
	// frequencies.
	memoryRows = 20_000

	// leastRows is the weight that a class must have in this memory before other classes are
	// thinned for it: the standard error of so small a count is a third of it.
	leastRows = 10

	// leastKept bounds thinning: at least this share of the rows of a class is learned. A row then
	// stands for a hundred rows; more than that would be mostly noise.
	leastKept = 0.01

	mostUnit = 1e100
)

// Balance thins the rows of frequent classes, so that the rows that are learned have given shares
// of each class. It is rejection sampling. If a class has the share g of the recent rows and is to
// have the share f, its rows are kept with the probability q = (f/g) / max(f/g). The class with the
// maximum keeps all its rows.
//
// A row that is kept counts as 1/q rows. What is minimised therefore remains the mean loss over all
// rows, whatever q was when a row arrived, and predicted probabilities are those of the whole
// stream (Horvitz and Thompson 1952; King and Zeng 2001, section 4.2).
type Balance struct {
	shares *Shares
	seed   uint64

	// count of each class, times unit: each row is added with the unit of its own time
	counts  []float64
	unit    float64 // weight of the next row
	rows    int64   // labelled rows
	thinned int64   // labelled rows that were not kept

	was Chances // as of the last row
}

// Chances are the counts of rows and the share kept by a Balance.
type Chances struct {
	Rows    int64   `json:"rows"`             // labelled rows
	Thinned int64   `json:"thinned"`          // rows that were predicted and not learned
	Least   float64 `json:"least_kept_share"` // share of rows kept, of the class that is thinned most
}

// Chances returns the counts for the rows so far.
func (b *Balance) Chances() Chances {
	c := b.was
	c.Rows, c.Thinned = b.rows, b.thinned
	if c.Least == 0 {
		c.Least = 1
	}
	return c
}

// Thinned returns the number of rows that were not kept.
func (b *Balance) Thinned() int64 { return b.thinned }

// Fate is what happens to a row with a label.
type Fate struct {
	Thinned  bool    // the row is predicted and graded, but not learned
	Rows     float64 // number of rows that it stands for, 1 or more
	Relative float64 // Rows divided by the largest such number at this time, at most 1
}

// Row counts a row of a class and decides what happens to it. names are the names of the classes,
// as far as they are known. The row is kept if always is true, or if it is one of the first of its
// class.
func (b *Balance) Row(class int, names []string, always bool) Fate {
	for class >= len(b.counts) {
		b.counts = append(b.counts, 0)
	}
	b.rows++
	b.unit = float64(b.unit * (1 / (1 - 1./memoryRows)))
	b.counts[class] += b.unit
	if b.unit > mostUnit {
		for i := range b.counts {
			b.counts[i] /= b.unit
		}
		b.unit = 1
	}
	if always {
		b.was.Least = 1
		return Fate{Rows: 1, Relative: 1}
	}
	// With n rows of a class, f/g is proportional to f/n.
	most, least, own := 0.0, 0.0, 0.0
	for i, n := range b.counts {
		f := b.shares.share(i, names)
		if f == 0 || n < float64(leastRows*b.unit) {
			continue
		}
		ratio := f / n
		if most == 0 || ratio > most {
			most = ratio
		}
		if least == 0 || ratio < least {
			least = ratio
		}
		if i == class {
			own = ratio
		}
	}
	q, smallest := 1.0, 1.0
	if most > 0 {
		smallest = max(leastKept, least/most)
	}
	if own > 0 {
		q = max(leastKept, own/most)
	}
	b.was.Least = smallest
	if q < 1 && uniform(b.seed, uint64(b.rows)) >= q {
		b.thinned++
		return Fate{Thinned: true}
	}
	return Fate{Rows: 1 / q, Relative: smallest / q}
}

// uniform returns number n, in [0, 1), of the sequence with a seed. It is SplitMix64 (Steele, Lea
// and Flood 2014), started at n.
func uniform(seed, n uint64) float64 {
	z := mix(seed^0x62616c616e6365) + n*0x9e3779b97f4a7c15 // "balance"
	return float64(mix(z)>>11) * (1. / (1 << 53))
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (b *Balance) save(a *state.Arrays) {
	state.Put(a, "balance.counts", 1, b.counts)
	state.Put(a, "balance", 2, []float64{b.unit, b.was.Least})
	state.Put(a, "balance.rows", 2, []int64{b.rows, b.thinned})
}

func (b *Balance) load(s *state.Reader, learned int64, classes int) {
	b.counts = state.Take[float64](s, "balance.counts", state.AnySize, 1)
	of := state.Take[float64](s, "balance", 1, 2)
	rows := state.Take[int64](s, "balance.rows", 1, 2)
	if s.Err != nil {
		return
	}
	s.Require(len(b.counts) <= classes, "balance.counts: %d classes, want at most %d", len(b.counts), classes)
	for _, n := range b.counts {
		s.Require(n >= 0 && n <= 2*memoryRows*mostUnit, "balance.counts: a count is %v", n)
	}
	b.unit, b.was.Least, b.rows, b.thinned = of[0], of[1], rows[0], rows[1]
	s.Require(b.unit >= 1 && b.unit <= mostUnit, "balance: the weight of a row is %v", b.unit)
	s.Require(b.was.Least >= 0 && b.was.Least <= 1, "balance: the least share that is kept is %v", b.was.Least)
	s.Require(b.rows >= 0 && b.thinned >= 0 && b.thinned <= b.rows && b.rows-b.thinned <= learned, "balance.rows: %d of %d are thinned", b.thinned, b.rows)
}
