package modellog

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/snapshot"
)

// Fold reads a model log from some offset on, record by record, and decides
// which records count. It is the whole of the rule, for the learner, its
// successors, the scorers and verify alike:
//
//   - A CLAIM counts if its epoch is greater than that of the claim in force,
//     and then is the claim in force from there on. It names the log's own topic,
//     if it names one.
//   - Any other record counts only if its epoch and nonce are those of the
//     claim in force where the record lies; and
//   - GENESIS only while nothing is decided, and once;
//   - a BATCH, GAP, ADOPT or UPGRADE only if its seq is one more than the last and
//     its chain follows from the last;
//   - a ROLLBACK only if its seq is greater than any before, its chain follows
//     from the last, and it goes back to what the log has decided;
//   - RELEASED only up to the last seq;
//   - a PAUSE only at the last seq, and once, and a RESUME only of the PAUSE in
//     force;
//   - a CHUNK only in its place behind the one before, those of challengers apart;
//   - a MANIFEST only if its chunks are the last ones that counted, are all
//     there, and its seq, chain and start are those of a decision that counted,
//     and not before those of an earlier MANIFEST;
//   - a CHALLENGER only if its chunks are the last ones of a challenger that
//     counted, and its seq, chain and start those of a decision.
//
// All else is void: it is as if it had not been written.
//
// A log that has lost some of what its owner wrote is broken, which see. Behind
// the break nothing counts but CLAIMs, and a ROLLBACK, which ends it.
//
// A Fold that begins at offset 0 decides at once. One that begins later lets
// records wait until the first complete MANIFEST whose Start is not before the
// beginning, and then decides on them all. It waits anew behind a ROLLBACK to
// before what it remembers.
type Fold struct {
	keep    int
	key     ed25519.PublicKey // nil: signatures are not looked at
	begin   int64
	next    int64
	waiting []waiting // until there is a ledger
	hole    error     // found while waiting
	tooNew  error     // a later version, while waiting or under the claim in force
	checked bool      // whether the decision at which it begins was read
	wants   int64     // Start of the newest MANIFEST that it could begin with; -1
	lost    int64     // the lowest seq that a ROLLBACK went back to and was not remembered
	*ledger

	remember int64 // see Remember
}

type waiting struct {
	offset int64
	record Record
	size   int
	signed bool
}

// Verdict is what a Fold decided about a record.
type Verdict struct {
	Offset  int64  `json:"offset"`
	Type    string `json:"type"`
	Bytes   int    `json:"bytes,omitempty"`   // of the value
	Void    string `json:"void,omitempty"`    // why the record does not count
	Waiting bool   `json:"waiting,omitempty"` // a later MANIFEST will decide
	Record  Record `json:"record,omitempty"`  // nil if it could not be read
}

// Counts says whether the record is part of the model's history.
func (v Verdict) Counts() bool { return v.Void == "" && !v.Waiting }

func (v Verdict) String() string {
	s := fmt.Sprintf("%d %s", v.Offset, v.Type)
	if v.Record != nil {
		s += " " + v.Record.String()
	}
	if v.Void != "" {
		s += ", void: " + v.Void
	}
	if v.Waiting {
		s += ", waiting"
	}
	return s
}

// Option is a way in which a Fold reads.
type Option func(*Fold)

// WithKey is to trust nobody but whoever holds the private half of key: from the
// first CLAIM on that is signed with it, all that counts is signed with it. A
// Fold that begins in the middle begins only with a MANIFEST that is.
func WithKey(key ed25519.PublicKey) Option { return func(f *Fold) { f.key = key } }

// NewFold begins at the given offset of the log and remembers what it takes to
// recover from any of the newest keep snapshots (at least 1).
func NewFold(begin int64, keep int, options ...Option) *Fold {
	f := &Fold{keep: max(keep, 1), begin: begin, next: begin, wants: -1, lost: math.MaxInt64, remember: math.MaxInt64}
	for _, o := range options {
		o(f)
	}
	if begin == 0 {
		f.ledger = newLedger(f.keep)
	}
	return f
}

// Remember has the fold keep all that it knows of what was decided after seq,
// however many snapshots there are.
func (f *Fold) Remember(seq int64) {
	if f.remember = seq; f.ledger != nil {
		f.ledger.remember = seq
	}
}

// Skip says that the offsets up to next hold nothing that a reader gets, but were
// given away: to the markers of transactions and to what was aborted. Any other
// step over offsets breaks the log.
func (f *Fold) Skip(next int64) { f.next = max(f.next, next) }

// Add decides about the record at offset, which must be Next, or the log has a
// hole there. Its only error is ErrTooNew, and then nothing more can be decided
// by this program. The Verdict's Record may share the memory of value; the Fold
// does not keep it.
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

// Judge is Add for a record that is parsed already, such as the caller's own.
func (f *Fold) Judge(offset int64, r Record) Verdict {
	return f.take(offset, r, f.key != nil && Verify(r, f.key) == nil)
}

// step goes on behind offset.
func (f *Fold) step(offset int64) {
	switch {
	case offset <= f.next:
	case f.ledger != nil:
		f.breaks("offsets %d to %d are missing, behind seq %d", f.next, offset-1, f.seq)
	case f.hole == nil:
		f.hole = fmt.Errorf("%w: offsets %d to %d are missing", ErrBroken, f.next, offset-1)
	}
	f.next = max(f.next, offset+1)
}

