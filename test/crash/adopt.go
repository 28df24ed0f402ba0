package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/internal/synth"
)

// adoptSummary is the result of a run with columns that are adopted.
type adoptSummary struct {
	Kills, WarmUp, Chunks, Unreleased, Recovering int

	Events     int     `json:"events"`
	Learned    int64   `json:"learned"` // examples, by the learner
	Adopted    int     `json:"adopted"` // times that the model log says so
	Columns    int     `json:"columns"` // of the model in the end, of which adopted ones have taken over
	Error      float64 `json:"error"`   // progressive, of the last 10,000 examples
	Duplicates int     `json:"duplicates"`
	Differing  int     `json:"differing"`
	Verified   int     `json:"verified"`
	StateHash  string  `json:"state_hash"`
	Seconds    float64 `json:"seconds"`
}

// adoptions is how often the columns of the stream are adopted: one appears, one is renamed,
// and one gets another type.
const adoptions = 3

// decisive returns one of the two inputs on which the class depends at first. They alone are
// ever beyond .75, and each says nothing without the other.
func decisive(s synth.Stream) int {
	x := make([]float64, synth.Dim)
	for i := int64(0); ; i++ {
		s.At(i, x)
		if j := slices.IndexFunc(x, func(v float64) bool { return math.Abs(v) > .75 }); j >= 0 {
			return j
		}
	}
}

// deployed returns example i of n of a producer that changes its columns: x0 appears after a
// fifth, x1 is called renamed after two, x2 is text after three, and x3 vanishes after four.
func deployed(x []float64, label string, i, n int) []byte {
	v := []byte(`{"features":{`)
	for j, f := range x {
		switch {
		case j == 0 && i < n/5, j == 3 && i >= 4*n/5:
		case j == 1 && i >= 2*n/5:
			v = fmt.Appendf(v, `"renamed":%.5g,`, f)
		case j == 2 && i >= 3*n/5:
			v = fmt.Appendf(v, `"x2":"level %v",`, math.Round(2*f))
		default:
			v = fmt.Appendf(v, `"x%d":%.5g,`, j, f)
		}
	}
	return fmt.Appendf(v[:len(v)-1], `},"label":"%s"}`, label)
}

// killAdopting kills learners whose columns change, and checks that the columns are adopted at
// the same records as without the kills.
func (w *world) killAdopting(ctx context.Context) (out adoptSummary, err error) {
	start := time.Now()
	w.log, w.answer = newModelLog(w.client, w.model("crash")), newPredictions(w.client, w.model("crash"))
	var s Summary
	if err := w.kill(ctx, &s); err != nil {
		return out, err
	}
	out = adoptSummary{Kills: s.Kills, WarmUp: s.WarmUp, Chunks: s.Chunks, Unreleased: s.Unreleased, Recovering: s.Recovering, Events: w.examples}
	if err := w.feed(ctx, w.examples); err != nil {
		return out, err
	}
	report, err := w.learnLate(ctx, "crash")
	if err != nil {
		return out, err
	}
	if err := w.classifyEnd(ctx, &s); err != nil {
		return out, err
	}
	out.StateHash, out.Duplicates, out.Differing = s.StateHash, s.Duplicates, s.Differing
	out.Learned, out.Error = report.Examples, report.Progressive
	v, fault := w.verify(ctx, s.StateHash)
	out.Verified = v.Verified
	faults := []error{fault}
	calm, err := w.learnLate(ctx, "calm")
	if err != nil {
		return out, err
	}
	if calm.StateHash != s.StateHash {
		faults = append(faults, fmt.Errorf("the model that was killed ends with state %s, another one with %s", s.StateHash, calm.StateHash))
	}
	if out.Differing > 0 {
		faults = append(faults, fmt.Errorf("%d repeated predictions differ from the first", out.Differing))
	}
	if out.Learned != int64(w.examples) {
		faults = append(faults, fmt.Errorf("%d of %d examples were learned", out.Learned, w.examples))
	}
	log, _, err := w.output(ctx, "inspect", "-c", w.config("crash"))
	if err != nil {
		return out, err
	}
	if out.Adopted = strings.Count(string(log), "adopted from"); out.Adopted != adoptions {
		faults = append(faults, fmt.Errorf("columns were adopted %d times, want %d", out.Adopted, adoptions))
	}
	columns, _, err := w.output(ctx, "inspect", "-c", w.config("crash"), "--columns")
	if err != nil {
		return out, err
	}
	if out.Columns = strings.Count(string(columns), ": numeric\n") + strings.Count(string(columns), ": category\n"); out.Columns < synth.Dim {
		faults = append(faults, fmt.Errorf("the model has %d columns: no other one has taken over", out.Columns))
	}
	out.Seconds = time.Since(start).Seconds()
	return out, errors.Join(faults...)
}
