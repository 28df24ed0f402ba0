package history

import "github.com/accrete-ml/accrete/ingest"

// Publication is the output of a BATCH: a prediction for every row, and every other
// record, which goes to quarantine, with the reason why it is not a row.
type Publication struct {
	Seq         int64
	Chain       [32]byte // of the BATCH
	Predictions []Outgoing
	Quarantined []Outgoing
}

type Outgoing struct {
	Partition int32 // of the input
	Record    ingest.Record
}

// Limits holds the maximum size in bytes of a record batch of each output topic.
type Limits struct{ Predictions, Quarantine int }

var defaultLimits = Limits{ingest.DefaultMaxMessageBytes, ingest.DefaultMaxMessageBytes}

// And combines two releases; next is the later one.
func (out *Publication) And(next *Publication) *Publication {
	return &Publication{
		Seq: next.Seq, Chain: next.Chain,
		Predictions: append(out.Predictions, next.Predictions...),
		Quarantined: append(out.Quarantined, next.Quarantined...),
	}
}
