package divergence

import (
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Monitor compares the most recent rows of a stream with a reference, which is its first rows. It
// returns one Shift for every block of rows, 500 by default. After an alarm the next rows become
// the new reference. Its results depend on the rows and their order alone.
//
// It compares the means of bounded features: random features of all columns together, and cosines
// and sines of each column. If nothing changes, n times the squared distance of two means is a
// weighted sum of χ² variables. The weights are the eigenvalues of the features' covariance C. With
// λ the largest eigenvalue, the sum exceeds tr C + 2 √(x tr C²) + 2x λ with a probability of at
// most exp(-x) (Laurent and Massart 2000, lemma 1). That is the threshold. x is such that, if the
// rows are independent, there is one false alarm in 20,000 comparisons, which are ten million rows
// in blocks of 500.
//
// A column that has only one value in the reference may have rare other values: see unseen.
type Monitor struct {
	dim  int
	size int   // rows of a block
	rows int64 // since the reference began

	seen bool // thresholds do not allow for rare values that are not in the reference

	first   []float64 // raw rows, until there are enough to determine the scale
	ignored []bool    // columns that are not compared; nil for none

	scale      scale   // empty until the first rows determine it
	width      float64 // of the kernel
	bank       *features.Bank
	reference  []float64 // sums of the features while the reference grows, then their means
	products   []float64 // for each group, sums of the products of its features; nil once the reference is complete
	block      []float64 // sums of the features of the current block
	thresholds []float64 // of each group

	scratch monitorScratch
}

// monitorScratch is memory that calls of Add reuse.
type monitorScratch struct {
	vec              vec.Scratch
	standard, packed []float32
	phi              []float32
	joint            []float64
	tile             [2 * vec.Panel * vec.Lanes]float32
}

const (
	// BlockRows is the default number of rows in a block, whose features a Monitor compares with
	// the features of the reference.
	BlockRows = 500

	// MinBlockRows and MaxBlockRows bound the number of rows in a block that can be configured.
	MinBlockRows = 250
	MaxBlockRows = 100_000

	monitorBlocks   = 4   // size of the reference, in blocks
	monitorScale    = 250 // rows that determine the scale and the width of the kernel
	monitorFeatures = 32
	monitorOdds     = 20_000 // comparisons for one false alarm
)

// Frequencies of a column's features, for standardised values. The first detects shifts, the
// second, three times as high, changes on a smaller scale.
const (
	columnFrequency = 0.5
	columnFeatures  = 4 // cosines and sines of two frequencies
)

const jointFeatures = 2 * monitorFeatures

// NewMonitor returns a Monitor of rows of dim values. rows is the number of rows in a block, at
// least MinBlockRows.
func NewMonitor(dim, rows int) *Monitor { return &Monitor{dim: dim, size: rows} }

// Ignore excludes the given columns from the comparison, except for columns that have no value in
// the first rows. Call it before Add while Starting is true.
func (m *Monitor) Ignore(columns []bool) { m.ignored = columns }

// Starting reports whether there are still too few rows to determine the scale.
func (m *Monitor) Starting() bool { return m.rows < monitorScale }

// Add adds rows of dim values, NaN for a missing value. It stops at the end of a block, and returns
// the number of rows that it took. The Shift is not nil if these rows complete a block after the
// reference.
func (m *Monitor) Add(x []float64) (rows int, s *Shift) {
	n := int64(len(x) / m.dim)
	if m.rows < monitorScale {
		n = min(n, monitorScale-m.rows)
		m.first = append(m.first, x[:n*int64(m.dim)]...)
		if m.rows += n; m.rows == monitorScale {
			m.begin()
			m.take(m.first)
			m.first = nil
		}
		return int(n), nil
	}
	size := int64(m.size)
	n = min(n, size-m.rows%size)
	m.take(x[:n*int64(m.dim)])
	switch m.rows += n; {
	case m.rows == monitorBlocks*size:
		m.finish()
	case m.rows > monitorBlocks*size && m.rows%size == 0:
		s = m.compare()
	}
	return int(n), s
}

// begin sets everything that the first rows determine.
func (m *Monitor) begin() {
	m.ignored = slices.Clone(m.ignored)
	for j := range m.ignored {
		m.ignored[j] = m.ignored[j] && len(column(m.first, m.dim, j)) > 0
	}
	if !slices.Contains(m.ignored, true) {
		m.ignored = nil
	}
	m.scale = newScale(m.first, m.dim)
	standard := make([]float32, len(m.first))
	m.standardise(standard, m.first)
	m.width = medianDistance(standard, m.dim)
	m.resume()
	m.reference = make([]float64, m.features())
	m.products = make([]float64, m.moments())
	m.block = make([]float64, m.features())
}

// resume computes the fields that are not in the saved state.
func (m *Monitor) resume() {
	m.bank = features.NewBank(features.Map{Kernel: kernel.Gaussian{Scale: m.width}, Dim: m.dim, BlockSize: monitorFeatures, Seed: seed})
	m.bank.Grow(1)
}

func (m *Monitor) features() int { return jointFeatures + columnFeatures*m.dim }
func (m *Monitor) moments() int {
	return jointFeatures*jointFeatures + columnFeatures*columnFeatures*m.dim
}

// groups calls f for each group of features, with the products of its features: first the group of
// all columns together, then one group for each column. A group has width features, starting at
// index at.
func (m *Monitor) groups(f func(i, at, width int, products []float64)) {
	at, p := 0, m.products
	for i := range m.dim + 1 {
		width := columnFeatures
		if i == 0 {
			width = jointFeatures
		}
		var of []float64
		if p != nil {
			of, p = p[:width*width], p[width*width:]
		}
		f(i, at, width, of)
		at += width
	}
}

// finish turns the sums of the reference into means and thresholds.
func (m *Monitor) finish() {
	n := float64(monitorBlocks * m.size)
	for i := range m.reference {
		m.reference[i] /= n
	}
	x := vec.Log(float64(monitorOdds * (m.dim + 1)))
	m.thresholds = make([]float64, m.dim+1)
	m.groups(func(i, at, width int, products []float64) {
		q := quantile(m.reference[at:at+width], products, n, x)
		if !m.seen {
			q = max(q, unseen(width, n, x))
		}
		m.thresholds[i] = (1/n + 1/float64(m.size)) * q
	})
	m.products = nil
}
