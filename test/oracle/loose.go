package oracle

import (
	"encoding/hex"
	"slices"
)

// loose is a record that does not fit after the decision last. It is a fault, unless the log has
// lost records before it. After a loss the log is a prefix of what was written, followed by at most
// one append of each learner that has not noticed the loss yet: a learner notices it by the offset
// in the acknowledgement of its append. So a loose record is excused only if it could be such an
// append in every respect.
type loose struct {
	entry
	last   int64 // seq that the log had reached
	orphan bool  // its epoch was never claimed: its CLAIM was lost
	never  bool  // no learner could have written it, whatever was lost
	lacks  bool  // a part of a snapshot whose earlier parts are not in the log
}

// decides reports whether e is an entry of the history.
func (e entry) decides() bool {
	switch e.Type {
	case "batch", "gap", "adopt", "upgrade", "rollback":
		return true
	}
	return false
}

// stray records an entry that does not fit.
func (o *oracle) stray(e entry, orphan bool) {
	l := loose{entry: e, last: o.seq, orphan: orphan}
	switch {
	case e.Type == "genesis", orphan && e.Type == "upgrade": // in the same append as a CLAIM
		l.never = true
	case e.decides() && e.Seq <= o.seq: // the log has all decisions up to there
		l.never = true
	case e.decides() && e.Seq == o.seq+1: // nothing before it is lost
		chain, err := link(o.chain, e)
		l.never = err != nil || e.Chain != hex.EncodeToString(chain[:]) || !orphan
	case e.data != nil:
		// a first chunk is loose only if the end of another snapshot is lost
		l.lacks = e.index == 0 || o.chunks[e.Snapshot] < e.index
	case e.Type == "manifest", e.Type == "challenger":
		l.lacks = o.chunks[e.Snapshot] < e.Chunks
	}
	for i := range o.loose {
		was := &o.loose[i]
		switch {
		case was.Nonce != e.Nonce:
			// Only one of several learners that claim an epoch writes under it.
			l.never = l.never || orphan && was.orphan && was.Epoch == e.Epoch
		case was.Epoch != e.Epoch, was.decides() && e.decides() && was.sum != e.sum: // a second append
			l.never = true
		}
	}
	o.loose = append(o.loose, l)
}

// goesOn is called with each record that fits. If the learner of a loose record continues, that
// record is not the result of a loss.
func (o *oracle) goesOn(nonce string) {
	for i := range o.loose {
		o.loose[i].never = o.loose[i].never || o.loose[i].Nonce == nonce
	}
}

// takenBack reports whether a ROLLBACK with this seq explains l.
func (l loose) takenBack(seq int64) bool {
	return !l.never && (l.lacks || l.Seq < seq && (l.Seq > l.last || l.orphan))
}

// takeBack forgets the loose records that a ROLLBACK with this seq explains.
func (o *oracle) takeBack(seq int64) {
	o.loose = slices.DeleteFunc(o.loose, func(l loose) bool { return l.takenBack(seq) })
}

// unaccounted reports the loose records that no ROLLBACK explains.
func (o *oracle) unaccounted() {
	for _, l := range o.loose {
		switch {
		// void for every reader, and not a decision: a ROLLBACK finds nothing to revoke
		case l.lacks && !l.never && !l.orphan:
			o.Void++
		case l.orphan:
			o.fault("the %s %d at offset %d is of an epoch that nobody has claimed", l.Type, l.Seq, l.offset)
		default:
			o.fault("the %s %d at offset %d is under the current claim, but does not follow seq %d", l.Type, l.Seq, l.offset, l.last)
		}
	}
}
