package config

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	late "github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/learner"
)

// Late returns the options of the join; nil if records come with their labels.
func (l *Labels) Late() *late.Config {
	if l.TTL == 0 {
		return nil
	}
	c := &late.Config{
		Topic: l.Topic, Key: l.Key, LabelKey: l.LabelKey, Label: l.Field, Time: l.Time, Zones: l.Time != "",
		TTL: time.Duration(l.TTL).Milliseconds(), Grace: time.Duration(l.Grace).Milliseconds(),
		Pending: l.Pending, Quarantine: l.Quarantine,
	}
	if l.OnTimeout != "drop" {
		c.Timeout = l.OnTimeout
	}
	return c
}

// LearnedTopics returns the topics that the learner reads: those of features, and that of
// labels.
func (i *Input) LearnedTopics() []string {
	if i.Labels.TTL == 0 || i.Labels.Topic == "" {
		return i.Topics
	}
	return append(slices.Clone(i.Topics), i.Labels.Topic)
}

// labels reports options that late labels exclude.
func (v *validation) labels() {
	l := &v.Input.Labels
	for _, kind := range l.Quarantine {
		if !slices.Contains(late.Rejectable, kind) {
			v.add("input.labels.quarantine", "%s is no kind of label: want late, duplicate or contradicting", quote(kind))
		}
	}
	c := l.Late()
	if c == nil {
		if l.Topic != "" {
			v.add("input.labels.ttl", "is not set: how long after its features does a label of %s count? For example 24h", l.Topic)
		}
		return
	}
	if c.TTL < 1 {
		v.add("input.labels.ttl", "is %v: want 1ms or more", l.TTL)
	}
	excluded := v.excludedBy("input.labels.ttl")
	switch {
	case v.Input.Order == "time":
		excluded("input.order", "records with late labels are learned in the order of their times anyway")
	case v.Input.Lags > 0:
		excluded("input.lags", "lags are those of the labels that are known when a record is predicted")
	case v.Refit.Every > 0:
		excluded("refit.every", "a refit reads its records again, with their labels")
	case v.Learner.Task == "novelty":
		excluded("learner.task", "novelty learns without labels")
	case slices.Contains(v.Input.Topics, l.Topic):
		v.add("input.labels.topic", "%s is one of input.topics: leave the option out if labels are in the topic of the features", l.Topic)
	case v.Input.Format != "json" && l.Topic == "":
		v.add("input.labels.topic", "is not set: labels in the topic of features need format json, not %s", v.Input.Format)
	case v.Input.Format != "json" && l.Time != "":
		v.add("input.labels.time", "%s needs format json, not %s", l.Time, v.Input.Format)
	}
	if len(v.Input.Label) > 1 && c.Timeout != "" {
		v.add("input.labels.on_timeout", "%s is one label, but input.label has %d fields: want drop", quote(c.Timeout), len(v.Input.Label))
	}
	if len(v.Input.Label) > 1 && l.Field != "" {
		v.add("input.labels.field", "%s is one field, but input.label has %d: leave the option out", quote(l.Field), len(v.Input.Label))
	}
	v.labelKeys()
	switch number, err := strconv.ParseFloat(c.Timeout, 64); {
	case err != nil && c.Timeout != "" && v.Learner.Task == "regression":
		v.add("input.labels.on_timeout", "is %s, but learner.task is regression: want a number or drop", quote(c.Timeout))
	case err == nil && number < 0 && (learner.Config{Loss: v.Learner.Loss}).Counts():
		v.add("input.labels.on_timeout", "is %s, but the loss poisson is for counts: want 0 or more, or drop", quote(c.Timeout))
	}
}

// labelKeys reports keys that no record of features and labels can have.
func (v *validation) labelKeys() {
	l := &v.Input.Labels
	for _, key := range []struct{ option, source string }{{"input.labels.key", l.Key}, {"input.labels.label_key", l.LabelKey}} {
		if name, ok := late.Header(key.source); ok && name == "" {
			v.add(key.option, "the header has no name: want header:NAME")
		}
		if path, ok := late.Field(key.source); ok && (path == l.Field || l.Field == "" && slices.Contains(v.Input.Label, path)) {
			v.add(key.option, "%s is the field of the label: want a field that tells to which features a label belongs", quote(path))
		}
	}
	if path, ok := late.Field(l.Key); ok && v.Input.Format != "json" {
		v.add("input.labels.key", "%s needs format json, not %s: use input.key, the key of the record or a header", fmt.Sprint(path), v.Input.Format)
	}
}
