package model

import (
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/refit"
)

// RefitConfig configures when the coefficients are solved for again, and how accurately. It does
// not affect what is learned.
type RefitConfig struct {
	Every     time.Duration // interval; 0: never
	Window    int           // number of records to solve on, those learned last
	Tolerance float64       // relative duality gap at which to stop
	Prune     float64       // penalty that removes random features, as a share of the smallest one that removes all; 0: none
	Lambda    float64       // weight of ‖f‖²/2 in addition to the mean loss; 0: chosen by leave-one-out
}

// Validate returns refit.ErrUnfit for a refit that is impossible.
func (c RefitConfig) Validate() error {
	if c.Window < 2 || !(c.Tolerance > 0) || !(c.Lambda >= 0) || !(c.Prune >= 0 && c.Prune < 1) {
		return fmt.Errorf("%w: invalid refit of %d records with tolerance %v, penalty %v and prune %v", refit.ErrUnfit, c.Window, c.Tolerance, c.Lambda, c.Prune)
	}
	return nil
}

var (
	errLate   = errors.New("its labels come later than its features (input.labels), and a refit reads records again that have both")
	errAdopts = errors.New("it adopts columns (input.on_change), and a refit reads records again with the columns of one model")
	errTables = errors.New("a refit reads records again, and the rows of input.tables have changed since")
)

// Refittable returns refit.ErrUnfit for a model that cannot be refitted.
func (c Config) Refittable() error {
	if err := c.Rereadable(); err != nil {
		return err
	}
	switch {
	case c.Decode.Late != nil:
		return unfit(errLate)
	case c.Decode.Adopt:
		return unfit(errAdopts)
	case c.Learner.Lags > 0:
		return unfit(learner.ErrLags)
	case c.Learner.Forest > 0 && !c.Learner.ForestTrial: // a forest on trial may have been discarded
		return unfit(learner.ErrForest)
	case c.Learner.Sparse > 0:
		return unfit(learner.ErrSparse)
	}
	return nil
}

// Rereadable returns refit.ErrUnfit for a model whose records would be other rows if they were read
// again.
func (c Config) Rereadable() error {
	switch {
	case len(c.Decode.Tables) > 0:
		return unfit(errTables)
	case len(c.Decode.Windows) > 0:
		return unfit(learner.ErrWindows)
	case c.Learner.HalfLife > 0:
		return unfit(learner.ErrAges)
	}
	return nil
}

func unfit(err error) error { return fmt.Errorf("%w: %w", refit.ErrUnfit, err) }

// ValidateRefit returns refit.ErrUnfit if refits are configured and are impossible.
func (c Config) ValidateRefit() error {
	if c.Refit.Every <= 0 {
		return nil
	}
	if err := c.Refit.Validate(); err != nil {
		return err
	}
	return c.Refittable()
}
