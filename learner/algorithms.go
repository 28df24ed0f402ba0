package learner

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/eigenpro"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/machine"
	"github.com/accrete-ml/accrete/learner/internal/newton"
	"github.com/accrete-ml/accrete/learner/internal/oneclass"
	"github.com/accrete-ml/accrete/learner/internal/ridge"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// algorithms is the registry, the default first. An algorithm is a row here and
// the package or file that the row's value comes from; nothing else names it.
var algorithms = slices.Concat(
	[]engine.Algorithm{newton.Algorithm, ridge.Algorithm, eigenpro.Algorithm},
	descent.Algorithms(),
)

// Algorithm describes an algorithm that Config.Algorithm can name.
type Algorithm struct {
	Name         string
	Help         string // one line
	Minibatch    int    // default of Config.Minibatch
	BlockSize    int    // default of Config.BlockSize
	FeatureBytes int    // memory for each random feature beside the State's, in bytes
}

// Algorithms returns all of them that learn from labels, the default first. The task
// Novelty has its own, one-class.
func Algorithms() []Algorithm {
	all := make([]Algorithm, len(algorithms))
	for i, a := range algorithms {
		all[i] = Algorithm{a.Name, a.Help, a.Minibatch, a.BlockSize, a.FeatureBytes}
	}
	return all
}

// FeatureBytes returns the memory that a Learner of c needs for each random
// feature beside its State, in bytes.
func (c Config) FeatureBytes() int {
	a, err := parseAlgorithm(c.Algorithm)
	if err != nil {
		return 0
	}
	return a.FeatureBytes
}

// MixtureFeatures returns the random features that a Learner of c has in members of a
// mixture, beside those of the algorithm, and the memory that it needs for each of them
// beside its State, in bytes.
func (c Config) MixtureFeatures() (features, bytes int) {
	if !c.Mixture {
		return 0, 0
	}
	return machine.AllFeatures, machine.FeatureBytes
}

// WindowNumbers returns how many numbers of rows a Learner of c, which is effective, has beside its
// State, as float32, if its model sees at most that many inputs: a copy of the rows in the windows
// of newton and of the kernel machines in a mixture, and the phases of wide ones.
func (c Config) WindowNumbers(inputs int) int {
	a, err := parseAlgorithm(c.Algorithm)
	if err != nil {
		return 0
	}
	n := 0
	if a.Packed != nil {
		n = a.Packed(c.options(), inputs)
	}
	if c.Mixture {
		n += newton.MachineNumbers(inputs, machine.Features)
	}
	return n
}

// ForestBytes returns the memory that a Learner of c, which is effective, needs for its trees
// beside its State, in bytes: those of the leaf of each row of the window, and of the nodes, of the
// trees that grow again beside those that they replace; and those of the factors that trees of
// pairs need, and of lasting coefficients.
func (c Config) ForestBytes() int {
	tree := newton.TreeBytes(c.options())
	bytes := c.Forest * tree
	if c.ForestRegrow {
		bytes += c.Forest * (tree + regrownTreeBytes)
	}
	if c.ForestLasting {
		bytes += c.Forest * lastingTreeBytes
	}
	if c.ForestPairs {
		bytes += forest.MaxPairs*tree + c.MaxFeatures*newton.PairFactorBytes
	}
	return bytes
}

// regrownTreeBytes is that of a tree of at most 2 × 5120/3 nodes, without those of a smaller one,
// and of the coefficients of one score, 56 bytes a leaf, until a snapshot has them.
const regrownTreeBytes = 136_000

// lastingTreeBytes is that of the lasting coefficients of such a tree, 16 bytes a leaf of one score.
const lastingTreeBytes = 28_000

// parseAlgorithm returns the row of a name; "" stands for the default.
func parseAlgorithm(name string) (*engine.Algorithm, error) {
	if name == "" {
		return &algorithms[0], nil
	}
	if name == oneclass.Algorithm.Name {
		return &oneclass.Algorithm, nil
	}
	for i := range algorithms {
		if algorithms[i].Name == name {
			return &algorithms[i], nil
		}
	}
	return nil, fmt.Errorf("unknown algorithm %q", name)
}

// Directions returns what Config.Direction can name, the default first.
func Directions() []string { return slices.Clone(descent.Directions) }

// Reactions returns what Config.OnDrift can name, the default first.
func Reactions() []string { return slices.Clone(engine.Reactions[:]) }

