package modellog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/snapshot"
)

// Fold reads a model log from some offset on, record by record, and decides
// which records count. It is the whole of the rule, for the learner, its
// successors, the scorers and verify alike:
//
//   - A CLAIM counts if its epoch is greater than that of the claim in force,
//     and then is the claim in force from there on.
//   - Any other record counts only if its epoch and nonce are those of the
//     claim in force where the record lies; and
//   - a BATCH or GAP only if its seq is one more than the last and its chain
//     follows from the last;
//   - RELEASED only up to the last seq;
//   - a PAUSE only at the last seq, and a RESUME only of the PAUSE in force;
//   - a CHUNK only in its place behind the one before, those of challengers apart;
//   - a MANIFEST only if its chunks are the last ones that counted, are all
//     there, and its seq, chain and start are those of a BATCH or GAP that
//     counted, and not before those of an earlier MANIFEST;
//   - a CHALLENGER only if its chunks are the last ones of a challenger that
//     counted, and its seq, chain and start those of a BATCH or GAP.
//
// All else is void: it is as if it had not been written.
//
// A Fold that begins at offset 0 decides at once. One that begins later lets
// records wait until the first complete MANIFEST whose Start is not before the
// beginning, and then decides on them all.
type Fold struct {
	keep    int
	begin   int64
	next    int64
	waiting []waiting // until there is a ledger
	checked bool      // whether the BATCH at which it begins was read
	wants   int64     // Start of the newest MANIFEST that it could begin with; -1
	*ledger
}

type waiting struct {
	offset int64
	record Record
	size   int
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

// NewFold begins at the given offset of the log and remembers what it takes to
// recover from any of the newest keep snapshots (at least 1).
func NewFold(begin int64, keep int) *Fold {
	f := &Fold{keep: max(keep, 1), begin: begin, next: begin, wants: -1}
	if begin == 0 {
		f.ledger = &ledger{keep: f.keep}
	}
	return f
}

// Add decides about the record at offset, which must be greater than that of
// the one before. Its only error is ErrTooNew, and then nothing more can be
// decided by this program. The Verdict's Record may share the memory of value;
// the Fold does not keep it.
func (f *Fold) Add(offset int64, key, value []byte) (Verdict, error) {
	r, err := Parse(key, value)
	if err == nil {
		v := f.Judge(offset, r)
		v.Bytes = len(value)
		return v, nil
	}
	v := Verdict{Offset: offset, Type: "?", Bytes: len(value), Void: err.Error()}
	if newRecord(string(key)) != nil {
		v.Type = string(key)
	}
	if errors.Is(err, snapshot.ErrTooNew) {
		return v, fmt.Errorf("model log, offset %d: %w", offset, err)
	}
	f.next = max(f.next, offset+1)
	return v, nil
}

// Judge is Add for a record that is parsed already, such as the caller's own.
func (f *Fold) Judge(offset int64, r Record) Verdict {
	v := Verdict{Offset: offset, Type: r.Type(), Record: r}
	if offset < f.next {
		v.Void = fmt.Sprintf("read again: the next offset is %d", f.next)
		return v
	}
	f.next = offset + 1
	size := 0
	if c, ok := r.(*Chunk); ok {
		size = len(c.Data)
		head := *c
		head.Data = nil
		r = &head
	}
	if f.ledger != nil {
		v.Void = f.judge(offset, r, size)
		return v
	}
	if m, ok := r.(*Manifest); ok {
		v.Void = f.adopt(offset, m)
		return v
	}
	f.waiting = append(f.waiting, waiting{offset, r, size})
	v.Waiting = true
	return v
}

// adopt takes m as where this fold begins, if what was read since m.Start
// confirms it.
func (f *Fold) adopt(offset int64, m *Manifest) (void string) {
	if f.wants = m.Start.Offset; f.wants < f.begin {
		return fmt.Sprintf("needs the log from offset %d, reading began at %d", m.Start.Offset, f.begin)
	}
	base := point{m.Seq, m.Chain, m.Start}
	f.checked, f.wants = false, m.Start.Offset
	for _, w := range f.waiting {
		if w.offset == m.Start.Offset-1 {
			if p, ok := behind(w.offset, w.record); !ok || p != base {
				return fmt.Sprintf("before offset %d there is no BATCH %d with that chain", m.Start.Offset, m.Seq)
			}
			f.checked = true
		}
	}
	l := &ledger{
		keep: f.keep, base: base,
		seq: m.Seq, chain: m.Chain, released: m.Seq,
		claim:  Claim{Owner: m.Start.Owner},
		config: Config{Owner: m.Start.Owner, Hash: m.ConfigHash, Config: m.Config},
	}
	for _, w := range f.waiting {
		if w.offset >= m.Start.Offset {
			l.judge(w.offset, w.record, w.size)
		}
	}
	if void := l.judge(offset, m, 0); void != "" {
		return void
	}
	f.ledger, f.waiting = l, nil
	return ""
}

// Seeded says whether the fold decides yet. Until then all that follows is zero.
func (f *Fold) Seeded() bool { return f.ledger != nil }

// Next is the offset behind the last record read.
func (f *Fold) Next() int64 { return f.next }

// Claim is the claim in force. Its Epoch is 0 if there is none; its Host is not
// known where the fold began behind it.
func (f *Fold) Claim() Claim { return f.get().claim }

// Seq and Chain are of the last BATCH or GAP that counts.
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
	if l := f.get(); len(l.kept) == l.keep {
		return l.base.start.Offset
	}
	return 0
}

func (f *Fold) get() *ledger {
	if f.ledger == nil {
		return new(ledger)
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
