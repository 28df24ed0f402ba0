package modellog

import (
	"crypto/ed25519"
	"fmt"
	"math"
)

// Fold reads a model log from some offset on, record by record, and decides which records count.
// The learner, its successors, the scorers and verify all use it, so that they follow one rule:
//
//   - A CLAIM counts if its epoch is greater than that of the current claim. It
//     then is the current claim. If it names a topic id, that is the id of the
//     log's own topic.
//   - Any other record counts only if its epoch and nonce are those of the
//     current claim where the record lies, and:
//   - a GENESIS only before the first decision, and only once;
//   - an IMPORTED only at the last seq of the import that the GENESIS has begun;
//   - a BATCH, GAP, ADOPT or UPGRADE only if its seq is one more than the last and
//     its chain follows from the last;
//   - a ROLLBACK only if its seq is greater than any before, its chain follows
//     from the last, and its target is a decision of the log;
//   - a RELEASED only up to the last seq;
//   - a PAUSE only at the last seq, and only once, and a RESUME only for the PAUSE
//     in effect;
//   - a SERVING only for a snapshot before it;
//   - a CHUNK only directly after the previous chunk of its snapshot; chunks of
//     challengers are counted separately;
//   - a MANIFEST only if its chunks are the last ones that counted and are
//     complete, if its seq, chain and start are those of a decision that counted,
//     and if its seq is not lower than that of an earlier MANIFEST;
//   - a CHALLENGER only if its chunks are the last ones of a challenger that
//     counted, and its seq, chain and start are those of a decision.
//
// All other records are void, as if they had not been written.
//
// A log that has lost records of its owner is broken; see Broken. After the break
// only CLAIMs count, and a ROLLBACK, after which the log is no longer broken.
//
// A Fold that begins at offset 0 decides at once. A Fold that begins later keeps
// records waiting until the first complete MANIFEST whose Start is not before the
// offset at which the Fold began, and then decides on all of them. It waits again
// after a ROLLBACK to a place before those that it remembers.
type Fold struct {
	keep    int
	key     ed25519.PublicKey // nil: signatures are not verified
	begin   int64
	next    int64
	waiting []waiting // until there is a ledger
	gap     error     // found while waiting
	tooNew  error     // a record of a later version, while waiting or under the current claim
	checked bool      // whether the decision at which the fold begins was read
	wants   int64     // Start of the newest MANIFEST that the fold could begin with; -1
	lost    int64     // lowest seq that was the target of a ROLLBACK and was no longer remembered
	*ledger

	retain int64 // see Retain
}

type waiting struct {
	offset int64
	record Record
	size   int
	signed bool
}

// Option changes how a Fold reads.
type Option func(*Fold)

// WithKey makes the Fold trust only signatures of the private half of key. From the first CLAIM
// signed with that key on, unsigned records other than CHUNKs do not count. A Fold that begins in
// the middle of the log begins only with a signed MANIFEST.
func WithKey(key ed25519.PublicKey) Option { return func(f *Fold) { f.key = key } }

// NewFold returns a Fold that begins at the given offset of the log. It remembers
// enough to recover from any of the newest keep snapshots (at least 1).
func NewFold(begin int64, keep int, options ...Option) *Fold {
	f := &Fold{keep: max(keep, 1), begin: begin, next: begin, wants: -1, lost: math.MaxInt64, retain: math.MaxInt64}
	for _, o := range options {
		o(f)
	}
	if begin == 0 {
		f.ledger = newLedger(f.keep)
	}
	return f
}

// FoldAt returns a Fold that begins at the Start of a MANIFEST that counts, and
// decides at once.
func FoldAt(m *Manifest, keep int, options ...Option) *Fold {
	f := NewFold(m.Start.Offset, keep, options...)
	f.ledger = ledgerAt(m, f.keep, f.key != nil)
	return f
}

// Retain makes the fold keep everything that it knows about the decisions after seq, however many
// snapshots there are.
func (f *Fold) Retain(seq int64) {
	if f.retain = seq; f.ledger != nil {
		f.ledger.remember = seq
	}
}

// Skip states that the offsets below next hold no record for a reader, but were used by transaction
// markers or aborted records. Any other missing offset breaks the log.
func (f *Fold) Skip(next int64) { f.next = max(f.next, next) }

