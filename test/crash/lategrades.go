package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// checkGrades joins the topics on its own, and compares the number of examples and the share
// of wrong predictions with the learner's.
func (w *world) checkGrades(ctx context.Context, out *lateSummary) error {
	published, err := w.publishedClasses(ctx)
	if err != nil {
		return err
	}
	var grades []bool // of the examples with a prediction, whether it is wrong
	examples := 0
	grade := func(event int, label string) {
		if examples++; published[event] != "" {
			grades = append(grades, published[event] != label)
		}
	}
	w.joinSlowly(out, grade)
	var faults []error
	for i, class := range published {
		if class == "" && i > w.examples/10 {
			faults = append(faults, fmt.Errorf("event %d has no prediction", i))
			break
		}
	}
	last := grades[len(grades)-min(len(grades), 10_000+len(grades)%100):]
	wrong := 0
	for _, is := range last {
		if is {
			wrong++
		}
	}
	out.Wrong = float64(wrong) / float64(len(last))
	if out.Learned != int64(examples) {
		faults = append(faults, fmt.Errorf("%d examples were learned, want %d: %d labels and %d time-outs", out.Learned, examples, out.Matched, out.TimedOut))
	}
	if math.Abs(out.Error-out.Wrong) > 1e-9 {
		faults = append(faults, fmt.Errorf("the learner has graded an error of %v, its predictions in the topic have %v", out.Error, out.Wrong))
	}
	return errors.Join(faults...)
}

// joinSlowly calls grade with each example in the order in which it becomes complete: the
// first label of an event within its time, or that for none.
func (w *world) joinSlowly(out *lateSummary, grade func(event int, label string)) {
	const waiting, complete, over = 1, 2, 3
	ttl, grace := lateTTL.Milliseconds(), lateGrace.Milliseconds()
	state := make([]int, w.examples)
	held := map[int]outcome{} // labels before their features
	clock, oldest := int64(math.MinInt64), 0
	advance := func(to int64, seen int) { // features come by time, so they expire in their order
		for clock = max(clock, to); oldest < seen && w.eventTime(oldest)+ttl+grace < clock; oldest++ {
			if state[oldest] == waiting {
				state[oldest] = over
				out.TimedOut++
				grade(oldest, lateTimeout)
			}
		}
	}
	next := 0
	for _, y := range append(slices.Clone(w.joins.labels), outcome{event: -1, at: math.MaxInt64}) {
		for ; next < w.examples && w.eventTime(next) <= y.at; next++ {
			advance(w.eventTime(next), next)
			state[next] = waiting
			if early, ok := held[next]; ok {
				state[next] = complete
				out.Matched++
				grade(next, early.label)
			}
		}
		if y.event < 0 {
			break
		}
		advance(y.at, next)
		switch at := w.eventTime(y.event); {
		case y.event >= next:
			if _, ok := held[y.event]; !ok {
				held[y.event] = y
			}
		case state[y.event] == waiting && y.at <= at+ttl:
			state[y.event] = complete
			out.Matched++
			grade(y.event, y.label)
		}
	}
}

// publishedClasses returns the class that was published for each event, empty for none.
func (w *world) publishedClasses(ctx context.Context) ([]string, error) {
	out := make([]string, w.examples)
	topic := w.model("crash") + ".predictions"
	first, end, err := w.client.Offsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	for p := range end {
		f := w.client.Fetcher(topic, p)
		for at := first[p]; at < end[p]; {
			got, err := f.Poll(ctx, at)
			if err != nil {
				return nil, err
			}
			for i := range got.Records {
				r := &got.Records[i]
				rest, ok := strings.CutPrefix(header(r, "ce_id"), w.topic+"-")
				partition, offset, _ := strings.Cut(rest, "-")
				k, bad := strconv.Atoi(partition)
				n, worse := strconv.Atoi(offset)
				var v struct{ Prediction *string }
				if err := json.Unmarshal(r.Value, &v); !ok || bad != nil || worse != nil || err != nil {
					return nil, fmt.Errorf("%s: a prediction of nothing: %q", topic, r.Value)
				}
				if v.Prediction != nil {
					out[n*w.partitions+k] = *v.Prediction
				}
			}
			at = got.Next
		}
	}
	return out, nil
}
