package encode

import (
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// OutOfFold replaces the statistics of categories in out, which Rows returned for the rows x. Each
// row gets statistics of all rows outside of its fold, where a fold is every folds-th row. The
// first rows then have statistics of about as many rows as the last ones, and no row has statistics
// of its own label (as in stacking: Wolpert 1992). It does nothing with less than 2 folds.
func (e *Encoding) OutOfFold(out, x []float64, labels []target.Label, weights []float64, folds int) {
	if folds < 2 || !slices.ContainsFunc(e.columns, func(c column) bool { return c.ofLabels() }) {
		return
	}
	d, row := e.Dim(), make([]float64, e.width)
	for fold := range folds {
		others := e.Start()
		for i := range labels {
			if i%folds != fold {
				others.Learn(x[i*d:(i+1)*d], &labels[i], weights[i])
			}
		}
		others.Bound()
		for i := fold; i < len(labels); i += folds {
			others.Apply(row, x[i*d:(i+1)*d])
			at := 0
			for j := range e.columns {
				c := &e.columns[j]
				n := c.encoder().width(c, &e.prior)
				if c.ofLabels() {
					copy(out[i*e.width+at:], row[at:at+n])
				}
				at += n
			}
		}
	}
}

// ofLabels reports whether what c becomes depends on the labels of earlier rows.
func (c *column) ofLabels() bool { return c.counts() || c.kind == asGrams }

// counts reports whether c has statistics of the labels of its values.
func (c *column) counts() bool {
	return c.kind == asStatistics || c.kind == asDecayed || c.kind == asOrdered || c.kind == asCoded
}
