package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
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

// agree has a scorer predict the unlabelled records at the end of a stream of mixed
// records, which the learner has predicted with its final model. Where lineage says that the
// models are the same, each number has to be, to the bit, what the learner of the oracle says
// that a scorer predicts: with a mixture that is not what the learner predicts.
func (w *world) agree(ctx context.Context, s *Summary) error {
	if !w.mixed {
		return nil
	}
	var rs []ingest.Record
	for i := w.examples - mixedTail; i < w.examples; i++ {
		rs = append(rs, ingest.Record{Time: w.began + int64(i), Key: strconv.AppendInt(nil, int64(i), 10), Value: w.values[i]})
	}
	if err := w.client.Producer().Publish(ctx, w.toScore, 0, rs); err != nil {
		return err
	}
	if _, err := w.accrete(ctx, "score", "-c", w.config("crash"), "--to-end"); err != nil {
		return err
	}
	_, end, err := w.client.Offsets(ctx, w.toScore)
	if err != nil {
		return err
	}
	ids := map[string]string{}
	for k := range mixedTail { // the last ones of the partition
		i := w.examples - mixedTail + k
		ids[fmt.Sprintf("%s-0-%d", w.toScore, end[0]-mixedTail+int64(k))] = w.id(i)
	}
	scorer := map[string][]byte{}
	scores := newPredictions(w.client, "")
	scores.topic = w.scores()
	scores.id = func(r *ingest.Record) string {
		if id, ok := ids[header(r, "ce_id")]; ok {
			value, bad := w.asJSON(ctx, w.scores(), header(r, "content-type"), r.Value)
			scorer[id], err = value, cmp.Or(err, bad)
		}
		return header(r, "ce_id")
	}
	if err := cmp.Or(scores.catchUp(ctx), err); err != nil {
		return err
	}
	return s.alike(w.scored, scorer)
}

// alike compares the predictions of the scorer with those that the oracle wants, by record.
func (s *Summary) alike(want map[string]map[string]any, scorer map[string][]byte) error {
	var first error
	for id, score := range scorer {
		var got map[string]any
		if err := json.Unmarshal(score, &got); err != nil {
			return fmt.Errorf("a scorer has published %s: %w", score, err)
		}
		if want := want[id]; want["lineage"] == got["lineage"] {
			if s.Alike++; !reflect.DeepEqual(got, want) {
				s.Divergences++
				first = fmt.Errorf("a scorer predicts %s, and the model that it names %v", score, want)
			}
		}
	}
	if s.Alike < mixedTail/2 {
		return fmt.Errorf("of %d records, %d were scored with the model of the learner's prediction: too few to show anything", len(scorer), s.Alike)
	}
	return first
}
