package model_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/model"
)

func TestDifferencesAreOptionsOfAConfiguration(t *testing.T) {
	base := func(change func(*model.Config)) model.Config {
		c := model.Config{Learner: learner.Config{Task: learner.Classification}, Decode: decode.Config{Label: "y", Task: learner.Classification, Infer: true, Missing: "impute"}}
		if change != nil {
			change(&c)
		}
		return c
	}
	for _, test := range []struct {
		have, want func(*model.Config)
		text       string
	}{
		{nil, func(c *model.Config) { c.Decode.ByTime, c.Decode.Time = true, "at" },
			`input.order is arrival for this model, but is configured as time; input.time is nothing for this model, but is configured as "at"`},
		{nil, func(c *model.Config) { c.Learner.Mixture = true }, "learner.mixture is off for this model, but is configured as on"},
		{func(c *model.Config) { c.Learner.Mixture = true }, nil, "learner.mixture is on for this model, but is configured as off"},
		{func(c *model.Config) {
			c.Learner.Mixture, c.Learner.Forest, c.Learner.ForestTrial, c.Learner.ForestPairs, c.Learner.ForestLasting = true, 100, true, true, true
		}, func(c *model.Config) { c.Learner.Mixture = true }, "learner.forest is auto for this model, but is configured as 0"},
		{nil, func(c *model.Config) { c.Decode.Adopt, c.Decode.Renames = true, true }, "input.on_change is continue or stop for this model, but is configured as adopt"},
		{nil, func(c *model.Config) { c.Learner.BlockSize = 128 }, "learner.block_size is 64 for this model, but is configured as 128"},
		{nil, func(c *model.Config) { c.Learner.MaxClasses, c.Decode.MaxClasses = 9, 9 }, "input.max_classes is 256 for this model, but is configured as 9"},
	} {
		have, err := base(test.have).Options()
		if err != nil {
			t.Fatal(err)
		}
		want, err := base(test.want).Options()
		if err != nil {
			t.Fatal(err)
		}
		if got := model.Differences(have, want); got != test.text {
			t.Errorf("%s\nwant %s", got, test.text)
		}
	}
}

// Every member of the options in a model log that a configuration determines has the name of an
// option there.
func TestOptionsOfTheLogHaveNamesInAConfiguration(t *testing.T) {
	c, err := config.Load(config.Sources{Set: []string{"model=m", "kafka.bootstrap.servers=localhost:1", "input.topics=a", "input.label=y"}})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"input.labels": true, "learner.warmup": true, "input.max_bytes": true, "input.max_columns": true, "input.max_abs": true}
	for _, v := range c.Values() {
		known[v.Key] = true
	}
	var check func(section string, of reflect.Type)
	check = func(section string, of reflect.Type) {
		for f := range of.NumField() {
			field := of.Field(f)
			if field.Anonymous {
				check(section, field.Type)
				continue
			}
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name := model.OptionName(section + key); key != "-" && !known[name] {
				t.Errorf("%s%s: there is no option %s", section, key, name)
			}
		}
	}
	check("learner.", reflect.TypeFor[learner.Config]())
	check("input.", reflect.TypeFor[decode.Config]())
}

// A schema that the model log could not hold is refused before anything is written.
func TestASchemaThatIsTooLongIsRefused(t *testing.T) {
	var c model.Config
	c.Decode.Format = "avro"
	c.Decode.Reader = strings.Repeat(" ", 200<<10)
	if _, err := c.Options(); err != nil {
		t.Error(err)
	}
	c.Decode.Reader = strings.Repeat(" ", 300<<10)
	if _, err := c.Options(); err == nil || !strings.Contains(err.Error(), "input.schema") {
		t.Errorf("%v, want an error that names input.schema", err)
	}
}
