package history

import (
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// Publication is the output of a BATCH: a prediction for every row, and every record that is not a
// row, which goes to quarantine together with the reason.
type Publication struct {
	Seq         int64
	Chain       [32]byte // of the BATCH
	Predictions []Outgoing
	Quarantined []Outgoing
}

// Outgoing is a record for an output topic.
type Outgoing struct {
	Partition int32 // of the input
	Record    ingest.Record
}

// Limits holds the maximum size in bytes of a record batch of each output topic. It also holds the
// options, apart from the model, that the bytes of predictions and quarantined records depend on.
type Limits struct {
	Predictions, Quarantine int
	Passed                  record.Passed // what predictions copy from their inputs
	Values                  record.Values // how much of invalid records is shown
}

var defaultLimits = Limits{Predictions: ingest.DefaultMaxMessageBytes, Quarantine: ingest.DefaultMaxMessageBytes}

// And combines two publications; next is the later one.
func (out *Publication) And(next *Publication) *Publication {
	return &Publication{
		Seq: next.Seq, Chain: next.Chain,
		Predictions: append(out.Predictions, next.Predictions...),
		Quarantined: append(out.Quarantined, next.Quarantined...),
	}
}

// Predicted is a prediction and what it was made from.
type Predicted struct {
	Topic     string
	Partition int32
	Record    *ingest.Record
	X         []float64 // the row
	Label     learner.Label
	Loss      float64
	Graded    bool // Loss is set
	Weight    float64
	Schema    *decode.Schema // schema of X, as of the BATCH
	Pass      *learner.PredictedBatch
	Row       int // index of the row in Pass
	Published *ingest.Record
}

// LearnedTo returns the positions that the current model has learned from.
func (h *History) LearnedTo() []snapshot.Position { return h.learnedTo }

// Name returns the name of the model.
func (h *History) Name() string { return h.name }
