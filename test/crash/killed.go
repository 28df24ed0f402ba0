package main

import (
	"context"
	"encoding/json"
	"fmt"
)

// killed is the result of a run that kills the learners of one model, and learns another one
// without kills.
type killed struct {
	Kills, WarmUp, Chunks, Unreleased, Recovering int

	Events     int     `json:"events"`
	Learned    int64   `json:"learned"` // examples, by the learner
	Error      float64 `json:"error"`   // progressive, of the last 10,000 examples
	Duplicates int     `json:"duplicates"`
	Differing  int     `json:"differing"`
	Verified   int     `json:"verified"`
	StateHash  string  `json:"state_hash"`
	Seconds    float64 `json:"seconds"`
}

// killToEnd kills learners until the stream is fed, and learns it to its end.
func (w *world) killToEnd(ctx context.Context) (out killed, err error) {
	w.log, w.answer = newModelLog(w.client, w.model("crash")), newPredictions(w.client, w.model("crash"))
	var s Summary
	if err := w.kill(ctx, &s); err != nil {
		return out, err
	}
	out = killed{Kills: s.Kills, WarmUp: s.WarmUp, Chunks: s.Chunks, Unreleased: s.Unreleased, Recovering: s.Recovering, Events: w.examples}
	if err := w.feed(ctx, w.examples); err != nil {
		return out, err
	}
	report, err := w.learnToEnd(ctx, "crash")
	if err != nil {
		return out, err
	}
	err = w.classifyEnd(ctx, &s)
	out.StateHash, out.Duplicates, out.Differing = s.StateHash, s.Duplicates, s.Differing
	out.Learned, out.Error = report.Examples, report.Progressive
	return out, err
}

// report is what a learner prints at the end of the stream.
type report struct {
	Examples    int64
	Progressive float64
	StateHash   string `json:"state_hash"`
}

// learnToEnd learns the stream to its end.
func (w *world) learnToEnd(ctx context.Context, model string) (r report, err error) {
	line, err := w.accrete(ctx, "learn", "-c", w.config(model), "--to-end", "--json")
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(line, &r)
}

// compareWithCalm verifies the history of the model that was killed, compares it with that of one that
// was not, and returns what is wrong.
func (w *world) compareWithCalm(ctx context.Context, out *killed) (faults []error, err error) {
	v, fault := w.verify(ctx, out.StateHash)
	out.Verified = v.Verified
	faults = append(faults, fault)
	calm, err := w.learnToEnd(ctx, "calm")
	if err != nil {
		return faults, err
	}
	if calm.StateHash != out.StateHash {
		faults = append(faults, fmt.Errorf("the model that was killed ends with state %s, another one with %s", out.StateHash, calm.StateHash))
	}
	if out.Differing > 0 {
		faults = append(faults, fmt.Errorf("%d repeated predictions differ from the first", out.Differing))
	}
	return faults, nil
}