func (f *Fold) take(offset int64, r Record, signed bool) Verdict {
	v := Verdict{Offset: offset, Type: r.Type(), Record: r}
	if offset < f.next {
		v.Void = fmt.Sprintf("read again: the next offset is %d", f.next)
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
		if v.Waiting = f.adrift; v.Waiting {
			f.lost = min(f.lost, r.(*Rollback).ToSeq)
			f.ledger, f.begin, f.waiting, f.checked, f.wants = nil, offset, []waiting{w}, false, -1
		} else {
			f.tooNew = f.ledger.tooNew
		}
		return v
	}
	if m, ok := r.(*Manifest); ok {
		v.Void = f.seat(w, m)
		return v
	}
	switch r := r.(type) {
	case *later:
		f.tooNew = fmt.Errorf("model log, offset %d: %w", offset, r.err())
	case *Rollback:
		f.hole = nil
	}
	f.waiting = append(f.waiting, w)
	v.Waiting = true
	return v
}

// seat takes m as where this fold begins, if what was read since m.Start
// confirms it.
func (f *Fold) seat(at waiting, m *Manifest) (void string) {
	if f.key != nil && !at.signed {
		return unsigned
	}
	if f.wants = m.Start.Offset; f.wants < f.begin {
		return fmt.Sprintf("needs the log from offset %d, reading began at %d", m.Start.Offset, f.begin)
	}
	l := ledgerAt(m, f.keep, f.key != nil)
	l.remember = f.remember
	f.checked, f.wants = false, m.Start.Offset
	for _, w := range f.waiting {
		if w.offset == m.Start.Offset-1 {
			if p, ok := behind(w.offset, w.record); !ok || p.seq != m.Seq || p.chain != m.Chain || p.start != m.Start {
				return fmt.Sprintf("before offset %d there is no decision %d with that chain", m.Start.Offset, m.Seq)
			}
			f.checked = true
		}
	}
	for _, w := range f.waiting {
		if w.offset >= m.Start.Offset {
			l.judge(w)
		}
	}
	if l.adrift {
		return "has been rolled back"
	}
	if void = l.judge(at); void != "" && l.tooNew == nil {
		if f.hole == nil {
			f.hole = l.broken
		}
		return void
	}
	if l.broken == nil {
		l.broken = f.hole
	}
	f.ledger, f.waiting, f.hole, f.tooNew = l, nil, nil, l.tooNew
	return void
}

// Seeded says whether the fold decides yet. Until then all that follows is zero.
func (f *Fold) Seeded() bool { return f.ledger != nil }

// Next is the offset behind the last record read.
func (f *Fold) Next() int64 { return f.next }

// Claim is the claim in force. Its Epoch is 0 if there is none; its Host is not
// known where the fold began behind it.
func (f *Fold) Claim() Claim { return f.get().claim }

// Seq and Chain are of the last decision that counts.
func (f *Fold) Seq() int64           { return f.get().seq }
func (f *Fold) Chain() snapshot.Hash { return f.get().chain }

// ChainAt is the chain as of a seq; not ok where the fold does not know it, or
// not any more.
func (f *Fold) ChainAt(seq int64) (snapshot.Hash, bool) {
	p, ok := f.get().find(seq)
	return p.chain, ok
}

// Released is the seq up to which predictions are known to be released: by a
// RELEASED, or by a MANIFEST, which may not be written before.
func (f *Fold) Released() int64 { return f.get().released }

// Paused is the PAUSE in force; nil if there is none. No snapshot is of a later
// seq than it, so that a fold which begins at any snapshot knows of it.
func (f *Fold) Paused() *Pause { return f.get().paused }

// Resumed is the seq of the last PAUSE that was ended by a RESUME; 0 if there was
// none, or none that matters behind the oldest snapshot remembered.
func (f *Fold) Resumed() int64 { return f.get().resumed }

// Config is the configuration in force. It is empty if there is none.
func (f *Fold) Config() Config { return f.get().config }

// Snapshots are the complete snapshots that the fold remembers, the newest
// first.
func (f *Fold) Snapshots() []Stored {
	kept := slices.Clone(f.get().kept)
	slices.Reverse(kept)
	return kept
}

// Trim is the offset below which the log may be deleted when the snapshots that
// the fold remembers are to be kept. It is 0 while there are fewer than that.
func (f *Fold) Trim() int64 {
	if l := f.get(); len(l.kept) >= l.keep {
		return l.base.start.Offset
	}
	return 0
}

// Genesis is how the log began, and what is in force since.
func (f *Fold) Genesis() Origin { return f.get().origin }

// Arithmetic and Decoder are the versions in force.
func (f *Fold) Arithmetic() int { return f.get().origin.Arithmetic }
func (f *Fold) Decoder() int    { return f.get().origin.Decoder }

// VersionsAt are the versions in force as of a seq; not ok where the fold does not
// know it, or not any more. Who claims the log to write a ROLLBACK names those.
func (f *Fold) VersionsAt(seq int64) (Versions, bool) {
	p, ok := f.get().find(seq)
	return p.origin.Versions, ok
}

// PartitionsOf is how many partitions of a topic the learner has said last that it
// reads; 0 if the fold does not know.
func (f *Fold) PartitionsOf(topic string) int32 { return f.get().partitions[topic] }

func (f *Fold) get() *ledger {
	if f.ledger == nil {
		return newLedger(f.keep)
	}
	return f.ledger
}

// Finish completes m, which Split has begun and whose chunks must be the last
// ones that counted: it fills in the owner and where things lie in the log. The
// record may be appended only once the predictions up to m.Seq are released:
// readers rely on that.
func (f *Fold) Finish(m *Manifest) error {
	l := f.get()
	m.Previous = -1
	if n := len(l.kept); n > 0 {
		m.Previous = l.kept[n-1].Offset
	}
	return l.finish(m, l.pending)
}
