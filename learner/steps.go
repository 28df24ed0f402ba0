package learner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/serving"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Steps holds the options of dsg, udsg and cdsg, some of which are also for the algorithm all. The
// zero value of each selects the default.
type Steps struct {
	StepSize    float64 `json:"step_size,omitempty"`    // γ₀: that of the first step. For precond a part of the Newton step: 0.5; otherwise one that needs no tuning
	Theta       float64 `json:"theta,omitempty"`        // θ: the step size tends to θ/t. For precond it is constant; otherwise 1/λ
	NewSteps    int     `json:"new_steps,omitempty"`    // G of udsg: steps in new blocks, before OldSteps: 1
	OldSteps    int     `json:"old_steps,omitempty"`    // U of udsg: steps in existing blocks: 1
	LongestStep float64 `json:"longest_step,omitempty"` // θ′ of cdsg: largest step size in an existing block, relative to a new one: 2
	Averaging   string  `json:"averaging,omitempty"`    // what serves: "auto" (default), "none", "polynomial" or "uniform", see Averages
	Memory      int64   `json:"memory,omitempty"`       // bytes that bound the random features instead of max_features, from 1 MiB on, see MostFeatures: 0 (none)
	AtCap       string  `json:"at_cap,omitempty"`       // at max_features: "revisit" (default for precond, udsg and cdsg), "all" (otherwise) or "stop"
}

// smallBlock is the size down to which default block sizes are halved if max_features is smaller
// than they are.
const smallBlock = 32

// leastPrecond is the number of rows of a mini-batch below which the covariance of a block
// is too noisy to precondition with.
const leastPrecond = 256

// suited returns c with the defaults that depend on the algorithm.
func (c Config) suited(a *engine.Algorithm) Config {
	d := a.Descent
	if d == nil {
		c.Direction = cmp.Or(c.Direction, descent.Directions[0])
		c.Lambda = cmp.Or(c.Lambda, 1e-6)
	} else {
		if c.Minibatch != 0 && c.Minibatch < leastPrecond {
			c.Direction = cmp.Or(c.Direction, descent.Directions[0])
		}
		c.Direction = cmp.Or(c.Direction, d.Direction)
		if !d.Penalised {
			c.Lambda = cmp.Or(c.Lambda, 1e-6)
		}
	}
	of := engine.Sizes{Minibatch: a.Minibatch, BlockSize: a.BlockSize}
	if d != nil {
		of = d.Sizes(c.Direction)
	}
	for of.BlockSize > max(smallBlock, c.MaxFeatures) {
		of.BlockSize /= 2
	}
	c.BlockSize = cmp.Or(c.BlockSize, of.BlockSize)
	c.Minibatch = cmp.Or(c.Minibatch, of.Minibatch)
	if c.AtCap == "auto" {
		c.AtCap = ""
	}
	if d != nil {
		o := d.Effective(c.stepOptions())
		c.Averaging, c.AtCap = o.Averaging, o.AtCap
	} else if c.Averaging == "auto" {
		c.Averaging = ""
	}
	return c
}

// stepOptions are the options that package descent fills in and checks.
func (c Config) stepOptions() engine.Options {
	return engine.Options{Direction: c.Direction, Steps: engine.Steps(c.Steps)}
}

// Averages returns what Config.Averaging can name, the default first.
func Averages() []string { return descent.Averages }

// Caps returns what Config.AtCap can name beside "auto".
func Caps() []string { return descent.Caps }

// Cap is the maximum number of random features of a model, and what happens there.
type Cap struct {
	MaxFeatures int    `json:"max_features"`     // in whole blocks; 0: as many as Memory allows, which the first fit decides
	Memory      int64  `json:"memory,omitempty"` // bytes that bound the features; 0: MaxFeatures is configured
	AtCap       string `json:"at_cap"`           // "revisit": steps in existing blocks, "all": in all at once, "stop": none, "fixed": the model has all features from the start
}

// Does describes what a model with its maximum of features does. It returns "" for the empty Cap.
func (c Cap) Does() string {
	return map[string]string{
		"revisit": "steps in existing blocks",
		"all":     "steps in all blocks",
		"stop":    "no more steps",
		"fixed":   "all features from the start",
	}[c.AtCap]
}

// Cap returns the Cap of the models of c. It is empty if c is invalid.
func (c Config) Cap() Cap {
	c, err := c.Effective()
	if err != nil {
		return Cap{}
	}
	a, err := parseAlgorithm(c.Algorithm)
	if err != nil {
		return Cap{}
	}
	o := c.options()
	of := Cap{MaxFeatures: o.MaxBlocks() * c.BlockSize, AtCap: "revisit"}
	switch {
	case a.FixedBlocks != nil:
		of = Cap{MaxFeatures: c.fixedFeatures(a), AtCap: "fixed"}
	case a.Descent != nil:
		of.AtCap = a.Descent.AtCap(o)
	}
	if of.Memory = c.Memory; of.Memory > 0 {
		of.MaxFeatures = 0
	}
	return of
}

