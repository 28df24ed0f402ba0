package config

import (
	"strconv"

	"github.com/accrete-ml/accrete/learner"
)

// usePreset sets the options of learner.preset that nothing else sets.
func (c *Config) usePreset() (problems Problems) {
	if c.Learner.Preset == "none" {
		return nil
	}
	p, err := learner.ParsePreset(c.Learner.Preset)
	if err != nil {
		return Problems{c.problem("learner.preset", err.Error())}
	}
	if c.sources["learner.algorithm"].Kind != "default" {
		if err := p.Check(c.Learner.Algorithm); err != nil {
			return Problems{c.problem("learner.preset", err.Error())}
		}
	}
	number := func(v float64) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	of := p.Config
	for _, v := range []struct{ path, text string }{
		{"learner.algorithm", of.Algorithm}, {"learner.direction", of.Direction},
		{"learner.block_size", number(float64(of.BlockSize))}, {"learner.minibatch", number(float64(of.Minibatch))},
		{"learner.max_features", number(float64(of.MaxFeatures))}, {"learner.lambda", number(of.Lambda)},
		{"learner.step.new", number(float64(of.NewSteps))}, {"learner.step.old", number(float64(of.OldSteps))},
		{"learner.step.longest", number(of.LongestStep)}, {"learner.step.averaging", of.Averaging}, {"learner.step.at_cap", of.AtCap},
	} {
		if v.text == "" || c.sources[v.path].Kind != "default" {
			continue
		}
		if err := known.byPath[v.path].set(c, v.text); err != nil {
			problems = append(problems, c.problem("learner.preset", err.Error()))
		}
		c.sources[v.path] = Source{"preset", p.Name}
	}
	return problems
}
