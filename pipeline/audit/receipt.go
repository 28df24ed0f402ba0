package audit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/snapshot"
)

// ErrUnproved means that a prediction cannot be found or computed again.
var ErrUnproved = errors.New("the prediction cannot be proved")

// Receipt describes a prediction that a learner has published: which model made it, what that model
// had learned from, and the record that it predicted.
type Receipt struct {
	ID        string `json:"id"` // ce_id: topic-partition-offset of the record
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`

	// Equal reports whether the prediction computed again is the one published, in key, value,
	// headers and time. If record.Passed has been configured otherwise since, the parts that it
	// adds are not compared.
	Equal      bool            `json:"equal"`
	Prediction json.RawMessage `json:"prediction"`
	Again      json.RawMessage `json:"computed,omitempty"` // only if it is not equal
	Published  Place           `json:"published"`

	Model     string              `json:"model"`
	Seq       int64               `json:"seq"`  // of the BATCH that contains the record
	Step      int64               `json:"step"` // mini-batches that the model had learned
	Lineage   snapshot.Hash       `json:"lineage"`
	LearnedTo []snapshot.Position `json:"learned_to"` // first offset of each partition that the model had not learned

	Input Input `json:"input"`

	// Explanation is described at learner.Explanation. It is missing if the predictions of the
	// model cannot be explained.
	Explanation json.RawMessage `json:"explanation,omitempty"`
	// Explained is learner.MixtureInputs if Explanation explains the prediction that a scorer would
	// have made, because this one depends on labels as well.
	Explained string `json:"explained,omitempty"`

	FromSeq   int64         `json:"from_seq"`             // the replay began after this seq
	Snapshot  *snapshot.ID  `json:"snapshot,omitempty"`   // snapshot that the replay began with; nil: the empty state
	FromState snapshot.Hash `json:"from_state,omitempty"` // state hash of that snapshot
	Records   int64         `json:"records"`              // number of records replayed
}

// Place is a record in the predictions topic.
type Place struct {
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Offset    int64  `json:"offset"`
}

// Input is a record that was predicted, and the row that it was decoded to.
type Input struct {
	Time    time.Time         `json:"time"`
	Key     string            `json:"key,omitempty"`
	Value   string            `json:"value"`
	Headers map[string]string `json:"headers,omitempty"`
	Columns []InputColumn     `json:"columns"`
}

// InputColumn is a value of a row. Value is nil if it is missing, and for a category, a text, a pair
// or a window.
type InputColumn struct {
	Name    string   `json:"name"`
	Type    string   `json:"type,omitempty"` // type in input.columns; "" if all columns are numeric
	Value   *float64 `json:"value"`
	Missing bool     `json:"missing,omitempty"`

	ReadFrom string `json:"read_from,omitempty"` // field that the value is read from, if the record lacks the column
}

// explain adds the explanation of a prediction, if there is one. For a prediction that is mixed
// with labels, it explains the prediction that a scorer would have made.
func (r *Receipt) explain(h *history.History, p history.Predicted) {
	m, err := learner.NewModel(h.Learner.Serving())
	if err != nil {
		return
	}
	var b learner.Batch
	b.Reset(len(p.X))
	b.Append(p.X, learner.Label{}, 1)
	all, err := m.Explain(&b)
	if err != nil {
		return
	}
	r.Explanation = record.AppendExplanation(nil, all[0], p.Schema, p.Schema.Classes)
	if p.Pass.Mixture == learner.MixtureLabels {
		r.Explained = learner.MixtureInputs
	}
}

// String returns the receipt as text for people.
func (r *Receipt) String() string {
	var b strings.Builder
	what := "equal to the one published"
	if !r.Equal {
		what = "DIFFERENT from the one published"
	}
	fmt.Fprintf(&b, "%s: computed again from seq %d over %d records: %s\n", r.ID, r.FromSeq, r.Records, what)
	fmt.Fprintf(&b, "prediction   %s\n", r.Prediction)
	if r.Again != nil {
		fmt.Fprintf(&b, "computed     %s\n", r.Again)
	}
	fmt.Fprintf(&b, "published    %s/%d, offset %d\n", r.Published.Topic, r.Published.Partition, r.Published.Offset)
	fmt.Fprintf(&b, "model        %s, step %d, lineage %v, seq %d\n", r.Model, r.Step, r.Lineage, r.Seq)
	begin := "the beginning of the history"
	if r.Snapshot != nil {
		begin = fmt.Sprintf("snapshot %v, state %v", *r.Snapshot, r.FromState)
	}
	fmt.Fprintf(&b, "replayed     from %s\n", begin)
	for _, p := range r.LearnedTo {
		fmt.Fprintf(&b, "learned      %s/%d up to offset %d\n", p.Topic, p.Partition, p.Next)
	}
	if r.Explanation != nil {
		fmt.Fprintf(&b, "explanation  %s\n", r.Explanation)
	}
	if r.Explained != "" {
		b.WriteString("             of what a scorer would have predicted, without the last labels\n")
	}
	fmt.Fprintf(&b, "input        %s", cmp.Or(r.Input.Value, "null"))
	return b.String()
}
