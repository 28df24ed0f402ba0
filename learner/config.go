package learner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/decide"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/interval"
	"github.com/accrete-ml/accrete/learner/internal/oneclass"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/learner/metric"
)

// Metric is a given metric of the inputs, in place of the column weights of the warm-up.
type Metric = metric.Metric

// Config configures a Learner. It is fixed for the life of a model. The zero value of
// each field selects the default that its comment names. The JSON keys are part of the
// format of model logs, which hash them.
type Config struct {
	Algorithm     string  `json:"algorithm"`                // as Algorithms names it; the default is "newton", which stands for "one-class" if the task is Novelty
	Direction     string  `json:"stepper"`                  // of dsg, udsg, cdsg and all: "rate", "adagrad" or "precond"; "" or "auto" (default): that of the algorithm
	Kernel        string  `json:"kernel"`                   // "gaussian" (default): the warm-up chooses the scale; "gaussian:2.5": that of the scaled inputs
	Metric        *Metric `json:"metric,omitempty"`         // of the inputs; nil (default): the warm-up learns column weights instead
	Sampling      string  `json:"sampling"`                 // of the frequencies, as features.SamplingNames lists them: "iid" (default); "sorf" and "fastfood" are for 64 inputs or more, see Check
	Task          Task    `json:"task"`                     // Auto (default): the loss or else the first label decides
	Loss          string  `json:"loss"`                     // "auto" (default): logistic or softmax of classes, square of numbers; otherwise as package loss prints it
	BlockSize     int     `json:"width"`                    // random features in a block: the default of the algorithm, see Algorithms
	MaxFeatures   int     `json:"max_features"`             // maximum number of random features, rounded up to whole blocks: 4096
	Minibatch     int     `json:"minibatch"`                // labelled rows in a step: the default of the algorithm
	MaxClasses    int     `json:"max_classes"`              // 256
	Targets       int     `json:"outputs,omitempty"`        // targets in the label of a regression, from 2 to 256; 0 (default): one
	Lambda        float64 `json:"lambda"`                   // weight of ‖f‖²/2 in the objective: of dsg, udsg and cdsg that of the warm-up, of others 1e-6
	Lags          int     `json:"lags"`                     // last labelled rows of the same key, whose inputs and labels become inputs: 0
	OnDrift       string  `json:"on_drift"`                 // "none" (default), "boost", "forget" or "reset"
	Nu            float64 `json:"nu,omitempty"`             // novelty: share of the rows to flag, from 0.001 to 0.5: 0.05; 0 for other tasks
	Costs         string  `json:"costs,omitempty"`          // "none" or "" (default): decide for the most probable class; "f1": at the threshold that maximises the F1 of the rarer of two; a JSON object: for the least expected cost, as ParseCosts says
	Intervals     float64 `json:"intervals,omitempty"`      // share of the labels of a regression in the interval around their prediction, from 0.5 to 0.999; 0 (default): no intervals
	Variance      bool    `json:"variance,omitempty"`       // estimate the variance of the labels of a regression around each prediction, and make intervals as wide as it says: false
	Monitor       int     `json:"monitor,omitempty"`        // rows of which the inputs are compared with those of the reference, from 250 to 100,000, see package divergence; 0 (default): none
	Forest        int     `json:"forest,omitempty"`         // trees whose leaves are features of newton beside the random ones, at most 4096: 0
	ForestTrial   bool    `json:"forest_trial,omitempty"`   // discard the trees unless they pay, see docs/forest.md: false
	ForestPairs   bool    `json:"forest_pairs,omitempty"`   // of a forest on trial: pairs of categories have trees of their own, where they matter: false
	ForestLasting bool    `json:"forest_lasting,omitempty"` // of a forest on trial: leaves also learn what the mixture leaves of all rows since the trees grew, of classes from the ninth version of the warm-up on: false
	ForestRegrow  bool    `json:"forest_regrow,omitempty"`  // of a forest on trial: the trees grow again from more rows, half of them from what the random features leave: false
	Folds         int     `json:"folds,omitempty"`          // parts of the rows of the warm-up, from 2 to 100, each of which has the statistics of categories that the others give; 0 (default): those of the rows before
	NormalScores  bool    `json:"normal_scores,omitempty"`  // numbers of many values are seen as normal scores if that has a smaller leave-one-out error in the warm-up
	Warmup        int     `json:"warmup,omitempty"`         // version of the rules of the warm-up: NewestWarmup, or 0 (default) for the first one
	Mixture       bool    `json:"mixture,omitempty"`        // mix the algorithm with simple members, by weights that change with every row, see docs/mixture.md: false
	Discard       bool    `json:"discard,omitempty"`        // members of newton that do not pay with five classes or more, or with trees, are discarded after 2,048, 4,096 or 8,000 rows, see docs/algorithms.md: false
	Effort        int     `json:"effort,omitempty"`         // of newton, see docs/effort.md: 1 to 1024, or AutoEffort; 0 (default): AutoEffort, or 256 before version 14 of Warmup, with Sparse 4
	Sparse        int     `json:"sparse,omitempty"`         // rows have a sparse part, see Batch.SetSparse, whose columns are hashed to that many bits, from 8 to 24: 0 (none). It needs a mixture
	Balance       string  `json:"balance,omitempty"`        // classes of which the rows that are learned are thinned, see docs/imbalance.md: "none" or "" (default), "balanced", or a JSON object of shares by class
	HalfLife      float64 `json:"half_life,omitempty"`      // seconds of event time after which an example that is learned late counts half, see Batch.SetTime: 0 (default, never)
	Seed          uint64  `json:"seed"`                     // of the frequencies: 1
	Steps
}

