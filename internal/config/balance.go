package config

import (
	"github.com/accrete-ml/accrete/ingest/decode/window"
	"github.com/accrete-ml/accrete/learner"
)

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
		v.add("learner.half_life", "%v", err)
	case halfLife > 0 && v.Refit.Every > 0:
		v.add("refit.every", "cannot be combined with learner.half_life: a refit reads records again, whose ages when they were learned are gone")
	case halfLife == 0 && v.Input.Time != "":
		v.add("input.time", "is for learner.half_life, which is not set")
	case v.Input.Time != "" && v.Input.Labels.TTL > 0:
		v.add("input.time", "cannot be combined with input.labels.ttl: with late labels, times are those of input.labels.time")
	case v.Input.Time != "" && v.Input.Sparse > 0:
		v.add("input.time", "cannot be combined with input.sparse, which has no columns to take it from: leave it out for the timestamp of the record")
	}
	if l.Balance == "none" {
		return
	}
	c := learner.Config{Balance: string(l.Balance), Loss: l.Loss, Algorithm: l.Algorithm, Targets: len(v.Input.Label)}
	switch c.Task, err = learner.ParseTask(l.Task); {
	case err != nil:
	case c.Task == learner.Novelty:
		v.add("learner.balance", "%s needs labels, which task novelty does not have", l.Balance)
	case c.Task == learner.Regression || len(v.Input.Label) > 1 || l.Intervals != 0 || l.Variance == "on":
		v.add("learner.balance", "%s thins the rows of frequent classes: it is for classification, not for regression", l.Balance)
	}
}
