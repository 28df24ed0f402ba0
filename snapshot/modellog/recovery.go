package modellog

import "github.com/accrete-ml/accrete/snapshot"

// Stored is a complete snapshot in the log.
type Stored struct {
	Manifest *Manifest `json:"manifest"`
	Offset   int64     `json:"offset"` // of the MANIFEST
	Chunks   []int64   `json:"chunks"` // offsets of the CHUNKs, in order
}

// Entry is a CONFIG or a decision that counts.
type Entry struct {
	Offset int64
	Record Record // *Config, *Batch, *Gap, *Rollback, *Adopt or *Upgrade
	origin Origin // origin in effect after the entry

	columns *AbsentColumns // absent columns after the entry
}

// Recovery describes the state from which a learner continues.
type Recovery struct {
	Snapshot *Stored       // nil: from the empty state
	Seq      int64         // of Snapshot, or where the log's seqs start
	Chain    snapshot.Hash // as of Seq
	Versions Versions      // in effect before Entries
	Config   Config        // in effect before Entries
	Entries  []Entry       // decisions and CONFIGs of the log after Seq, in order
	Released int64         // seq up to which predictions are published; later ones have to be published again
}

// Recover returns how to continue from the newest snapshot. If that snapshot is damaged, back
// selects an older one: the one that number of places before it. Before the oldest snapshot comes
// the empty state, if the fold has read the log from its beginning. ok is false if the log does not
// reach back that far; the caller must then stop.
func (f *Fold) Recover(back int) (r Recovery, ok bool) {
	if f.ledger == nil || back > len(f.kept) {
		return r, false
	}
	r.Released = f.released
	at, from := f.base, int64(0)
	if i := len(f.kept) - 1 - back; i >= 0 {
		s := f.kept[i]
		r.Snapshot = &s
		r.Config = Config{Owner: s.Manifest.Start.Owner, Hash: s.Manifest.ConfigHash, Config: s.Manifest.Config}
		at, _ = f.find(s.Manifest.Seq)
		from = s.Manifest.Start.Offset
	} else if at.start.Offset > 0 || at.chain != (snapshot.Hash{}) {
		return Recovery{}, false
	}
	r.Seq, r.Chain, r.Versions = at.seq, at.chain, at.origin.Versions
	for _, e := range f.entries {
		if e.Offset >= from {
			r.Entries = append(r.Entries, e)
		}
	}
	return r, true
}

// Oldest returns how to continue from the earliest state that the log still leads to: the empty
// state or, if the beginning of the log is gone, the oldest snapshot. ok is false if the log has
// neither.
func (f *Fold) Oldest() (r Recovery, ok bool) {
	n := len(f.Snapshots())
	if r, ok = f.Recover(n); !ok && n > 0 {
		r, ok = f.Recover(n - 1)
	}
	return r, ok
}
