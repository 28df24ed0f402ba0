package modellog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/snapshot"
)

// ErrBroken is the error for a log that has lost records of its owner or holds two histories. It
// can be continued only by a ROLLBACK to a decision that it still holds.
var ErrBroken = errors.New("the model log is broken")

// breaks marks the log as broken, unless it already is, and returns the reason.
func (l *ledger) breaks(format string, args ...any) string {
	why := fmt.Errorf("%w: "+format, append([]any{ErrBroken}, args...)...)
	if l.broken == nil {
		l.broken = why
	}
	return why.Error()
}

// Broken returns an ErrBroken that names the missing part if the log is broken, until a ROLLBACK
// counts.
func (f *Fold) Broken() error {
	if f.ledger == nil {
		return f.gap
	}
	return f.broken
}

// Abandoned is a range of seqs that a ROLLBACK has abandoned, from From to To. It includes seqs
// that were never in the log.
type Abandoned struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Offset int64  `json:"offset"` // of the ROLLBACK
	Reason string `json:"reason"`
	By     string `json:"by"`
}

// Abandoned returns the seqs that the fold knows to be abandoned, in ascending
// order.
func (f *Fold) Abandoned() []Abandoned { return slices.Clone(f.get().abandoned) }

// IsAbandoned reports whether seq is abandoned.
func (f *Fold) IsAbandoned(seq int64) bool {
	return slices.ContainsFunc(f.get().abandoned, func(a Abandoned) bool { return a.From <= seq && seq <= a.To })
}

// Highest returns the highest seq in the log under a current claim, including void records. The seq
// of a ROLLBACK has to be greater.
func (f *Fold) Highest() int64 { return f.get().highest }

// Decided returns the seq and the chain of a decision, and false if r is a record of another kind.
func Decided(r Record) (seq int64, chain snapshot.Hash, ok bool) {
	switch r := r.(type) {
	case *Batch:
		return r.Seq, r.Chain, true
	case *Gap:
		return r.Seq, r.Chain, true
	case *Rollback:
		return r.Seq, r.Chain, true
	case *Adopt:
		return r.Seq, r.Chain, true
	case *Upgrade:
		return r.Seq, r.Chain, true
	}
	return 0, chain, false
}

// behind returns the place after a decision, and false if r is a record of another kind.
func behind(offset int64, r Record) (p point, ok bool) {
	seq, chain, ok := Decided(r)
	if !ok {
		return p, false
	}
	return point{seq: seq, chain: chain, start: Place{offset + 1, r.owner()}}, true
}

// begin decides about a GENESIS.
func (l *ledger) begin(g *Genesis) (void string) {
	switch {
	case l.begun:
		return "duplicate genesis"
	case l.base.start.Offset > 0 || l.seq > 0 || len(l.kept) > 0:
		return fmt.Sprintf("genesis after the first decision, the last seq is %d", l.seq)
	case g.Versions != l.claim.Known():
		return fmt.Sprintf("it states %v, its claim %v", g.Versions, l.claim.Known())
	case g.TopicID != l.origin.TopicID:
		return fmt.Sprintf("it belongs to a log in topic id %v, but this topic has id %v", g.TopicID, l.origin.TopicID)
	}
	l.begun = true
	l.origin.Seq, l.origin.Versions, l.origin.Import, l.origin.Start = g.Seq, g.Versions, g.Import, g.Start
	l.base = point{seq: g.Seq, chain: g.Chain, origin: l.origin}
	l.seq, l.highest, l.chain, l.released = g.Seq, g.Seq, g.Chain, g.Seq
	return ""
}

// imported decides about an IMPORTED.
func (l *ledger) imported(r *Imported) (void string) {
	if r.Seq != l.origin.Import || r.Seq != l.seq || r.Chain != l.chain {
		return fmt.Sprintf("the import in progress goes up to seq %d (0: none), and the last seq is %d", l.origin.Import, l.seq)
	}
	l.origin.Import, l.base.origin.Import = 0, 0
	for i := range l.entries {
		l.entries[i].origin.Import = 0
	}
	return ""
}

