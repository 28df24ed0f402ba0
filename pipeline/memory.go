package pipeline

import (
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/refit"
)

// memory computes the memory limit of a learner, which follows from bounded queues
// with back-pressure: the fetchers wait for the decider, the decider for the learner,
// the learner for the publisher, and the publisher for the broker.
//
//	limit = 64 MiB + 2 × (5 × snapshot + frequencies + factors + 14 × BATCH + partitions × fetch + read + refit)
//
// where
//
//	snapshot     bytes of the largest snapshot so far, five times: the learning model, the
//	             serving model, the copy, its encoding, and what a step needs
//	frequencies  max_features × (inputs + 1) × 4 bytes
//	factors      max_features × the bytes that the algorithm needs for each (learner.Algorithms)
//	BATCH        bytes of the largest BATCH so far: its records, at most about 8 MiB, their
//	             rows and their predictions. One is collected, one is decided and one is
//	             learned; the predictions of the others are queued or being written
//	fetch        1 MiB, the response of a broker for a partition
//	read         32 MiB, one budget for the decompressed records of all partitions that are
//	             read ahead. A larger batch, up to 64 MiB, is read alone and raises this
//	             value
//	refit        with refit.every: window × (8 × max_features + 256) bytes for the features,
//	             rows and records, and 8 × p² bytes for the normal equations if
//	             p = 2 × max_features + 1 is at most 2,100
//	2            the growth of the heap before Go's garbage collector runs
//	64 MiB       the program, its stacks and its connections
//
// The program also sets the limit as Go's memory limit, near which the garbage
// collector runs more often, unless GOMEMLIMIT is set.
type memory struct {
	partitions, features, dim int64
	factors, refit            int64
	read                      int64

	snapshot, batch int64
}

const (
	memoryBase    = 64 << 20
	memoryBatches = 3 + 2*waitingReleases + 3 // a combined release may be as large as a full queue
	memoryFetch   = 1 << 20
	memoryRead    = 32 << 20
)

func (m *memory) limit() int64 {
	return memoryBase + 2*(5*m.snapshot+m.features*(m.dim+1)*4+m.factors+memoryBatches*m.batch+m.partitions*memoryFetch+m.read+m.refit)
}

// reads updates the number of partitions and the maximum of the bytes held by records
// that are read ahead. It reports whether the limit has changed.
func (m *memory) reads(partitions int, most int64) bool {
	if int64(partitions) == m.partitions && most <= m.read {
		return false
	}
	m.partitions, m.read = int64(partitions), max(m.read, most)
	return true
}

// sees updates the size of the largest BATCH, with its release, and reports whether
// the limit has changed.
func (m *memory) sees(b *decided, out *release) bool {
	bytes := int64(b.batch.Len()) * int64(8*b.batch.Dim()+64)
	if b.batch.Len() > 0 {
		y := b.batch.Label(0)
		bytes += int64(b.batch.Len()) * int64(8*len(y.More))
	}
	for i := range b.items {
		bytes += int64(input.MemoryOf(b.items[i].record)) + 64
	}
	for _, rs := range [][]outgoing{out.predictions, out.quarantined} {
		for i := range rs {
			bytes += int64(input.MemoryOf(&rs[i].record))
		}
	}
	dim := int64(b.batch.Dim())
	if bytes <= m.batch && dim <= m.dim {
		return false
	}
	m.batch, m.dim = max(m.batch, bytes+bytes/8), max(m.dim, dim) // with a margin, so that the limit seldom changes
	return true
}

// bytes returns the memory that a refit takes: the features of its records, their
// rows, the records themselves, and the normal equations if they are used.
func (c RefitConfig) bytes(features int) int64 {
	if c.Every <= 0 {
		return 0
	}
	n := int64(c.Window) * (8*int64(features) + 256)
	if p := int64(2*features + 1); p <= refit.MaxDirect {
		n += 8 * p * p
	}
	return n
}