// fixedFeatures returns the number of random features that a model has from the start, and
// 0 if it grows.
func (c Config) fixedFeatures(a *engine.Algorithm) int {
	if a.FixedBlocks == nil {
		return 0
	}
	return a.FixedBlocks(c.options()) * c.BlockSize
}

// CapOf returns the Cap of the model of c with these serving arrays.
func (c Config) CapOf(arrays []Array) (Cap, error) {
	of := c.Cap()
	s := &state.Reader{In: arrays}
	v := serving.Load(s)
	if err := s.End(); err != nil || of.Memory == 0 || v.Fit == nil {
		return of, err
	}
	of.MaxFeatures = max(v.Blocks*v.BlockSize, c.MostFeatures(v.Fit.Width(v.Dim), v.Head.Scores()))
	return of, nil
}

// MostFeatures returns the maximum number of random features of a model of c, which must be valid,
// with that many inputs of a row, as the model sees it, and that many scores. With Memory, a random
// feature takes
//
//	2 × (5 × 2 × scores × 20 + bytes of its frequency + 4)
//
// bytes: a cosine and a sine have 20 bytes for each score in a snapshot, 28 with the direction
// adagrad; a learner holds five times a snapshot, and the frequencies; and the 2 is the growth of
// the heap between collections.
func (c Config) MostFeatures(inputs, scores int) int {
	c, _ = c.Effective()
	return c.options().BlocksWithin(c.FrequencyBytes(inputs), scores) * c.BlockSize
}

// Preset is a name for several options of a Config.
type Preset struct {
	Name, Help string
	Config     Config // the options that it sets; the others have their zero value
}

// Presets returns the settings of the papers. What the papers leave open has the default of the
// algorithm: a first step size that needs no tuning, and θ = 1/λ. The papers have no maximum number
// of features; that of the presets is enough for a long pass. The warm-up chooses the scale of the
// kernel, for which the papers take the median distance.
func Presets() []Preset {
	paper := func(algorithm string, s Steps) Config {
		return Config{Algorithm: algorithm, Direction: "rate", BlockSize: 32, Minibatch: 64, MaxFeatures: 1 << 16, Lambda: 1e-6, Steps: s}
	}
	return []Preset{
		{"dsg-paper", "Dai et al. 2014, algorithm 1: steps along the gradient, each in a new block", paper("dsg", Steps{Averaging: "none", AtCap: "all"})},
		{"udsg-paper", "Li and Póczos 2016, algorithm 3: as many steps in existing blocks as in new ones", paper("udsg", Steps{Averaging: "none", NewSteps: 1, OldSteps: 1})},
		{"cdsg-paper", "Li and Póczos 2016, algorithm 4: steps in existing blocks where equation 9 admits them, at most twice as long", paper("cdsg", Steps{Averaging: "none", LongestStep: 2})},
	}
}

// PresetNames returns the names of Presets.
func PresetNames() (names []string) {
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// ParsePreset returns the Preset of a name.
func ParsePreset(name string) (Preset, error) {
	all := Presets()
	if i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Preset{}, fmt.Errorf("preset %q: want one of %v", name, PresetNames())
}

// Check returns an error if the algorithm that was chosen is not that of p, whose options suit no
// other.
func (p Preset) Check(algorithm string) error {
	if algorithm != p.Config.Algorithm {
		return fmt.Errorf("preset %s is for algorithm %s, not for %s", p.Name, p.Config.Algorithm, algorithm)
	}
	return nil
}

// Over returns c with the options of p in place of those that have their default.
func (p Preset) Over(c Config) Config {
	of := p.Config
	use(&c.Algorithm, of.Algorithm, algorithms[0].Name)
	use(&c.Direction, of.Direction, "auto")
	use(&c.BlockSize, of.BlockSize, 0)
	use(&c.Minibatch, of.Minibatch, 0)
	if c.Memory == 0 {
		use(&c.MaxFeatures, of.MaxFeatures, defaultMaxFeatures)
	}
	use(&c.Lambda, of.Lambda, 0)
	use(&c.NewSteps, of.NewSteps, 0)
	use(&c.OldSteps, of.OldSteps, 0)
	use(&c.LongestStep, of.LongestStep, 0)
	use(&c.Averaging, of.Averaging, "auto")
	use(&c.AtCap, of.AtCap, "auto")
	return c
}

// use sets an option that has its default or its zero value to that of a preset, unless the preset
// has none.
func use[T comparable](option *T, preset, otherwise T) {
	var zero T
	if preset != zero && (*option == zero || *option == otherwise) {
		*option = preset
	}
}
