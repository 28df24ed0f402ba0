package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
)

// agree has a scorer predict the unlabelled records at the end of a stream of mixed
// records, which the learner has predicted with its final model. The values have to be the
// same bytes where lineage says that the models are the same.
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
	learner, scorer := map[string][]byte{}, map[string][]byte{}
	answers := newPredictions(w.client, w.model("crash"))
	answers.id = func(r *ingest.Record) string { learner[header(r, "ce_id")] = r.Value; return header(r, "ce_id") }
	if err := answers.catchUp(ctx); err != nil {
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
	scores := newPredictions(w.client, "")
	scores.topic = w.scores()
	scores.id = func(r *ingest.Record) string {
		if id, ok := ids[header(r, "ce_id")]; ok {
			scorer[id] = r.Value
		}
		return header(r, "ce_id")
	}
	if err := scores.catchUp(ctx); err != nil {
		return err
	}
	return s.alike(learner, scorer)
}

// alike compares the predictions of the learner with those of the scorer, by record.
func (s *Summary) alike(learner, scorer map[string][]byte) error {
	lineage := func(b []byte) string {
		var by struct{ Lineage string }
		json.Unmarshal(b, &by)
		return by.Lineage
	}
	var first error
	for id, score := range scorer {
		if p := learner[id]; lineage(p) == lineage(score) {
			if s.Alike++; !bytes.Equal(p, score) {
				s.Divergences++
				first = fmt.Errorf("the learner predicts %s, a scorer with the same model %s", p, score)
			}
		}
	}
	if s.Alike < mixedTail/2 {
		return fmt.Errorf("of %d records, %d were scored with the model of the learner's prediction: too few to show anything", len(scorer), s.Alike)
	}
	return first
}
