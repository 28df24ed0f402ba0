package main

import (
	"context"
	"strings"

	"github.com/accrete-ml/accrete/test/oracle"
)

// ask runs the oracle on everything that a model has written.
func (w *world) ask(ctx context.Context, name string) (oracle.Report, error) {
	topics := []string{w.topic}
	if w.tables {
		topics = append(topics, w.customers())
	}
	in, err := oracle.Load(ctx, strings.Split(w.brokers, ","), w.model(name), topics...)
	if err != nil {
		return oracle.Report{}, err
	}
	if err := w.written(&in); err != nil {
		return oracle.Report{}, err
	}
	for i := range in.Predictions {
		r := &in.Predictions[i]
		if r.Value, err = w.asJSON(ctx, w.model(name)+".predictions", r.Header("content-type"), r.Value); err != nil {
			return oracle.Report{}, err
		}
	}
	if w.options.windows && name == "crash" && w.scorers > 0 {
		if err := in.LoadScores(ctx, strings.Split(w.brokers, ","), w.scores(), w.toScore); err != nil {
			return oracle.Report{}, err
		}
		for i := range in.Scores {
			r := &in.Scores[i]
			if r.Value, err = w.asJSON(ctx, w.scores(), r.Header("content-type"), r.Value); err != nil {
				return oracle.Report{}, err
			}
		}
	}
	return oracle.Check(in), nil
}

// judge adds the oracle's result to the summary.
func (w *world) judge(what string, r oracle.Report, s *Summary) {
	s.Divergences += int(r.Divergences)
	s.Lost += int(r.Lost)
	s.Differing += int(r.Differing)
	for _, f := range r.Faults {
		w.options.log("%s: %s", what, f)
	}
}
