package oracle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/accrete-ml/accrete/snapshot"
)

// file is a snapshot that arrives in chunks.
type file struct {
	id     string
	chunks [][]byte
	count  int
}

// add takes in a chunk if it is the next one, or the first of another snapshot
// behind one that is complete.
func (f *file) add(e entry) bool {
	if e.index == 0 && (f.id == "" || len(f.chunks) == f.count) {
		*f = file{id: e.Snapshot, count: e.Chunks}
	}
	if e.Snapshot != f.id || e.index != len(f.chunks) || e.Chunks != f.count || e.index >= f.count {
		return false
	}
	f.chunks = append(f.chunks, e.data)
	return true
}

// complete compares the file with what its manifest names, and forgets it.
func (f *file) complete(e entry) bool {
	whole := bytes.Join(f.chunks, nil)
	sum := sha256.Sum256(whole)
	ok := e.Snapshot == f.id && len(f.chunks) == e.Chunks && int64(len(whole)) == e.Size &&
		hex.EncodeToString(sum[:]) == e.SHA256 && hex.EncodeToString(sum[:16]) == e.Snapshot
	if ok {
		*f = file{}
	}
	return ok
}

// state is what a manifest says of the model.
type state struct{ hash, lineage snapshot.Hash }

// stands reports whether a snapshot stands behind an entry of the history as it is.
func (o *oracle) stands(e entry) bool {
	at, ok := o.points[e.Seq]
	return ok && e.Chain == at.chain && e.Start.Offset == at.offset && e.Start.Epoch == at.epoch &&
		(e.Start.Nonce == at.nonce || at.nonce == "")
}

// manifest checks a snapshot: its file and its state. It stands behind an entry
// that was read before.
func (o *oracle) manifest(e entry) bool {
	if !o.stands(e) || !o.file.complete(e) {
		return false
	}
	o.Manifests = append(o.Manifests, Claimed{e.offset, e.Seq})
	o.Compared++
	if got := o.states[e.Seq]; got.hash.String() != e.StateHash || got.lineage.String() != e.Lineage {
		o.fault("seq %d: the manifest says state %.16s, lineage %.16s; it is %.16v, %.16v", e.Seq, e.StateHash, e.Lineage, got.hash, got.lineage)
	}
	return true
}

// challenger checks the file of one, and that it is of the history. What it holds
// is for verify.
func (o *oracle) challenger(e entry) bool {
	if !o.stands(e) || !o.rival.complete(e) {
		return false
	}
	if got := o.states[e.Seq]; got.lineage.String() != e.Lineage {
		o.fault("seq %d: the challenger says lineage %.16s; it is %.16v", e.Seq, e.Lineage, got.lineage)
	}
	return true
}
