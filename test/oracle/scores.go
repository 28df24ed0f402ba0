package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/learner"
)

// scoresAfter checks the scores that were made with the snapshot after seq. It compares them with
// those of the learner's model at that place, and the window features of their rows with the
// definition.
func (o *oracle) scoresAfter(seq int64) {
	all := o.scores[seq]
	if delete(o.scores, seq); len(all) == 0 {
		return
	}
	m := o.model
	model, err := learner.NewModel(m.learner.State().Serving)
	if err != nil {
		o.fault("seq %d: no scorer can read the model: %v", seq, err)
		return
	}
	m.decoder.schema.Classes = slices.Clone(m.decoder.schema.Classes)
	m.decoder.types = maps.Clone(m.decoder.types)
	for _, s := range all {
		decoder := m.decoder
		row, ok := decoder.decode(s.of)
		var got map[string]any
		if !ok || json.Unmarshal(s.Value, &got) != nil {
			o.fault("%s was scored as %s", s.Header("ce_id"), s.Value)
			continue
		}
		var b learner.Batch
		b.Reset(len(row.x))
		b.Append(row.x, learner.Label{}, 1)
		b.SetTypes(row.types)
		b.SetWindows(&m.windows.layout)
		p := model.Predict(&b)
		n, fault := m.windows.compare(b.X(0), false)
		if o.Features += n; fault != nil {
			o.fault("the score of %s: %v", s.Header("ce_id"), fault)
		}
		if want := m.published(o.world.Model, &p); !reflect.DeepEqual(got, want) {
			o.fault("%s was scored as %s, want %v", s.Header("ce_id"), s.Value, want)
		}
		o.Scores++
	}
}

// score is a score, and the record that was scored.
type score struct {
	Record
	of Record
}

// sortScores groups the scores by the last BATCH in their windows.
func (o *oracle) sortScores() {
	asked := map[string]Record{}
	for p, rs := range o.world.Asked {
		for _, r := range rs {
			asked[fmt.Sprintf("%s-%d-%d", p.Topic, p.Index, r.Offset)] = r
		}
	}
	o.scores = map[int64][]score{}
	for _, r := range o.world.Scores {
		of, known := asked[r.Header("ce_id")]
		seq, err := strconv.ParseInt(r.Header("ce_sequence"), 10, 64)
		if !known || err != nil {
			o.fault("a score for %q after BATCH %q", r.Header("ce_id"), r.Header("ce_sequence"))
			continue
		}
		o.scores[seq] = append(o.scores[seq], score{r, of})
	}
}
