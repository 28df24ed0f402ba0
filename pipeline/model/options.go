package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/divergence"
	"github.com/accrete-ml/accrete/snapshot"
)

// ErrOptions means that the configured options differ from those of the model in the log.
var ErrOptions = errors.New("options differ from the model's")

// Options encodes the options that are fixed for the life of a model, for the model log.
func (c Config) Options() ([]byte, error) {
	b, err := record.Options(c.Learner, c.Decode)
	if err != nil {
		return nil, err
	}
	if want := c.Learner.Above(); c.Decode.Above != want {
		return nil, fmt.Errorf("the input is bounded by %v, but the kernel requires %v", c.Decode.Above, want)
	}
	if n := max(1, c.Learner.Targets); n != c.Decode.Targets() {
		return nil, fmt.Errorf("the input has %d labels, but the learner has %d targets", c.Decode.Targets(), n)
	}
	if c.Refit.Every > 0 && c.Learner.Memory > 0 {
		return nil, errors.New("refits and a model that grows by memory exclude each other: a refit needs memory for each feature and record of its window")
	}
	if c.Decode.Adopt && (c.Refit.Every > 0 || c.Learner.Task == learner.Novelty || c.Learner.Metric != nil) {
		return nil, errors.New("input.on_change: adopt excludes refits, metrics and task novelty")
	}
	if err := snapshot.CheckConfig(b); err != nil {
		return nil, fmt.Errorf("the options of a model include the text of input.schema, which is too long: %w bytes: remove its comments and the fields that are not needed", err)
	}
	return b, nil
}

// KeepReading changes c so that an existing model reads records as it has since it was created, and
// returns the encoded options of c after that. have are the options in its model log.
//
// A model may be older than an option, or an option may have been chosen for it:
//
//   - Created before columns had types: its columns are numeric, and missing values are rejected.
//   - Created before objects and lists became columns by path: it rejects them.
//   - Created before the n-grams of a text had statistics: they have none.
//   - Created before times could have zones such as UTC or +0100: it does not read these.
//   - Created before the loss poisson refused negative labels: it learns them as 0.
//   - Created before renamed columns were recognised: it does not recognise them.
//   - Created before inputs were monitored: it has no monitor, unless a monitor other than the
//     default is configured.
//   - Mixture, normal scores and forest are those of the model, unless they are configured.
//   - The version of the warm-up, and whether members are discarded, are always those of the model.
//   - The effort of a model with sparse inputs may stay the default, see learner.Config.KeepEffort.
func (c *Config) KeepReading(have []byte) ([]byte, error) {
	if len(have) == 0 {
		return c.Options()
	}
	was, err := record.ReadOptions(have)
	if err != nil {
		return c.Options()
	}
	if l, err := record.ReadLearner(have); err == nil {
		if l.Monitor == 0 && c.Learner.Monitor == divergence.BlockRows {
			c.Learner.Monitor = 0
		}
		c.keepChoices(l)
	}
	c.Decode.Depth, c.Decode.Renames, c.Decode.Grams, c.Decode.Zones = was.Depth, was.Renames, was.Grams, was.Zones
	c.Decode.Counts = was.Counts
	if late := c.Decode.Late; late != nil && was.Late != nil {
		kept := *late
		kept.Zones, c.Decode.Late = was.Late.Zones, &kept
	}
	if c.Decode.Infer && c.Decode.Types == nil && !was.Infer && was.Types == nil {
		c.Decode.Infer = false
		if c.Decode.Missing == "impute" {
			c.Decode.Missing = was.Missing
		}
	}
	options, err := c.Options()
	if err != nil {
		return nil, fmt.Errorf("%w, and exclude what it was created with: %w", ErrOptions, err)
	}
	return options, nil
}

// keepChoices copies to c the choices that were made for the model of l. It leaves mixture, forest
// and normal scores alone if they are configured.
func (c *Config) keepChoices(l learner.Config) {
	if c.AutoMixture {
		c.Learner.Mixture = l.Mixture
	}
	c.Learner.Warmup, c.Learner.Discard = l.Warmup, l.Discard
	c.Learner = c.Learner.KeepEffort(l)
	if c.AutoForest {
		c.Learner.Forest, c.Learner.ForestTrial, c.Learner.ForestPairs, c.Learner.ForestRegrow, c.Learner.ForestLasting = l.Forest, l.ForestTrial, l.ForestPairs, l.ForestRegrow, l.ForestLasting
	}
	if c.AutoScores {
		c.Learner.NormalScores = l.NormalScores
	}
}

// SameOptions returns an error that names the differences, if there are any.
func SameOptions(have, want []byte) error {
	if bytes.Equal(have, want) {
		return nil
	}
	return fmt.Errorf("%w: %s: these options are fixed for the life of a model: restore them, or start a new model under another name", ErrOptions, Differences(have, want))
}

// Differences describes the options in which have and want differ, for an error text.
func Differences(have, want []byte) string {
	a, b := flat(have), flat(want)
	named := map[string]bool{} // options with a line of their own
	var differ []string
	for k := range a {
		if a[k] != b[k] {
			differ = append(differ, k)
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			differ = append(differ, k)
		}
	}
	for _, k := range differ {
		if !options[k].derived {
			named[OptionName(k)] = true
		}
	}
	var out []string
	for _, k := range differ {
		o, name := options[k], OptionName(k)
		switch {
		case o.derived && named[name]:
			continue
		case o.derived:
			name = k
		}
		out = append(out, fmt.Sprintf("%s is %s for this model, but is configured as %s", name, o.value(a[k]), o.value(b[k])))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// flat flattens a JSON object of objects: it maps "outer.inner" to the JSON value. A forest on trial
// and the effort that the first rows decide are "auto", as in a configuration.
func flat(b []byte) map[string]string {
	out := map[string]string{}
	var outer map[string]map[string]json.RawMessage
	if err := json.Unmarshal(b, &outer); err != nil {
		return map[string]string{"options": string(b)}
	}
	for o, inner := range outer {
		for k, v := range inner {
			out[o+"."+k] = string(v)
		}
	}
	if out["learner.forest_trial"] == "true" {
		out["learner.forest"] = "auto"
	}
	if out["learner.effort"] == fmt.Sprint(learner.AutoEffort) {
		out["learner.effort"] = "auto"
	}
	return out
}
