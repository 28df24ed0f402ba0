package page

import (
	"context"
	"fmt"
	"math"
	"time"
)

// Importance is how much an input field matters for the scores of a model.
type Importance struct {
	Name  string
	Index float64 // see learner.Model.Importance
}

// Importances returns how much each input field of the newest snapshot matters, the largest
// first, and the step of that snapshot.
type Importances func(context.Context) (all []Importance, step int64, err error)

// importances are the results of the last computation.
type importances struct {
	all  []Importance
	step int64
	err  error
	of   string // state hash of the newest snapshot when they were computed
	at   time.Time
	busy bool
}

const (
	importanceEvery = 30 * time.Second // minimum time between two computations
	mostColumns     = 12               // maximum number of columns that are shown
)

// importanceView is the section about columns.
type importanceView struct {
	Step    string
	Columns []columnRow
	More    int
	Why     string // why there are no columns
}

type columnRow struct {
	Name, Share string
	Permille    int // of the largest
}

// outdated reports whether the importances should be computed again. If so, it marks them as being
// computed.
func (b *Board) outdated() bool {
	n := len(b.snapshots.values)
	i := &b.columns
	if n == 0 || i.busy || b.snapshots.values[n-1].hash == i.of || !i.at.IsZero() && b.now().Sub(i.at) < importanceEvery {
		return false
	}
	i.busy, i.of = true, b.snapshots.values[n-1].hash
	return true
}

// compute computes the importances with f.
func (b *Board) compute(ctx context.Context, f Importances) {
	all, step, err := f(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.columns.busy, b.columns.at = false, b.now()
	b.columns.err = err
	if err == nil {
		b.columns.all, b.columns.step = all, step
	}
}

func (b *Board) importanceView() *importanceView {
	i := b.columns
	if len(i.all) == 0 {
		if i.err != nil {
			return &importanceView{Why: Printable(i.err.Error(), 300)}
		}
		return nil
	}
	v := &importanceView{Step: count(i.step), More: max(0, len(i.all)-mostColumns)}
	largest := i.all[0].Index
	for _, c := range i.all[:len(i.all)-v.More] {
		r := columnRow{Name: Printable(c.Name, 60), Share: fmt.Sprintf("%.1f %%", 100*min(1, c.Index))}
		if largest > 0 {
			r.Permille = int(math.Round(1000 * max(0, c.Index) / largest))
		}
		v.Columns = append(v.Columns, r)
	}
	return v
}