// Arithmetic is the version of what turns rows into bits. A log is learned again
// by programs of its own version only, so it grows by one with every change after
// which the same rows lead to another state or prediction.
const Arithmetic = 1

// Arithmetic returns the version of what the algorithm of c computes. A log is learned
// again by programs of its own version only, so it grows by one with every change after
// which the same rows lead to another state or prediction.
func (c Config) Arithmetic() int {
	e, err := c.Effective()
	if err != nil {
		return Arithmetic
	}
	version := Arithmetic
	if a, err := parseAlgorithm(e.Algorithm); err == nil && a.Descent != nil {
		version += a.Descent.Arithmetic(e.Direction) - 1
	}
	if e.Costs == costsF1 { // its window and its least weight have changed, and then its threshold
		version += 2
	}
	if e.Intervals != 0 { // in deviations of the label, and then by steps of one size
		version += 2
	}
	if e.Mixture { // with the members short and reset, which take fewer steps of no use, calibrated for scorers, with fewer steps in the warm-up, with numbers judged by t distributions and without outliers, and whose averages change less often, at first once the window is full, trees grow again from the columns that matter, and scores of rows that a member has left stay as they are
		version += 9
	}
	if e.Sparse > 0 { // machines of no use take fewer steps
		version++
	}
	return version
}

const (
	// AutoEffort is the value of Config.Effort that leaves the choice to the first rows: 256, or
	// less where labels are mostly noise. In new models it is also the default, unless rows have a
	// sparse part.
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

// ParseEffort returns the Config.Effort for a value that configurations have: "default", "auto",
// or a number from 1 to MaxEffort.
func ParseEffort(s string) (int, error) {
	switch s {
	case "default":
		return 0, nil
	case "auto":
		return AutoEffort, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > MaxEffort {
		return 0, fmt.Errorf("effort %q: want default, auto, or a number from 1 to %d", s, MaxEffort)
	}
	return n, nil
}

// KeepEffort returns c with the effort of an existing model, was, if was has sparse inputs and
// the default effort, and c that of models without: both were the same once.
func (c Config) KeepEffort(was Config) Config {
	preset := c
	preset.Effort = 0
	if e, err := preset.Effective(); err == nil && c.Sparse > 0 && c.Effort == algorithms[0].Effort && was.Effort == e.Effort {
		c.Effort = 0
	}
	return c
}

// autoTrees is the number of trees of a forest on trial. Chosen by trial: docs/forest.md.
const autoTrees = 100

// ParseForest returns the Config.Forest for a value that configurations have, a number of trees
// or "auto", and whether it is on trial.
func ParseForest(s string) (trees int, trial bool, err error) {
	if s == "auto" {
		return autoTrees, true, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxTrees {
		return 0, false, fmt.Errorf("forest %q: want auto, or a number of trees from 0 (none) to %d", s, maxTrees)
	}
	return n, false, nil
}

// effort returns that of the engines of c.
func (c Config) effort() int {
	a, err := parseAlgorithm(c.Algorithm)
	if err != nil {
		return 0
	}
	return cmp.Or(c.Effort, a.Effort)
}

// sparing reports whether newton chooses its effort by the labels unless one is configured. In models
// from before, AutoEffort alone does so, and the number of the default is the default.
func (c Config) sparing() bool { return warmup.Version(c.Warmup) >= warmup.Fourteenth }

// quick reports whether the warm-up of c is a quick one.
func (c Config) quick() bool { return 0 < c.Effort && c.Effort < quickEffort }

// withEffort returns c, of an algorithm, with its default effort as 0 and with the random
// features that its effort is for. Algorithms without an effort take that of newton, which
// changes nothing.
func (c Config) withEffort(a *engine.Algorithm) Config {
	switch {
	case c.Sparse > 0 && c.Effort == 0:
		c.Effort = min(a.Effort, sparseEffort)
	case c.Effort == algorithms[0].Effort && (a.Effort == 0 || c.Sparse == 0 && !c.sparing()):
		c.Effort = 0
	case c.Effort == AutoEffort && c.Sparse == 0 && c.sparing():
		c.Effort = 0
	}
	if c.Effort > 0 {
		c.MaxFeatures = min(c.MaxFeatures, max(leastFeatures, newton.EffortFeatures*c.Effort, c.BlockSize))
	}
	return c
}
