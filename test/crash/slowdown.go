package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Slowdown compares the time of a learner that refits with that of one that
// does not. They learn the same topic, in alternating order, and reach the same
// state.
type Slowdown struct {
	Examples  int       `json:"examples"` // examples per run
	Features  int       `json:"features"`
	Every     float64   `json:"refit_every_seconds"` // or as soon as the previous refit has finished
	Without   []timed   `json:"without"`
	With      []timed   `json:"with"`
	Ratios    []float64 `json:"ratios"` // time with refits over time without, for each pair
	Ratio     float64   `json:"ratio"`  // median of the ratios
	StateHash string    `json:"state_hash"`
}

// timed is one run over the topic.
type timed struct {
	Seconds    float64 `json:"seconds"`    // since the first BATCH
	Processors float64 `json:"processors"` // average number used over the life of the process
	Refits     int     `json:"refits"`     // number of challengers in the log
	hash       string
}

// slowdown feeds the topic and has it learned with and without refits. The two
// alternate in going first.
func (w *world) slowdown(ctx context.Context) (s Slowdown, err error) {
	if w.refit == 0 {
		w.refit = time.Second
	}
	s.Examples, s.Features, s.Every = w.examples, 2048, w.refit.Seconds()
	if err := w.feed(ctx, w.examples); err != nil {
		return s, err
	}
	for pair := range w.pairs {
		for turn := range 2 {
			every, to := w.refit, &s.With
			if (pair+turn)%2 == 0 {
				every, to = 0, &s.Without
			}
			run, err := w.timed(ctx, fmt.Sprintf("%d-%d", pair, turn), s.Features, every)
			if err != nil {
				return s, err
			}
			if s.StateHash == "" {
				s.StateHash = run.hash
			}
			if run.hash != s.StateHash {
				return s, fmt.Errorf("one run came to the state %s, and another to %s", s.StateHash, run.hash)
			}
			*to = append(*to, run)
		}
		with, without := s.With[pair], s.Without[pair]
		w.options.log("pair %d: %.2f s with %d refits, %.2f s without", pair+1, with.Seconds, with.Refits, without.Seconds)
		if with.Refits == 0 {
			return s, errors.New("no refit came to its end: it takes more --examples")
		}
		s.Ratios = append(s.Ratios, with.Seconds/without.Seconds)
		s.Ratio = median(s.Ratios)
	}
	return s, nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// timed learns the whole topic as a separate model. Snapshots are rare, so that
// the comparison is of learning.
func (w *world) timed(ctx context.Context, name string, features int, every time.Duration) (t timed, err error) {
	path, model := filepath.Join(w.dir, name+".yaml"), w.model(name)
	text := fmt.Sprintf(`model: %s
kafka: {bootstrap.servers: "%s"}
input: {topics: [%s], label: label}
learner: {algorithm: newton, max_features: %d, mixture: off}
snapshot: {every: 1m}
refit: {every: %v}
http: {listen: "off"}
`, model, w.brokers, w.topic, features, every)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return t, err
	}
	began := time.Now()
	out, ended, err := w.command(ctx, "learn", "-c", path, "--to-end", "--json")
	if err != nil {
		return t, err
	}
	t.Processors = (ended.UserTime() + ended.SystemTime()).Seconds() / time.Since(began).Seconds()
	var r struct {
		Examples  int     `json:"examples"`
		Seconds   float64 `json:"seconds"`
		StateHash string  `json:"state_hash"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return t, err
	}
	if r.Examples != w.examples {
		return t, fmt.Errorf("%d examples of %d were learned", r.Examples, w.examples)
	}
	log := newModelLog(w.client, model)
	if err := log.catchUp(ctx, w.client, model+".log"); err != nil {
		return t, err
	}
	t.Seconds, t.Refits, t.hash = r.Seconds, log.refits, r.StateHash
	return t, nil
}