// Add decides about the record at offset. If offset is greater than Next, records are missing and
// the log is broken. The only error is ErrTooNew, after which this program cannot decide anything
// more. The Record of the Verdict may share the memory of value; the Fold does not retain it.
func (f *Fold) Add(offset int64, key, value []byte) (Verdict, error) {
	r, err := parse(key, value)
	if err != nil {
		v := Verdict{Offset: offset, Type: "?", Bytes: len(value), Void: err.Error()}
		if newRecord(string(key)) != nil {
			v.Type = string(key)
		}
		f.step(offset)
		return v, nil
	}
	signed := false
	if s, ok := r.(signable); ok && f.key != nil {
		version := logVersion
		if l, ok := r.(*later); ok {
			version = l.version
		}
		signed = verify(r.Type(), version, value, *s.signature(), f.key)
	}
	v := f.take(offset, r, signed)
	v.Bytes = len(value)
	if _, ok := r.(*later); ok {
		v.Record = nil
	}
	if f.Seeded() && f.tooNew != nil {
		return v, f.tooNew
	}
	return v, nil
}

// Judge is Add for a parsed record, such as one that the caller wrote.
func (f *Fold) Judge(offset int64, r Record) Verdict {
	return f.take(offset, r, f.key != nil && Verify(r, f.key) == nil)
}

// step advances the next offset past offset, and breaks the log if offsets are
// missing.
func (f *Fold) step(offset int64) {
	switch {
	case offset <= f.next:
	case f.ledger != nil:
		f.breaks("offsets %d to %d are missing, after seq %d", f.next, offset-1, f.seq)
	case f.gap == nil:
		f.gap = fmt.Errorf("%w: offsets %d to %d are missing", ErrBroken, f.next, offset-1)
	}
	f.next = max(f.next, offset+1)
}

func (f *Fold) take(offset int64, r Record, signed bool) Verdict {
	v := Verdict{Offset: offset, Type: r.Type(), Record: r}
	if offset < f.next {
		v.Void = fmt.Sprintf("duplicate: the next offset is %d", f.next)
		return v
	}
	f.step(offset)
	w := waiting{offset: offset, record: r, signed: signed}
	if c, ok := r.(*Chunk); ok {
		w.size = len(c.Data)
		head := *c
		head.Data = nil
		w.record = &head
	}
	if f.ledger != nil {
		v.Void = f.judge(w)
		if v.Waiting = f.rolledBack; v.Waiting {
			f.lost = min(f.lost, r.(*Rollback).ToSeq)
			f.ledger, f.begin, f.waiting, f.checked, f.wants = nil, offset, []waiting{w}, false, -1
		} else {
			f.tooNew = f.ledger.tooNew
		}
		return v
	}
	if m, ok := r.(*Manifest); ok {
		v.Void = f.startAt(w, m)
		return v
	}
	switch r := r.(type) {
	case *later:
		f.tooNew = fmt.Errorf("model log, offset %d: %w", offset, r.err())
	case *Rollback:
		f.gap = nil
	}
	f.waiting = append(f.waiting, w)
	v.Waiting = true
	return v
}

// startAt begins the fold with m, if the records since m.Start confirm it.
func (f *Fold) startAt(at waiting, m *Manifest) (void string) {
	if f.key != nil && !at.signed {
		return unsigned
	}
	if f.wants = m.Start.Offset; f.wants < f.begin {
		return fmt.Sprintf("it needs the log from offset %d on, but reading began at %d", m.Start.Offset, f.begin)
	}
	l := ledgerAt(m, f.keep, f.key != nil)
	l.remember = f.retain
	f.checked, f.wants = false, m.Start.Offset
	for _, w := range f.waiting {
		if w.offset == m.Start.Offset-1 {
			if p, ok := behind(w.offset, w.record); !ok || p.seq != m.Seq || p.chain != m.Chain || p.start != m.Start {
				return fmt.Sprintf("there is no seq %[2]d with this chain before offset %[1]d", m.Start.Offset, m.Seq)
			}
			f.checked = true
		}
	}
	for _, w := range f.waiting {
		if w.offset >= m.Start.Offset {
			l.judge(w)
		}
	}
	if l.rolledBack {
		return "its history has been rolled back"
	}
	if void = l.judge(at); void != "" && l.tooNew == nil {
		if f.gap == nil {
			f.gap = l.broken
		}
		return void
	}
	if l.broken == nil {
		l.broken = f.gap
	}
	f.ledger, f.waiting, f.gap, f.tooNew = l, nil, nil, l.tooNew
	return void
}

// Seeded reports whether the fold can decide yet. Until then, the methods that describe the log
// return the state of an empty log.
func (f *Fold) Seeded() bool { return f.ledger != nil }

// Next returns the offset after the last record read.
func (f *Fold) Next() int64 { return f.next }

// Finish completes m, which Split has begun: it fills in the owner and the offsets in the log. The
// chunks of m must be the last ones that counted. The record may be appended only after the
// predictions up to m.Seq are published: readers rely on that.
func (f *Fold) Finish(m *Manifest) error {
	l := f.get()
	m.Previous = -1
	if n := len(l.kept); n > 0 {
		m.Previous = l.kept[n-1].Offset
	}
	return l.finish(m, l.pending)
}
