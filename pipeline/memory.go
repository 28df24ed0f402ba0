package pipeline

import "github.com/accrete-ml/accrete/refit"

// A learner's memory is bounded by what is under way. Where it is at its limit
// something waits: the fetchers for the BATCH before, the decider for the
// learner, the learner for the publisher, and the publisher for the broker.
//
//	limit = 64 MiB + 2 × (5 × snapshot + frequencies + factors + 14 × BATCH + partitions × fetch + read + refit)
//
// where
//
//	snapshot     bytes of the largest snapshot so far: the model as it learns, as it
//	             serves, its copy, the file made of that, and what a step needs
//	frequencies  max_features × (inputs + 1) × 4 bytes
//	factors      max_features × the bytes that the algorithm needs for each (learner.Algorithms)
//	BATCH        bytes of the largest one so far: its records, which end at 8 MiB,
//	             their rows and their predictions. One is collected, one decided, one
//	             learned, and of the rest the predictions wait or are being written
//	fetch        1 MiB, the answer of a broker for a partition as it comes
//	read         32 MiB, the records of all partitions that are read ahead, decompressed:
//	             one budget for all. A batch that is larger goes alone, up to 64 MiB, and
//	             counts here from then on
//	refit        with refit.every: window × (8 × max_features + 256) bytes, the features
//	             of the records, and as many records twice; and 8 × p² of the normal
//	             equations where p = 2 × max_features + 1 is at most 2,100
//	2            what Go's collector lets garbage grow to
//	64 MiB       the program, its stacks and its connections
//
// The program also tells Go's collector of the limit, so that it works harder
// near it, unless GOMEMLIMIT is set.
type memory struct {
	partitions, features, dim int64
	factors, refit            int64
	read                      int64

	snapshot, batch int64
}

const (
	memoryBase    = 64 << 20
	memoryBatches = 3 + 2*waitingReleases + 3 // what is being written may be as much as waits
	memoryFetch   = 1 << 20
	memoryRead    = 32 << 20
)

func (m *memory) limit() int64 {
	return memoryBase + 2*(5*m.snapshot+m.features*(m.dim+1)*4+m.factors+memoryBatches*m.batch+m.partitions*memoryFetch+m.read+m.refit)
}

// reads takes in how many partitions are read, and the most memory that was ever
// held by what was, and says whether the limit is another now.
func (m *memory) reads(partitions int, most int64) bool {
	if int64(partitions) == m.partitions && most <= m.read {
		return false
	}
	m.partitions, m.read = int64(partitions), max(m.read, most)
	return true
}

// sees takes in a BATCH with what it gave, and says whether the limit is another
// now.
func (m *memory) sees(b *decided, out *release) bool {
	bytes := int64(b.batch.Len()) * int64(8*b.batch.Dim()+64)
	if b.batch.Len() > 0 {
		y := b.batch.Label(0)
		bytes += int64(b.batch.Len()) * int64(8*len(y.More))
	}
	for i := range b.items {
		bytes += int64(weight(b.items[i].record)) + 64
	}
	for _, rs := range [][]outgoing{out.predictions, out.quarantined} {
		for i := range rs {
			bytes += int64(weight(&rs[i].record))
		}
	}
	dim := int64(b.batch.Dim())
	if bytes <= m.batch && dim <= m.dim {
		return false
	}
	m.batch, m.dim = max(m.batch, bytes+bytes/8), max(m.dim, dim) // not again for each that is a little larger
	return true
}

// bytes is what a refit takes: the features of its records, their rows, and the
// records that these are read from; and the normal equations, if there are any.
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