const (
	defaultKernel      = "gaussian"
	defaultMaxFeatures = 4096
	mostFeatures       = 1 << 24
	defaultNu          = 0.05

	// NewestWarmup is the Config.Warmup that hosts give to new models. A model that exists
	// keeps the version that it was created with.
	NewestWarmup = int(warmup.Newest)
)

// costsF1 is the value of Config.Costs that learns a threshold.
const costsF1 = "f1"

// sparseEffort is the default of Config.Effort for rows with a sparse part, of which the random
// features see only a projection. Chosen by trial.
const sparseEffort = 4

// The bits of Config.Sparse.
const (
	LeastSparse = 8
	MostSparse  = 24
)

// Effective returns c with every default filled in. An invalid c is an error.
func (c Config) Effective() (Config, error) {
	c.Algorithm = cmp.Or(c.Algorithm, algorithms[0].Name)
	if c.Task == Novelty {
		c.Nu = cmp.Or(c.Nu, defaultNu)
		if c.Algorithm == algorithms[0].Name {
			c.Algorithm = oneclass.Algorithm.Name
		}
	}
	c.Kernel = cmp.Or(c.Kernel, defaultKernel)
	c.Sampling = cmp.Or(c.Sampling, "iid")
	c.OnDrift = cmp.Or(c.OnDrift, "none")
	if c.Direction == "auto" {
		c.Direction = ""
	}
	c.Loss = cmp.Or(c.Loss, "auto")
	if l, err := parseLoss(c.Loss); err == nil && l != nil {
		c.Loss = l.String()
		c.Task = cmp.Or(c.Task, target.TaskOf(l))
	}
	if c.Costs == "none" {
		c.Costs = ""
	}
	if b := new(bytes.Buffer); c.Costs != "" && json.Compact(b, []byte(c.Costs)) == nil {
		c.Costs = b.String()
	}
	if c.Balance == "none" {
		c.Balance = ""
	}
	if b := new(bytes.Buffer); c.Balance != "" && json.Compact(b, []byte(c.Balance)) == nil {
		c.Balance = b.String()
	}
	if c.Costs != "" || c.Balance != "" {
		c.Task = cmp.Or(c.Task, Classification)
	}
	if c.uncertainty().Any() {
		c.Task = cmp.Or(c.Task, Regression)
	}
	if c.Targets == 1 {
		c.Targets = 0
	}
	if c.Targets > 1 {
		c.Task = cmp.Or(c.Task, Regression)
	}
	if c.Memory > 0 {
		c.MaxFeatures = cmp.Or(c.MaxFeatures, mostFeatures)
	}
	c.MaxFeatures = cmp.Or(c.MaxFeatures, defaultMaxFeatures)
	c.MaxClasses = cmp.Or(c.MaxClasses, 256)
	if a, err := parseAlgorithm(c.Algorithm); err == nil {
		c = c.withEffort(a).suited(a)
	}
	c.Seed = cmp.Or(c.Seed, 1)
	return c, c.validate()
}

// ErrInputs is the error of rows with too few inputs for a Config.
var ErrInputs = errors.New("too few inputs")

// Check returns an error if c, which must be valid, does not suit rows of these columns. A host
// calls it before the first row; a Learner does not check the rows.
func (c Config) Check(columns []string) error {
	if err := c.sampling().Check(c.rowSize(len(columns))); err != nil {
		return fmt.Errorf("%w: %w", ErrInputs, err)
	}
	return c.Metric.Check(columns)
}

