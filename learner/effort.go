package learner

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/newton"
)

const (
	// AutoEffort is the value of Config.Effort that leaves the choice to the first rows:
	// the default, or less where labels are mostly noise.
	AutoEffort = engine.AutoEffort

	// MaxEffort is the largest value of Config.Effort.
	MaxEffort = 1024

	// quickEffort is the effort below which the warm-up has fewer fits, on fewer rows:
	// the complete one would take longer than all the steps. Chosen by trial.
	quickEffort = 32

	// leastFeatures is the least maximum of random features that an effort sets. Chosen by
	// trial.
	leastFeatures = 256
)

// ParseEffort returns the Config.Effort for a value that configurations have: "auto", or a
// number from 1 to MaxEffort. That of the default is 0.
func ParseEffort(s string) (int, error) {
	if s == "auto" {
		return AutoEffort, nil
	}
	n, err := strconv.Atoi(s)
	switch {
	case err != nil || n < 1 || n > MaxEffort:
	case n == algorithms[0].Effort:
		return 0, nil // which every algorithm takes
	default:
		return n, nil
	}
	return 0, fmt.Errorf("effort %q: want auto, or a number from 1 to %d", s, MaxEffort)
}

// effort returns that of the engines of c.
func (c Config) effort() int {
	a, err := parseAlgorithm(c.Algorithm)
	if err != nil {
		return 0
	}
	return cmp.Or(c.Effort, a.Effort)
}

// quick reports whether the warm-up of c is a quick one.
func (c Config) quick() bool { return 0 < c.Effort && c.Effort < quickEffort }

// withEffort returns c, of an algorithm, with its default effort as 0 and with the random
// features that its effort is for.
func (c Config) withEffort(a *engine.Algorithm) Config {
	if c.Effort == a.Effort {
		c.Effort = 0
	}
	if c.Effort > 0 {
		c.MaxFeatures = min(c.MaxFeatures, max(leastFeatures, newton.EffortFeatures*c.Effort, c.BlockSize))
	}
	return c
}
