package oracle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/accrete-ml/accrete/snapshot"
)

// file assembles a snapshot from chunks.
type file struct {
	id     string
	chunks [][]byte
	count  int
}

// add appends a chunk if it is the next one, or the first one of another
// snapshot after a complete one.
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

// complete compares the file with its manifest, and clears it.
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

// rewritten counts the chunks of a snapshot that are written again, in their order. A learner
// writes them again when a late copy of the first chunk of another snapshot has arrived among them,
// which voids the snapshot.
func (o *oracle) rewritten(e entry) {
	if e.Type != "chunk" && e.Type != "challenger chunk" {
		return
	}
	switch e.index {
	case 0:
		o.copies[e.Snapshot] = 1
	case o.copies[e.Snapshot]:
		o.copies[e.Snapshot]++
	}
}

// again reports whether all chunks of a snapshot were written again before its manifest.
func (o *oracle) again(e entry) bool {
	ok := e.Chunks > 0 && o.copies[e.Snapshot] == e.Chunks
	delete(o.copies, e.Snapshot)
	return ok
}

// state is the part of a manifest that describes the model.
type state struct{ hash, lineage snapshot.Hash }

// stands reports whether a snapshot is positioned after an entry of the current
// history.
func (o *oracle) stands(e entry) bool {
	at, ok := o.points[e.Seq]
	return ok && e.Chain == at.chain && e.Start.Offset == at.offset && e.Start.Epoch == at.epoch &&
		(e.Start.Nonce == at.nonce || at.nonce == "")
}

// manifest checks a snapshot: its file and its state. The entry of the history that the snapshot
// follows comes before it in the log.
func (o *oracle) manifest(e entry) bool {
	if !o.stands(e) || !o.file.complete(e) && !o.again(e) {
		return false
	}
	o.Manifests = append(o.Manifests, Claimed{e.offset, e.Seq})
	o.Compared++
	if got := o.states[e.Seq]; got.hash.String() != e.StateHash || got.lineage.String() != e.Lineage {
		o.fault("seq %d: the manifest says state %.16s, lineage %.16s; it is %.16v, %.16v", e.Seq, e.StateHash, e.Lineage, got.hash, got.lineage)
	}
	return true
}

// challenger checks the file of a challenger, and that it belongs to the
// history. verify checks its contents.
func (o *oracle) challenger(e entry) bool {
	if !o.stands(e) || !o.rival.complete(e) && !o.again(e) {
		return false
	}
	if got := o.states[e.Seq]; got.lineage.String() != e.Lineage {
		o.fault("seq %d: the challenger says lineage %.16s; it is %.16v", e.Seq, e.Lineage, got.lineage)
	}
	return true
}
