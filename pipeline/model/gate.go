package model

import (
	"errors"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/learner"
)

// GateConfig is the rule that a new snapshot has to pass before scorers serve it: its metric over
// the last labelled records may exceed that of the served snapshot by at most a share of the
// latter.
type GateConfig struct {
	Metric    string  // GateLoss or GateError; empty: every snapshot passes
	WorseThan float64 // share, at least 0
	// Over is the number of last labelled records to compare on, at least 1. There are fewer if
	// they have not come yet since the served snapshot was chosen.
	Over int
}

// The metrics of a gate. GateLoss is the logarithmic loss for classes, the pinball loss for
// quantiles and the squared error for other numbers. GateError is the share of wrong classes, and
// the absolute error of numbers.
const (
	GateLoss  = "loss"
	GateError = "error"
)

// ErrGate is the error for a model that a gate cannot compare.
var ErrGate = errors.New("no gate is possible")

// Validate returns ErrGate unless a gate can compare the models of c.
func (g GateConfig) Validate(c learner.Config) error {
	switch {
	case g.Metric != GateLoss && g.Metric != GateError:
		return fmt.Errorf("%w: unknown metric %q", ErrGate, g.Metric)
	case !(g.WorseThan >= 0) || math.IsInf(g.WorseThan, 0) || g.Over < 1:
		return fmt.Errorf("%w: worse than %v over %d records", ErrGate, g.WorseThan, g.Over)
	case c.Lags > 0:
		return fmt.Errorf("%w: %w", ErrGate, learner.ErrLags)
	case c.Task == learner.Novelty:
		return fmt.Errorf("%w: novelty has no labels", ErrGate)
	}
	return nil
}