// decide decides about a BATCH, GAP, ADOPT or UPGRADE. The owner of a log writes them in sequence,
// and a copy of one may arrive late. Anything else shows that records are lost.
func (l *ledger) decide(offset int64, r Record) (void string) {
	next, _ := behind(offset, r)
	name := fmt.Sprintf("%s %d at offset %d", r.Type(), next.seq, offset)
	switch {
	case next.seq <= l.seq:
		if at, ok := l.find(next.seq); ok && at.chain != next.chain {
			return l.breaks("%s has chain %v, but seq %d was decided with chain %v", name, next.chain, next.seq, at.chain)
		}
		return fmt.Sprintf("the last seq is %d", l.seq)
	case next.seq > l.seq+1:
		return l.breaks("%s follows seq %d: seqs %d to %d are missing before it", name, l.seq, l.seq+1, next.seq-1)
	}
	if want := NextChain(l.chain, r); next.chain != want {
		return l.breaks("%s does not continue seq %d: its chain is %v, want %v", name, l.seq, next.chain, want)
	}
	versions := l.origin.Versions
	if u, ok := r.(*Upgrade); ok {
		versions = u.Versions
	}
	if have := l.claim.Known(); have != versions {
		return l.breaks("%s was decided with %v, but %v is in effect: an UPGRADE record is missing", name, have, versions)
	}
	l.origin.Versions = versions
	l.seq, l.chain, l.paused = next.seq, next.chain, nil
	if b, ok := r.(*Batch); ok {
		l.columns = l.columns.after(b.Columns)
	}
	l.entries = append(l.entries, Entry{offset, r, l.origin, l.columns})
	return ""
}

// rollback decides about a ROLLBACK.
func (l *ledger) rollback(offset int64, r *Rollback) (void string) {
	if r.Seq <= l.highest {
		return fmt.Sprintf("seqs up to %d are used", l.highest)
	}
	if want := NextChain(l.chain, r); r.Chain != want {
		return fmt.Sprintf("its chain is %v, want %v", r.Chain, want)
	}
	to, ok := l.find(r.ToSeq)
	switch {
	case !ok && r.ToSeq < l.base.seq && l.base.start.Offset > 0:
		l.rolledBack = true // a fold that remembers more has to decide
		return ""
	case !ok:
		return fmt.Sprintf("there is no seq %d to roll back to", r.ToSeq)
	case to.chain != r.ToChain:
		return fmt.Sprintf("seq %d has chain %v, not %v", r.ToSeq, to.chain, r.ToChain)
	case to.origin.Versions != l.claim.Known():
		return fmt.Sprintf("written with %v, but from seq %d on %v is in effect", l.claim.Known(), r.ToSeq, to.origin.Versions)
	}
	l.forget(r.ToSeq)
	l.abandoned = slices.DeleteFunc(l.abandoned, func(a Abandoned) bool { return a.From > r.ToSeq })
	l.abandoned = append(l.abandoned, Abandoned{r.ToSeq + 1, r.Seq - 1, offset, r.Reason, r.By})
	l.origin.Versions = to.origin.Versions
	l.seq, l.chain, l.paused, l.broken = r.Seq, r.Chain, nil, nil
	l.released, l.columns = min(l.released, r.ToSeq), to.columns
	l.entries = append(l.entries, Entry{offset, r, l.origin, l.columns})
	return ""
}

// forget drops the decisions after seq and everything that depends on them.
func (l *ledger) forget(seq int64) {
	first := slices.IndexFunc(l.entries, func(e Entry) bool {
		p, ok := behind(e.Offset, e.Record)
		return ok && p.seq > seq
	})
	if first >= 0 {
		l.entries = l.entries[:first]
	}
	l.config = l.options
	for _, e := range l.entries {
		if c, ok := e.Record.(*Config); ok {
			l.config = *c
		}
	}
	l.kept = slices.DeleteFunc(l.kept, func(s Stored) bool { return s.Manifest.Seq > seq })
	l.dethrone(seq)
	l.challengers = slices.DeleteFunc(l.challengers, func(c StoredChallenger) bool { return c.Challenger.Seq > seq })
}
