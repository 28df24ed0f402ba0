package config

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/window"
	"github.com/accrete-ml/accrete/learner"
	"github.com/goccy/go-yaml/ast"
)

// Costs is none, f1, or a JSON object with the costs of wrong predictions.
type Costs string

// objects are the types whose values may be mappings, and what they want.
var objects = map[reflect.Type]string{
	reflect.TypeFor[Costs]():   "none, f1, or class: cost or class: {class: cost}",
	reflect.TypeFor[Balance](): "none, balanced, or class: share",
}

// object returns a mapping as a JSON object, with its plain values as they are written.
func object(n *ast.MappingNode) (text string, ok bool) {
	var b strings.Builder
	for i, entry := range n.Values {
		key, isPlain := entry.Key.(ast.ScalarNode)
		if !isPlain {
			return "", false
		}
		value, ok := scalar(entry.Value)
		if inner, nested := entry.Value.(*ast.MappingNode); nested {
			value, ok = object(inner)
		}
		if !ok {
			return "", false
		}
		name, err := json.Marshal(key.GetToken().Value)
		if err != nil {
			return "", false
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(append(append(name, ':'), value...))
	}
	return b.String() + "}", b.Len() > 0
}

// Balance is none, balanced, or a JSON object with the shares of classes.
type Balance string

// ParseHalfLife returns the seconds of a half-life in Go's notation, or in days or weeks; 0 is
// none.
func ParseHalfLife(text string) (seconds float64, err error) {
	if text == "" || text == "0s" || text == "0" {
		return 0, nil
	}
	if seconds, err = window.Seconds(text); err == nil {
		_, err = learner.Config{HalfLife: seconds}.Effective()
	}
	return seconds, err
}

// weighing reports what is wrong with how much examples count.
func (v *validation) weighing() {
	l := &v.Learner
	halfLife, err := ParseHalfLife(l.HalfLife)
	switch {
	case err != nil:
		v.add("learner.half_life", "%s", strings.TrimPrefix(err.Error(), "half_life "))
	case halfLife > 0 && v.Refit.Every > 0:
		v.add("refit.every", "cannot be combined with learner.half_life: a refit reads records again, whose ages when they were learned are gone")
	case halfLife == 0 && v.Input.Time != "":
		v.add("input.time", "is for learner.half_life, which is not set")
	case v.Input.Time != "" && v.Input.Labels.TTL > 0:
		v.add("input.time", "cannot be combined with input.labels.ttl: with late labels, times are those of input.labels.time")
	case v.Input.Time != "" && v.Input.Sparse > 0:
		v.add("input.time", "cannot be combined with input.sparse, which has no columns to take it from: leave it out for the timestamp of the record")
	}
	if l.Balance == "none" || l.Balance == "" {
		return
	}
	switch task, err := learner.ParseTask(l.Task); {
	case err != nil:
	case task == learner.Novelty:
		v.add("learner.balance", "%s needs labels, which task novelty does not have", l.Balance)
	case task == learner.Regression || len(v.Input.Label) > 1 || l.Intervals != 0 || l.Variance == "on":
		v.add("learner.balance", "%s thins the rows of frequent classes: it is for classification, not for regression", l.Balance)
	}
}
