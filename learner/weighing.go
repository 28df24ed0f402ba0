package learner

import (
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/eigenpro"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/internal/weighing"
)

// Bounds of Config.HalfLife, in seconds.
const (
	LeastHalfLife = weighing.LeastHalfLife
	MostHalfLife  = weighing.MostHalfLife
)

// ErrAges is the error of operations that would read rows again for a model with a half-life: the
// ages that these rows had when they were learned are no longer known.
var ErrAges = errors.New("a model with a half-life weights examples by their ages when they were learned, which cannot be read again")

// fate is what becomes of a row.
type fate struct {
	weighing.Fate
	age float64 // factor of its weight
}

// fully is the fate of every row without Config.Balance and Config.HalfLife.
var fully = fate{weighing.Fate{Rows: 1, Relative: 1}, 1}

// fateOf decides what becomes of row i of b, before which n rows have been learned. No row is
// thinned before the end of the warm-up, and none that brings a new class.
func (l *Learner) fateOf(b *Batch, i int, n int64) fate {
	f, y := fully, b.Label(i)
	clock, balance := l.ahead.Clock(), l.ahead.Balance()
	if clock != nil {
		clock.See(b.time(i))
	}
	if y.Task == Auto {
		return f
	}
	if clock != nil {
		f.age = clock.Weight(b.time(i))
	}
	if balance != nil && y.Class >= 0 && y.Class < l.config.MaxClasses {
		first := n < int64(warmup.EffectiveAt(warmup.LastCheckpoint)) || y.Class >= l.head.Classes
		f.Fate = balance.Row(y.Class, b.classes, first)
	}
	return f
}

// fate returns what becomes of row i.
func (p *PredictedBatch) fate(i int) fate {
	if i < len(p.fates) {
		return p.fates[i]
	}
	return fully
}

// passOver counts the label of row i of p, which is thinned and therefore not learned.
func (l *Learner) passOver(p *PredictedBatch, i int, y Label, weight float64) {
	l.count(y, weight)
	if l.mixture != nil && !p.outlier(i) {
		l.mixture.Remember(p.batch.keys[i], y)
	}
}

// examples returns the number of labelled rows so far, thinned ones included.
func (l *Learner) examples() int64 {
	if b := l.weighing.Balance(); b != nil {
		return l.labelled + b.Thinned()
	}
	return l.labelled
}

// shares returns the shares of Config.Balance, nil if there are none. c must be valid.
func (c Config) shares() *weighing.Shares {
	if c.Balance == "" {
		return nil
	}
	s, err := weighing.ParseShares(c.Balance)
	if err != nil {
		panic("learner: " + err.Error())
	}
	return s
}

// NamedShares returns the names of the classes in Balance, and nil if it names none.
func (c Config) NamedShares() []string {
	if s, err := weighing.ParseShares(c.Balance); err == nil {
		return s.Names()
	}
	return nil
}

// weighingError returns what is wrong with Balance and HalfLife.
func (c Config) weighingError(a *engine.Algorithm) error {
	if c.Balance != "" {
		if _, err := weighing.ParseShares(c.Balance); err != nil {
			return err
		}
		if c.Task != Classification {
			return fmt.Errorf("balance %s is for classification, but the task is %v: it thins the rows of frequent classes", c.Balance, c.Task)
		}
	}
	switch {
	case c.HalfLife != 0 && !(c.HalfLife >= LeastHalfLife && c.HalfLife <= MostHalfLife):
		return fmt.Errorf("half_life is %v s: want 0 (none), or %g to %g", c.HalfLife, LeastHalfLife, MostHalfLife)
	case a.Name == eigenpro.Algorithm.Name:
		return fmt.Errorf("algorithm %s does not weight examples: it excludes balance and half-life", a.Name)
	}
	return nil
}
