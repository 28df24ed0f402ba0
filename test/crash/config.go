package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// features is the number of random features of the killed models. It is small
// so that there is time for many kills.
const features = 256

// config writes the configuration of a model of this run and returns its path.
// Snapshots are frequent and in small chunks so that kills interrupt them. With
// refits the model is one that can be solved equally often. All of them have the mixture that
// newton has by default.
func (w *world) config(model string) string {
	path := filepath.Join(w.dir, model+".yaml")
	text := fmt.Sprintf(`model: %s
kafka: {bootstrap.servers: "%s"}
input: {topics: [%s], label: label, batch: {size: 100, linger: 2ms}%s}
learner: {algorithm: %s, max_features: %d, mixture: on%s}
snapshot: {every: 200ms, chunk: %s}
refit: {every: %v, window: 500}
http: {listen: "%s"}
output: {delivery: %s%s}
score: {topics: [%s], http.listen: "off"}
`, w.model(model), w.brokers, w.topic, w.mixedInput()+w.lateInput()+w.windowsInput()+w.tablesInput()+map[bool]string{true: ", on_change: adopt"}[w.adopt]+map[bool]string{true: ", order: time"}[w.byTime], w.algorithm(), features, w.weighedLearner(), w.chunk, w.refit, w.listen(model), map[bool]string{false: "at-least-once", true: "transactional"}[w.exactly], w.formOutput(), w.toScore)
	if was, err := os.ReadFile(path); err == nil && string(was) == text { // a process may be reading it
		return path
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
	return path
}

// weighedShares are the proportions of the classes that are learned, and weighedHalfLife the
// half-life of their weights, for examples that are weighed.
const (
	weighedShares   = `{"a": 1, "b": 3}`
	weighedHalfLife = "1h"
)

// weighedLearner returns the options of the learner for examples that are weighed.
func (w *world) weighedLearner() string {
	if !w.weighed {
		return ""
	}
	return fmt.Sprintf(", balance: %s, half_life: %s", weighedShares, weighedHalfLife)
}

func (w *world) algorithm() string {
	if w.refit > 0 {
		return "all"
	}
	return "newton"
}

func (w *world) model(name string) string { return w.topic + "-" + name }
