// Package oracle is an independent implementation that checks a pipeline: it
// reads all topics of one model in the simplest possible way, with one goroutine
// and without batches. It uses another Kafka client, and shares no code with
// pipeline, serve, ingest, ingest/decode or snapshot/modellog. It parses the model
// log, the input, the predictions and the quarantine itself, trains a learner row
// by row, and reports where the contents of the topics differ from its own result.
//
// It does not use the pipeline's rules for void records. Instead it accounts for
// each record of the log as one of a replaced claim, a byte-for-byte copy of a
// valid record, or a part of the history in its place. Everything else is a fault.
package oracle

import (
	"fmt"

	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/oracle/keyed"
)

// Partition names one partition of an input topic.
type Partition struct {
	Topic string
	Index int32
}

// Record is one record of a topic. A nil key or value is null.
type Record struct {
	Offset  int64
	Time    int64 // milliseconds since 1970
	Key     []byte
	Value   []byte
	Headers []Header
}

// Header is one header of a Record.
type Header struct {
	Key   string
	Value []byte
}

// World is the contents of the topics of a model.
type World struct {
	Model       string
	Log         []Record // complete, from offset 0 on
	Inputs      map[Partition][]Record
	Predictions []Record
	Quarantine  []Record

	Written map[Partition][]Record // all records of tables' topics, if these were compacted

	Asked  map[Partition][]Record // records that scorers have scored, if the model has windows
	Scores []Record

	LogID   [16]byte                            // id of the log's topic; zero if unknown
	IDs     map[string][16]byte                 // ids of the input topics; unknown ones are missing
	Earlier map[[16]byte]map[Partition][]Record // inputs that an ADOPT has replaced, by topic id
}

// Report is the result of Check.
type Report struct {
	Batches     int64 `json:"batches"`  // BATCHes and all other entries of the history
	Consumed    int64 `json:"consumed"` // offsets covered by BATCHes and GAPs
	Learned     int64 `json:"learned"`
	Predicted   int64 `json:"predicted"` // predicted only: records without a label
	Quarantined int64 `json:"quarantined"`
	Skipped     int64 `json:"skipped"` // offsets without a committed record
	Gap         int64 `json:"gap"`
	Void        int64 `json:"void"`       // records of the log that are accounted for and void
	Compared    int64 `json:"compared"`   // state hashes compared
	Duplicates  int64 `json:"duplicates"` // repeated predictions and quarantined records
	Differing   int64 `json:"duplicates_differing"`
	Rollbacks   int64 `json:"rollbacks"`
	Abandoned   int64 `json:"abandoned"`   // predictions and quarantined records of BATCHes revoked by a ROLLBACK
	Lost        int64 `json:"lost"`        // records without a prediction, or not in quarantine
	Divergences int64 `json:"divergences"` // all other faults

	StateHash snapshot.Hash       `json:"state_hash"` // after the last BATCH
	Next      map[Partition]int64 `json:"-"`          // first offset that no BATCH covers
	Faults    []string            `json:"faults,omitempty"`

	// Scored are the predictions that a scorer has to publish, by topic-partition-offset of the
	// record, if it uses the model with which the learner has predicted the record.
	Scored map[string]map[string]any `json:"-"`

	Features int64        `json:"features"` // features of windows that were compared with their definition
	Windows  keyed.Counts `json:"windows"`  // what happened to the rows of windows
	Scores   int64        `json:"scores"`   // scores of a model with windows that were compared with those of the oracle

	Tables TableCounts `json:"tables"`

	Decided   map[string]int64 `json:"-"` // by topic-partition-offset: seq of the BATCH
	BatchAt   map[int64]int64  `json:"-"` // by seq: offset in the log
	Manifests []Claimed        `json:"-"` // records that declare predictions released
}

// Claimed is a record of the log that declares all predictions up to Seq released. Offset is its
// offset.
type Claimed struct{ Offset, Seq int64 }

const mostFaults = 20

func (r *Report) fault(format string, args ...any) {
	r.Divergences++
	r.note(format, args...)
}

func (r *Report) note(format string, args ...any) {
	if len(r.Faults) < mostFaults {
		r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
	}
}

type oracle struct {
	Report
	world World
	book
	model model

	file, rival file            // snapshot and challenger being assembled
	states      map[int64]state // states after the entries that a manifest names, by seq
	kept        map[int64]kept  // states that a ROLLBACK returns to, by seq

	want       map[answer]expected // expected predictions
	gone       map[answer]expected // expected predictions of abandoned BATCHes
	quarantine map[string]Record   // bad records by id
	scores     map[int64][]score   // by seq of the snapshot

	latest map[Partition]map[string]int64 // offset of the newest record of each key of a table
}

// answer identifies a prediction by the record and by the BATCH that contains it.
type answer struct {
	id  string
	seq int64
}

// expected is the expected content of a prediction.
type expected struct {
	value map[string]any
	key   []byte
	time  int64
}

// Check checks everything in w.
func Check(w World) Report {
	o := &oracle{
		world: w, book: newBook(), states: map[int64]state{}, kept: map[int64]kept{},
		want: map[answer]expected{}, gone: map[answer]expected{}, quarantine: map[string]Record{}, latest: map[Partition]map[string]int64{},
	}
	o.Next, o.Decided, o.BatchAt, o.Scored = map[Partition]int64{}, map[string]int64{}, map[int64]int64{}, map[string]map[string]any{}
	o.model.next = map[Partition]int64{}
	for _, r := range w.Log {
		if e, err := parse(r); err == nil {
			switch e.Type {
			case "manifest", "challenger":
				o.states[e.Seq] = state{}
			case "rollback":
				o.kept[e.ToSeq] = kept{}
			}
		}
	}
	o.sortScores()
	next := int64(0)
	for _, r := range w.Log {
		if r.Offset != next {
			o.fault("offsets are missing in the log: offset %d follows offset %d", r.Offset, next-1)
		}
		next = r.Offset + 1
		o.read(r)
	}
	o.unaccounted()
	if o.model.learner != nil {
		o.StateHash = o.model.hash()
	}
	if o.Features += o.model.features; o.model.fault != nil {
		o.fault("%v", o.model.fault)
	}
	if o.model.windows != nil {
		for _, t := range o.model.windows.tables {
			o.Windows = o.Windows.Plus(t.Counts)
		}
	}
	for _, t := range o.model.decoder.tables {
		o.Tables = o.Tables.Plus(t.counts)
	}
	for seq, all := range o.scores {
		o.fault("%d scores after BATCH %d, which no snapshot follows", len(all), seq)
	}
	o.predictions()
	o.quarantined()
	if o.Consumed != o.Learned+o.Predicted+o.Quarantined+o.Skipped+o.Gap {
		o.fault("%d offsets consumed, and %d learned + %d predicted + %d quarantined + %d skipped + %d lost", o.Consumed, o.Learned, o.Predicted, o.Quarantined, o.Skipped, o.Gap)
	}
	return o.Report
}
