package learner

import (
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/oneclass"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// What the Class of a Label of Novelty says about the row, for those who grade scores.
const (
	Unlabelled  = target.Unlabelled // nothing
	KnownNormal = target.KnownNormal
	KnownNovel  = target.KnownNovel
)

// defaultNu is the default of Config.Nu.
const defaultNu = 0.05

// Novel reports whether a prediction of novelty, its score and its threshold, flags the
// row. There is none before the first fit of the warm-up.
func Novel(prediction []float64) bool { return target.Novel(prediction) }

// noveltyError returns what is wrong with c, of algorithm a, for the task Novelty, or with
// what is for that task alone.
func (c Config) noveltyError(a *engine.Algorithm) error {
	novelty := c.Task == Novelty
	switch {
	case novelty != (a.Name == oneclass.Algorithm.Name):
		return fmt.Errorf("algorithm %s is not for task %v: leave one of them out", c.Algorithm, c.Task)
	case novelty && !(c.Nu >= loss.MinNu && c.Nu <= loss.MaxNu):
		return fmt.Errorf("nu %v: want %v to %v", c.Nu, loss.MinNu, loss.MaxNu)
	case !novelty && c.Nu != 0:
		return fmt.Errorf("nu %v is for task novelty, but the task is %v", c.Nu, c.Task)
	case novelty && c.Lags > 0:
		return errors.New("lags are inputs of earlier labels, which task novelty does not have")
	}
	return nil
}
