package page

import "github.com/accrete-ml/accrete/learner"

// Status is the state of a process in numbers, as /status returns it.
type Status struct {
	Model   string   `json:"model"`
	Version string   `json:"version"`
	Role    string   `json:"role"`
	Ready   bool     `json:"ready"`
	Reasons []string `json:"reasons"`

	Examples    int64    `json:"examples"` // labelled examples since the model was created
	Records     int64    `json:"records"`  // in this run: learned, predicted only, quarantined, or scored
	PerSecond   float64  `json:"records_per_second"`
	Lag         int64    `json:"lag"`
	Task        string   `json:"task,omitempty"`
	Error       *float64 `json:"error"`  // over the last 10,000 examples, or the share of records flagged; null before the second example
	Linear      *float64 `json:"linear"` // likewise; null for novelty
	Step        int64    `json:"step"`
	Features    int      `json:"features"`
	Drifts      int64    `json:"drifts"`
	Quarantined int64    `json:"quarantined"`
	Memory      int64    `json:"memory_bytes"`
	Snapshot    *float64 `json:"snapshot_age_seconds"` // null before the first
	Hash        string   `json:"state_hash,omitempty"` // of the newest snapshot

	Errors []float64 `json:"errors"` // at most 60 values of the error, from the first example to the last
}

// mostErrors bounds Status.Errors.
const mostErrors = 60

// Status returns the state of the board. memory is that of the process in bytes.
func (b *Board) Status(info Info, memory int64) Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, c := b.progress, b.counts
	states, ready := info.Health.States()
	s := Status{
		Model: info.Model, Version: info.Version, Role: b.title(), Ready: ready, Reasons: []string{},
		Examples: p.Examples, Records: c.learned + c.predicted + c.quarantined, PerSecond: b.rate(), Lag: b.lag(!b.learner),
		Step: p.Step, Features: p.Features, Drifts: p.Drifts.ADWIN + p.Drifts.PageHinkley, Quarantined: c.quarantined, Memory: memory, Errors: []float64{},
	}
	if b.learner {
		s.Task = p.Task.String()
	} else {
		s.Records, s.Step, s.Quarantined = c.scored, b.model.step, c.scorerQuarantined
	}
	for _, state := range states {
		if !state.Ready {
			s.Reasons = append(s.Reasons, state.Name+": "+state.Reason)
		}
	}
	if r := p.Recent; r.Rows > 0 {
		s.Error = &r.Model.Error
		if p.Task != learner.Novelty {
			s.Linear = &r.Linear.Error
		}
	}
	if n := len(b.snapshots.values); n > 0 {
		newest := b.snapshots.values[n-1]
		s.Hash = newest.hash
		if !newest.at.IsZero() {
			age := b.now().Sub(newest.at).Seconds()
			s.Snapshot = &age
		}
	}
	n := len(b.line.Points)
	for i := range min(n, mostErrors) {
		s.Errors = append(s.Errors, float64(b.line.Points[(n-1)*i/max(1, min(n, mostErrors)-1)].Model))
	}
	return s
}
