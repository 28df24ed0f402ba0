// Package memory computes the memory limit of a learner.
package memory

import (
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/refit"
)

// Estimate computes the memory limit of a learner, which follows from bounded queues
// with back-pressure: the fetchers wait for the decider, the decider for the learner,
// the learner for the publisher, and the publisher for the broker.
//
//	limit = 64 MiB + 2 × (5 × snapshot + frequencies + factors + window + tables + 3 × BATCH + 11 × publication + read + refit + late + rows)
//
// where
//
//	snapshot     bytes of the largest snapshot so far, five times: the learning model, the
//	             serving model, the copy, its encoding, and what a step needs
//	frequencies  max_features, and 2,048 more for a mixture, × (inputs + 1) × 4 bytes. The
//	             inputs are those that the model sees: several for a column that is a category
//	             or a time. With learner.memory, the number of features that it allows a model
//	             of one score replaces max_features. With input.on_change: adopt, frequencies,
//	             factors and window count twice, for the second model
//	factors      max_features × the bytes that the algorithm needs for each (learner.Algorithms).
//	             For each tree of a forest, 16,000 bytes and two for each row of the window: its
//	             nodes, and the leaves of the rows. If trees grow again, 152,000 bytes and two for
//	             each row more; with lasting coefficients, 28,000 bytes more. With pairs of
//	             categories, 12 trees more, and max_features × 2,048 bytes
//	             (learner.Config.ForestBytes). 4.2 MB for learner.variance
//	window       numbers in the windows that the algorithm and a mixture have, beside those in
//	             the snapshot (learner.Config.WindowNumbers) × 4 bytes: a copy of the inputs, and
//	             the phases of rows with 256 inputs or more
//	tables       for each category with statistics and for each table of keys,
//	             32,768 × (56 + 8 × targets) bytes, where two classes are one target and there
//	             are at most 16; for each window of input.windows, keys × (104 + 32 × half-lives)
//	             bytes, and 512 more with distinct
//	BATCH        bytes of the largest BATCH so far: its records, at most about 8 MiB, and
//	             their rows. One is collected, one is decided and one is learned
//	publication  bytes of the predictions and quarantined records of a BATCH, the largest so
//	             far. They share no memory with the BATCH. One publication is made, four are
//	             queued, and the one being written may combine four, and has its encoding
//	read         one budget for the records of all partitions that are read ahead, by the
//	             learner and by a replay: 32 MiB of decompressed records. It is more if a
//	             larger batch, of up to 64 MiB, was read alone, or if brokers' responses,
//	             of 1 MiB for each partition, have waited for their turn while the budget
//	             was spent: then it is the largest sum so far
//	refit        with refit.every: window × (8 × max_features + 256) bytes for the features,
//	             rows and records, 8 × p² bytes for the normal equations if
//	             p = 2 × max_features + 1 is at most 2,100, and 32 MiB to read
//	late         with input.labels: the largest total so far of what waits. Features, a label or
//	             a remembered key take 400 bytes and the key; features also take 8 bytes for
//	             each of their values and of the values of their prediction
//	rows         with input.tables: the largest total so far of the rows of tables. Each takes
//	             160 bytes, its key and its values, twice: for the learner, and for the decider
//	             ahead of it
//	2            the growth of the heap before Go's garbage collector runs
//	64 MiB       the program, its stacks and its connections
//
// Unless GOMEMLIMIT is set, the program also sets the limit, less 46 MiB for its own file, as Go's
// memory limit, near which the garbage collector runs more often.
type Estimate struct {
	Model    learner.Config
	Features int64 // max_features
	Factors  int64 // bytes
	Learners int64 // number of models that have windows with a copy of the inputs
	Refit    int64 // bytes, see the function Refit; 0 without refits
	Snapshot int64 // bytes, of the largest so far
	Dim      int64 // inputs

	tables, read, batch, publication, late, rows int64
}

const (
	// Base is the memory of the program, its stacks and its connections, in bytes.
	Base = 64 << 20

	// Read is the budget for records that are read ahead, in bytes.
	Read = 32 << 20

	// Waiting is the number of publications that wait for the publisher. When there are
	// that many, the learner waits.
	Waiting = 4

	batches      = 3
	publications = 2*Waiting + 3 // a combined publication may be as large as a full queue
)

// Limit returns the limit in bytes.
func (m *Estimate) Limit() int64 {
	return Base + 2*(5*m.Snapshot+m.features()*m.frequency()+m.Factors+4*m.Learners*int64(m.Model.WindowNumbers(int(m.Dim)))+m.tables+batches*m.batch+publications*m.publication+max(Read, m.read)+m.Refit+m.late+m.rows)
}

// features returns the maximum number of random features.
func (m *Estimate) features() int64 {
	if m.Model.Memory > 0 {
		return int64(m.Model.MostFeatures(int(m.Dim), 1))
	}
	return m.Features
}

// frequency returns the memory of the frequency of a random feature, or of its parameters.
func (m *Estimate) frequency() int64 { return int64(4 + m.Model.FrequencyBytes(int(m.Dim))) }

// Reads updates the maximum of the bytes that are read ahead.
func (m *Estimate) Reads(most int64) {
	if most > Read {
		larger(&m.read, most)
	}
}

// Encodes updates the number of inputs that the model sees and the memory of its tables.
func (m *Estimate) Encodes(inputs int, tables int64) {
	m.Dim, m.tables = max(m.Dim, int64(inputs)), max(m.tables, tables)
}

// Waits updates the maximum of the bytes that wait to be joined.
func (m *Estimate) Waits(bytes int64) { larger(&m.late, bytes) }

// Enriches updates the bytes that tables take.
func (m *Estimate) Enriches(bytes int64) { larger(&m.rows, bytes) }

// Decides updates the size of the largest BATCH.
func (m *Estimate) Decides(b *history.Decided) {
	bytes := int64(b.Batch.Len()) * int64(8*b.Batch.Dim()+64)
	bytes += int64(b.Batch.Entries()) * 8
	if b.Batch.Len() > 0 {
		y := b.Batch.Label(0)
		bytes += int64(b.Batch.Len()) * int64(8*len(y.More))
	}
	for i := range b.Items {
		bytes += int64(input.MemoryOf(b.Items[i].Record)) + 64
	}
	larger(&m.batch, bytes)
	m.Dim = max(m.Dim, int64(b.Batch.Dim()))
}

// Publishes updates the size of the largest publication.
func (m *Estimate) Publishes(out *history.Publication) {
	published := int64(0)
	for _, rs := range [][]history.Outgoing{out.Predictions, out.Quarantined} {
		for i := range rs {
			published += int64(input.MemoryOf(&rs[i].Record))
		}
	}
	larger(&m.publication, published)
}

// larger raises *have to bytes if bytes is more, with a margin so that the limit seldom changes.
func larger(have *int64, bytes int64) {
	if bytes > *have {
		*have = bytes + bytes/8
	}
}

// Refit returns the memory that a refit takes on a window of records: what it reads ahead, the
// features of the records, their rows, the records themselves, and the normal equations if they are
// used.
func Refit(window, features int) int64 {
	n := Read + int64(window)*(8*int64(features)+256)
	if p := int64(2*features + 1); p <= refit.MaxDirect {
		n += 8 * p * p
	}
	return n
}
