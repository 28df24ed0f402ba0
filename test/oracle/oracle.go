// Package oracle is the second truth about a pipeline: a reader of one model's
// topics that is as simple as it can be made. It has one goroutine and no
// batches. It reads Kafka through another client, and shares no code with
// pipeline, serve, ingest, ingest/decode or snapshot/modellog: it parses the model
// log, the input, the predictions and the quarantine by itself, teaches a learner
// one row after the other, and says where the topics hold anything else than that
// comes to.
//
// It does not know which records of a log may be void. It has an account of each
// one instead: of a claim that another one has replaced, a copy of one that counts,
// byte for byte, or a part of the history in its place. All else is a fault.
package oracle

import (
	"fmt"

	"github.com/accrete-ml/accrete/snapshot"
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

// World is what the topics of a model hold.
type World struct {
	Model       string
	Log         []Record // all of it, from offset 0 on
	Inputs      map[Partition][]Record
	Predictions []Record
	Quarantine  []Record

	LogID   [16]byte                            // of the log's topic; zero if it is not known
	IDs     map[string][16]byte                 // of the input topics; those that are not known are missing
	Earlier map[[16]byte]map[Partition][]Record // inputs that an ADOPT has left, by topic id
}

// Report is what an Oracle found.
type Report struct {
	Batches     int64 `json:"batches"`  // and all other entries of the history
	Consumed    int64 `json:"consumed"` // offsets that the BATCHes and GAPs cover
	Learned     int64 `json:"learned"`
	Predicted   int64 `json:"predicted"` // and not learned: they have no label
	Quarantined int64 `json:"quarantined"`
	Skipped     int64 `json:"skipped"` // offsets without a committed record
	Gap         int64 `json:"gap"`
	Void        int64 `json:"void"`       // records of the log that are accounted for and do not count
	Compared    int64 `json:"compared"`   // state hashes
	Duplicates  int64 `json:"duplicates"` // predictions and quarantined records written again
	Differing   int64 `json:"duplicates_differing"`
	Rollbacks   int64 `json:"rollbacks"`
	Abandoned   int64 `json:"abandoned"`   // predictions and quarantined records of BATCHes that a ROLLBACK has taken back
	Lost        int64 `json:"lost"`        // without a prediction, or not in quarantine
	Divergences int64 `json:"divergences"` // all other faults

	StateHash snapshot.Hash       `json:"state_hash"` // behind the last BATCH
	Next      map[Partition]int64 `json:"-"`          // first offset that no BATCH covers
	Faults    []string            `json:"faults,omitempty"`

	Decided   map[string]int64 `json:"-"` // by topic-partition-offset: seq of the BATCH
	BatchAt   map[int64]int64  `json:"-"` // by seq: offset in the log
	Manifests []Claimed        `json:"-"` // that say that predictions are released
}

// Claimed is the offset of a record in the log that says that everything up to
// Seq is released.
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

	file, rival file            // snapshot and challenger under way
	states      map[int64]state // behind the entries that a manifest names, by seq
	kept        map[int64]kept  // what a ROLLBACK goes back to, by seq

	want       map[answer]expected // live predictions
	gone       map[answer]expected // those of abandoned BATCHes
	quarantine map[string]Record   // bad records by id
}

// answer names a prediction: the record, and the BATCH that it was made in.
type answer struct {
	id  string
	seq int64
}

// expected is what a prediction has to be.
type expected struct {
	value map[string]any
	key   []byte
	time  int64
}

// Check reads everything in w.
func Check(w World) Report {
	o := &oracle{
		world: w, book: newBook(), states: map[int64]state{}, kept: map[int64]kept{},
		want: map[answer]expected{}, gone: map[answer]expected{}, quarantine: map[string]Record{},
	}
	o.Next, o.Decided, o.BatchAt = map[Partition]int64{}, map[string]int64{}, map[int64]int64{}
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
	next := int64(0)
	for _, r := range w.Log {
		if r.Offset != next {
			o.fault("the log has a hole: offset %d comes behind offset %d", r.Offset, next-1)
		}
		next = r.Offset + 1
		o.read(r)
	}
	for _, l := range o.loose {
		if l.orphan {
			o.fault("the %s %d at offset %d is of an epoch that nobody has claimed", l.typ, l.seq, l.offset)
			continue
		}
		o.fault("the %s %d at offset %d is under the claim in force, and has no place behind seq %d", l.typ, l.seq, l.offset, l.last)
	}
	if o.model.learner != nil {
		o.StateHash = o.model.hash()
	}
	o.predictions()
	o.quarantined()
	if o.Consumed != o.Learned+o.Predicted+o.Quarantined+o.Skipped+o.Gap {
		o.fault("%d offsets consumed, and %d learned + %d predicted + %d quarantined + %d skipped + %d lost", o.Consumed, o.Learned, o.Predicted, o.Quarantined, o.Skipped, o.Gap)
	}
	return o.Report
}
