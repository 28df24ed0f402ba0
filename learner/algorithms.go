package learner

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/eigenpro"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/machine"
	"github.com/accrete-ml/accrete/learner/internal/newton"
	"github.com/accrete-ml/accrete/learner/internal/oneclass"
	"github.com/accrete-ml/accrete/learner/internal/posterior"
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

// Algorithms returns all algorithms that learn from labels, the default first. The task Novelty has
// an algorithm of its own, one-class.
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

// MixtureFeatures returns how many random features the kernel machines of a mixture have in a
// Learner of c, besides those of the algorithm, and the memory in bytes that each of them needs
// beside the State.
func (c Config) MixtureFeatures() (features, bytes int) {
	if !c.Mixture {
		return 0, 0
	}
	return machine.AllFeatures, machine.FeatureBytes
}

// WindowNumbers returns how many float32 numbers a Learner of c, which must be effective, keeps for
// the rows in its windows beside its State, if its model sees at most that many inputs. They are a
// copy of the rows in the windows of newton and of the kernel machines of a mixture, and, for rows
// with many inputs, their phases.
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

// ForestBytes returns the memory in bytes that a Learner of c, which must be effective, needs for
// its trees beside its State: for their nodes, and for the leaf of each row of the window. Trees
// that grow again are held beside those that they replace. Lasting coefficients and trees of pairs
// need memory of their own, the latter for a factor of each block as well.
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

// regrownTreeBytes is the additional memory of a tree that has grown again: its nodes, at most 2 ×
// 5120/3, beyond those of a first tree, and the coefficients of its leaves until a snapshot has
// them, 56 bytes a leaf for one score.
const regrownTreeBytes = 136_000

// lastingTreeBytes is the memory of the lasting coefficients of such a tree: 16 bytes a leaf for
// one score.
const lastingTreeBytes = 28_000

// VarianceBytes returns the memory that a Learner of c needs for variances beside its State,
// in bytes.
func (c Config) VarianceBytes() int {
	if !c.Variance {
		return 0
	}
	return posterior.Bytes
}

// parseAlgorithm returns the row of a name; "" stands for the default.
func parseAlgorithm(name string) (*engine.Algorithm, error) {
	if name == "" {
		return &algorithms[0], nil
	}
	if name == oneclass.Algorithm.Name {
		return &oneclass.Algorithm, nil
	}
	names := []string{oneclass.Algorithm.Name}
	for i := range algorithms {
		if algorithms[i].Name == name {
			return &algorithms[i], nil
		}
		names = append(names, algorithms[i].Name)
	}
	return nil, spell.Unknown("algorithm", name, names, names)
}

// Directions returns what Config.Direction can name, the default first.
func Directions() []string { return slices.Clone(descent.Directions) }

// Reactions returns what Config.OnDrift can name, the default first.
func Reactions() []string { return slices.Clone(engine.Reactions[:]) }

// Arithmetic is the version of the computations that all models share. A model log can be learned
// again only by a program with the same version. The version therefore grows by one with every
// change after which the same rows lead to another state or prediction.
const Arithmetic = 1

// Arithmetic returns the version of the computations of a model of c. A model log can be learned
// again only by a program with the same version. The version therefore grows by one with every
// change after which the same rows lead to another state or prediction: it is the constant
// Arithmetic plus the number of such changes in the parts that c uses.
func (c Config) Arithmetic() int {
	e, err := c.Effective()
	if err != nil {
		return Arithmetic
	}
	version := Arithmetic
	if a, err := parseAlgorithm(e.Algorithm); err == nil && a.Descent != nil {
		version += a.Descent.Arithmetic(e.Direction) - 1
	}
	if e.Costs == costsF1 {
		// 1. Another window and another least weight.
		// 2. Another threshold.
		version += 2
	}
	if e.Intervals != 0 {
		// 1. Distances in deviations of the label.
		// 2. Steps of one size.
		version += 2
	}
	if e.Mixture {
		// 1. The member short.
		// 2. The member reset.
		// 3. Fewer steps of kernel machines that are of no use.
		// 4. Calibrated predictions of scorers.
		// 5. Fewer steps in the warm-up.
		// 6. Numbers judged by t distributions.
		// 7. Averages that change less often once the window is full.
		// 8. Averages that change less often while it grows; trees that grow again from the
		//    columns that matter.
		// 9. Scores of rows that a member no longer learns from stay as they are; numbers
		//    without outliers.
		version += 9
	}
	if e.Sparse > 0 {
		version++ // fewer steps of kernel machines that are of no use
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
		return 0, fmt.Errorf("effort is %q: want default, auto, or a number from 1 to %d", s, MaxEffort)
	}
	return n, nil
}

// KeepEffort returns c with the default effort if c has sparse inputs and asks for the number that
// is the default of models without, but the existing model, configured by was, has the default of
// models with sparse inputs. When such a model was created, that number stood for the default.
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

// ParseForest reads the value of a configuration for Config.Forest: a number of trees, or "auto",
// for which trial is true.
func ParseForest(s string) (trees int, trial bool, err error) {
	if s == "auto" {
		return autoTrees, true, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxTrees {
		return 0, false, fmt.Errorf("forest is %q: want auto, or a number of trees from 0 (none) to %d", s, maxTrees)
	}
	return n, false, nil
}

// effort returns the effort of the engines of c.
func (c Config) effort() int {
	a, err := parseAlgorithm(c.Algorithm)
	if err != nil {
		return 0
	}
	return cmp.Or(c.Effort, a.Effort)
}

// sparing reports whether newton chooses its effort by the labels unless one is configured. Models
// of earlier versions of the warm-up do so only with AutoEffort, and in their configurations the
// number of the default effort stands for the default.
func (c Config) sparing() bool { return warmup.Version(c.Warmup) >= warmup.Fourteenth }

// quick reports whether the warm-up of c is a quick one.
func (c Config) quick() bool { return 0 < c.Effort && c.Effort < quickEffort }

// withEffort returns c with its effort normalised for algorithm a, and with no more random features
// than that effort is for. The default effort becomes 0 or, if rows have a sparse part, the number
// that it stands for, at most sparseEffort. An algorithm without an effort also accepts the default
// of newton, which changes nothing.
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
