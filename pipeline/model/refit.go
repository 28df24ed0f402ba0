package model

import (
	"fmt"
	"time"

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
