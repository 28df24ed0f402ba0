package transfer

import "github.com/accrete-ml/accrete/snapshot/modellog"

// Offsets are the offsets of the records that make up complete snapshots and challengers.
type Offsets map[int64]bool

// Kept returns the offsets of the snapshots that a fold remembers, and of those challengers whose
// decision it remembers.
func Kept(f *modellog.Fold) Offsets {
	keep := Offsets{}
	for _, s := range f.Snapshots() {
		keep.add(s.Offset, s.Chunks)
	}
	for _, s := range f.Challengers() {
		if chain, ok := f.ChainAt(s.Challenger.Seq); ok && chain == s.Challenger.Chain {
			keep.add(s.Offset, s.Chunks)
		}
	}
	return keep
}

func (o Offsets) add(manifest int64, chunks []int64) {
	o[manifest] = true
	for _, c := range chunks {
		o[c] = true
	}
}

// Has reports whether a record that counts belongs to an export. Abandoned decisions do, because
// the chain of a ROLLBACK continues from them.
func (o Offsets) Has(v modellog.Verdict) bool {
	switch v.Record.(type) {
	case *modellog.Claim, *modellog.Genesis, *modellog.Imported:
		return false
	case *modellog.Chunk, *modellog.Manifest, *modellog.Challenger:
		return o[v.Offset]
	}
	return true
}
