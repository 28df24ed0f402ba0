package modellog

import (
	"slices"

	"github.com/accrete-ml/accrete/snapshot"
)

// Claim returns the current claim. Its Epoch is 0 if there is none. Its Host is unknown if the fold
// began after the claim.
func (f *Fold) Claim() Claim { return f.get().claim }

// Signs reports whether the writer of the current claim signs its records. Without a key, this is
// what the records say.
func (f *Fold) Signs() bool { return len(f.get().claim.Signature) > 0 }

// Seq and Chain return the seq and the chain of the last decision that counts.
func (f *Fold) Seq() int64 { return f.get().seq }

func (f *Fold) Chain() snapshot.Hash { return f.get().chain }

// ChainAt returns the chain as of a seq. ok is false if the fold does not know it
// or no longer remembers it.
func (f *Fold) ChainAt(seq int64) (snapshot.Hash, bool) {
	p, ok := f.get().find(seq)
	return p.chain, ok
}

// Released returns the seq up to which predictions are known to be published. It is from a RELEASED
// or from a MANIFEST, which may be written only after the predictions are published.
func (f *Fold) Released() int64 { return f.get().released }

// Paused returns the PAUSE in effect, nil if there is none. No snapshot has a later seq than the
// PAUSE, so that a fold that begins at any snapshot knows of the PAUSE.
func (f *Fold) Paused() *Pause { return f.get().paused }

// Resumed returns the seq of the last PAUSE that a RESUME ended. It is 0 if there
// was none, or none that is relevant after the oldest snapshot remembered.
func (f *Fold) Resumed() int64 { return f.get().resumed }

// Config returns the configuration in effect. It is empty if there is none.
func (f *Fold) Config() Config { return f.get().config }

// Snapshots returns the complete snapshots that the fold remembers, newest first.
func (f *Fold) Snapshots() []Stored {
	kept := slices.Clone(f.get().kept)
	slices.Reverse(kept)
	return kept
}

// Trim returns the offset below which the log may be deleted without losing the snapshots that the
// fold remembers or the served one. It is 0 while there are fewer snapshots than the fold should
// remember.
func (f *Fold) Trim() int64 {
	if l := f.get(); len(l.kept) >= l.keep {
		return min(l.base.start.Offset, l.needed())
	}
	return 0
}

// Genesis returns the beginning of the log and the versions in effect.
func (f *Fold) Genesis() Origin { return f.get().origin }

// Arithmetic and Decoder return the versions in effect.
func (f *Fold) Arithmetic() int { return f.get().origin.Arithmetic }

func (f *Fold) Decoder() int { return f.get().origin.Decoder }

// VersionsAt returns the versions in effect as of a seq. ok is false if the fold does not know the
// seq or no longer remembers it. A writer that is about to roll back to seq names these versions in
// its CLAIM.
func (f *Fold) VersionsAt(seq int64) (Versions, bool) {
	p, ok := f.get().find(seq)
	return p.origin.Versions, ok
}

// PartitionsOf returns the number of partitions of a topic that the learner has last stated to
// read; 0 if the fold does not know.
func (f *Fold) PartitionsOf(topic string) int32 { return f.get().partitions[topic] }

func (f *Fold) get() *ledger {
	if f.ledger == nil {
		return newLedger(f.keep)
	}
	return f.ledger
}
