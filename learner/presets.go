package learner

import (
	"fmt"
	"slices"
)

// Preset is a name for several options of a Config.
type Preset struct {
	Name, Help string
	Config     Config // the options that it sets; the others have their zero value
}

// Presets returns the settings of the papers. What the papers leave open is that of the
// rules: the first step size, which needs no tuning, and θ = 1/λ. They have no maximum
// number of features, so that of the presets is that of a long pass. The width of the
// kernel is that of the warm-up, where the papers take the median distance.
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

// Check returns an error if an algorithm that was chosen is not that of p, whose options
// are for its own.
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

// use sets an option with its default, or its zero value, to that of a preset, which may
// not have one.
func use[T comparable](option *T, preset, otherwise T) {
	var zero T
	if preset != zero && (*option == zero || *option == otherwise) {
		*option = preset
	}
}
