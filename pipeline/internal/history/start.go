package history

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
)

// Prepare learns records of a file, before the history begins. If it returns an error, the record
// with index bad is not a row, and h must not be used any more.
func (h *History) Prepare(d *Decider, rs []ingest.Record) (bad int, err error) {
	decided := d.Decide([]input.Span{{In: new(input.Partition), To: int64(len(rs)), Records: rs}})
	for i, it := range decided.Items {
		if it.Err != nil {
			return i, it.Err
		}
	}
	h.Learner.Observe(&decided.Batch)
	h.learn(decided, func(int, *learner.Batch, *learner.PredictedBatch) func() { return nil }, func(steps int64) {
		h.step = h.adopted.former.Step + steps
	})
	h.Schema = decided.Schema
	return 0, nil
}

// Step returns the number of mini-batches learned.
func (h *History) Step() int64 { return h.step }

// Begin makes the current state of h the state before the first decision of another model, which
// reads its inputs from the given positions on. Rows that wait for a label and tables stay: a history
// that was rebuilt continues with them. The new lineage depends on the lineage so far and on chain.
func (h *History) Begin(name string, options []byte, seq int64, chain snapshot.Hash, at []snapshot.Position) {
	h.name, h.options, h.Seq, h.Chain = name, options, seq, chain
	b := bytes.Join([][]byte{[]byte("accrete start 1\x00"), h.rows[:], chain[:]}, nil)
	h.rows = sha256.Sum256(b)
	h.Lineage, h.encoder = h.rows, nil
	h.Reached, h.learnedTo = slices.Clone(at), nil
	for _, p := range at {
		h.learnedTo = append(h.learnedTo, snapshot.Position{Topic: p.Topic, Partition: p.Partition, Next: p.Next})
	}
}

// Clear drops what a snapshot has of the inputs of its model: rows that wait for a label, and tables.
// What another model that begins with the snapshot file has of them is empty.
func (h *History) Clear(options []byte) { h.join, h.tables = newJoin(options), newTables(options) }
