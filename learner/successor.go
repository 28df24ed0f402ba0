package learner

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// If rows get new columns, a second Learner learns the same rows with these columns, beside the
// model, and takes its place once it predicts better:
//
//	next.Learn(next.Predict(rows)) // beside the model, which gets rows.First(columns)
//	next.Succeed(model)            // and predicts in its place from then on

// Succeed makes l take the place of another Learner of the same Config. It takes over the
// progressive validation, which grades the predictions that were published, and the windows,
// because the other Learner has observed the rows.
func (l *Learner) Succeed(of *Learner) {
	l.validation, l.windows = of.validation, of.windows
	l.weighing.Follow(&of.weighing)
}

// Classes returns the number of classes that l knows.
func (l *Learner) Classes() int { return l.head.Classes }

// First returns the examples of b with only their first n values. It shares the other parts of the
// examples with b.
func (b *Batch) First(n int) *Batch {
	s := b.Slice(0, b.Len())
	s.dim, s.x = n, make([]float64, 0, n*b.Len()) // so that Fill changes s alone
	for i := range b.Len() {
		s.x = append(s.x, b.X(i)[:n]...)
	}
	if b.types != nil {
		s.types = b.types[:n:n]
	}
	return s
}

// Fill sets the missing values of a column of b to those that the same examples have in column from
// of the batch of.
func (b *Batch) Fill(column int, of *Batch, from int) {
	for i := range b.Len() {
		if x := b.X(i); x[column] != x[column] {
			x[column] = of.X(i)[from]
		}
	}
}

// Widen sets the number of values of an example of b to dim. The values that this adds to its
// present examples are missing values.
func (b *Batch) Widen(dim int) {
	x := make([]float64, 0, max(b.Len(), cap(b.x)/max(1, b.dim))*dim)
	for i := range b.Len() {
		x = append(append(x, b.X(i)...), slices.Repeat([]float64{math.NaN()}, dim-b.dim)...)
	}
	b.dim, b.x = dim, x
}

// SharedLoss returns the loss of the prediction for row i in units that do not depend on the
// Learner, so that two Learners can be compared. It is Loss, except for numbers with another loss
// than the square, where it is in the units of the label. Huber and Absolute compare errors with a
// multiple of the standard deviation, which differs between Learners: for these it is the absolute
// error.
func (p *PredictedBatch) SharedLoss(i int) (float64, bool) {
	l, ok := p.Loss(i)
	if !ok || p.head.Task != Regression || p.head.Loss == (loss.Square{}) {
		return l, ok
	}
	robust := false
	switch p.head.Loss.(type) {
	case loss.Huber, loss.Absolute:
		robust = true
	}
	y, sum := p.batch.Label(i), 0.0
	head, scores, row, _ := p.graded(i)
	for j, s := range head.Scales {
		if robust {
			sum += math.Abs(target.Bounded(y.At(j)) - head.Quantiles.Point(row, j))
		} else {
			sum += float64(head.GradedLoss(scores, row, y, j) * s.Deviation)
		}
	}
	return target.Finite(sum / float64(len(head.Scales))), true
}