// Above returns the number that every input has to exceed for the kernel of c, and 0
// if there is none. A host checks the rows; a Learner replaces inputs below it.
func (c Config) Above() float64 {
	k, err := kernel.Parse(cmp.Or(c.Kernel, defaultKernel))
	if m, ok := k.(kernel.Bounded); ok && err == nil {
		return m.Above()
	}
	return 0
}

// Counts reports whether the labels of c are counts, none of which is negative. A host checks the
// labels; a Learner learns a negative one as 0.
func (c Config) Counts() bool { return c.Loss == loss.Poisson{}.String() }

// FrequencyBytes returns the memory in bytes that a random feature of rows of that many inputs
// needs for its frequency, or for the parameters that features of some kernels have instead.
func (c Config) FrequencyBytes(inputs int) int {
	k, err := kernel.Parse(cmp.Or(c.Kernel, defaultKernel))
	if err != nil {
		return 4 * inputs
	}
	return features.FeatureBytes(k, inputs)
}

// same reports whether c and o are equal, with metrics compared by their files.
func (c Config) same(o Config) bool {
	if c.Metric.SameFile(o.Metric) {
		c.Metric = o.Metric
	}
	return c == o
}

// Keyed reports whether a Learner of c needs the keys of rows: see Batch.SetKey. A mixture uses
// keys where rows have them, and does not need them.
func (c Config) Keyed() bool {
	return c.Lags > 0 || c.Metric != nil && c.Metric.Keys() > 0
}

func (c Config) sampling() features.Sampling {
	s, err := features.ParseSampling(cmp.Or(c.Sampling, "iid"))
	if err != nil {
		panic(err)
	}
	return s
}

// Canonical returns the effective values as JSON, always in the same bytes:
// what a host appends to the model log and hashes. Unmarshal reads it back.
func (c Config) Canonical() ([]byte, error) {
	c, err := c.Effective()
	if err != nil {
		return nil, err
	}
	return json.Marshal(c)
}

// labelSize returns the number of numbers that encode a label.
func (c Config) labelSize() int { return max(2, c.Targets) }

// rowSize returns the number of values of a row of dim inputs with its lags.
func (c Config) rowSize(dim int) int { return dim + c.Lags*(dim+c.labelSize()) }

// inputs returns the number of inputs of a row of width values, without its lags.
func (c Config) inputs(width int) int { return (width - c.Lags*c.labelSize()) / (1 + c.Lags) }

// uncertainty returns which kinds of uncertainty predictions have beside their value.
func (c Config) uncertainty() interval.Kind {
	return interval.Kind{Coverage: c.Intervals, Variance: c.Variance}
}

// targets returns the number of targets of a label.
func (c Config) targets() int { return max(1, c.Targets) }

// NamedCosts returns the names of the classes in Costs, and nil if it names none.
func (c Config) NamedCosts() []string {
	if costs, err := decide.ParseCosts(c.Costs); err == nil {
		return costs.Names()
	}
	return nil
}

// options returns what engines need of c, which must be effective.
func (c Config) options() engine.Options {
	version := warmup.Version(c.Warmup)
	return engine.Options{
		BlockSize: c.BlockSize, MaxFeatures: c.MaxFeatures, Minibatch: c.Minibatch,
		Lambda: c.Lambda, Seed: c.Seed, Sampling: c.sampling(), Direction: c.Direction,
		Forest: c.Forest, ForestTrial: c.ForestTrial, ForestPairs: c.ForestPairs,
		ForestRegrow: c.ForestRegrow, ForestLasting: c.ForestLasting,
		Effort: c.effort(), Lean: c.Mixture, Discard: c.Discard,
		Frugal:         version >= warmup.Fifth,
		Plain:          version >= warmup.Sixth,
		Late:           version >= warmup.Eighth,
		LastingClasses: version >= warmup.Ninth,
		Early:          version >= warmup.Eleventh,
		Long:           version >= warmup.Twelfth,
		Sparing:        c.sparing() && (c.Effort == 0 || c.Effort == AutoEffort),
		Varying:        version >= warmup.Sixteenth,
		HeldOut:        version >= warmup.Nineteenth,
		Solved:         version >= warmup.Twentieth,
		Fitting:        version >= warmup.TwentyFirst,
		Steps:          engine.Steps(c.Steps),
	}
}

// loss returns the loss that c, which is effective, names, or nil for "auto".
func (c Config) loss() (loss.Loss, error) {
	if c.Task == Novelty {
		return loss.OneClass{Nu: c.Nu}, nil
	}
	return parseLoss(c.Loss)
}

// parseLoss returns the loss that s names, or nil for "auto".
func parseLoss(s string) (loss.Loss, error) {
	if s == "auto" {
		return nil, nil
	}
	return loss.Parse(s)
}
