package snapshot

import (
	"errors"
	"fmt"
	"slices"
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
	if errors.Is(err, ErrTooNew) {
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
func (f *Fold) Seq() int64  { return f.get().seq }
func (f *Fold) Chain() Hash { return f.get().chain }

// ChainAt is the chain as of a seq; not ok where the fold does not know it, or
// not any more.
func (f *Fold) ChainAt(seq int64) (Hash, bool) {
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

// Stored is a complete snapshot in the log.
type Stored struct {
	Manifest *Manifest `json:"manifest"`
	Offset   int64     `json:"offset"` // of the MANIFEST
	Chunks   []int64   `json:"chunks"` // offsets of the CHUNKs, in order
}

// Entry is a BATCH, GAP or CONFIG that counts.
type Entry struct {
	Offset int64
	Record Record // *Batch, *Gap or *Config
}

// Recovery is where a learner goes on.
type Recovery struct {
	Snapshot *Stored // nil: from the empty state
	Config   Config  // in force before Entries
	Entries  []Entry // what the log has decided behind Snapshot, in order
	Released int64   // seq; the predictions behind it have to be released again
}

// Recover is how to go on from the newest snapshot, or, where that one turned
// out to be damaged, from the one back places before it; behind the oldest,
// from the empty state, if the fold has seen the log from its beginning. It is
// not ok if the log does not reach back so far: whoever gets there must stop.
func (f *Fold) Recover(back int) (r Recovery, ok bool) {
	if f.ledger == nil || back > len(f.kept) {
		return r, false
	}
	r.Released = f.released
	from := int64(0)
	if i := len(f.kept) - 1 - back; i >= 0 {
		s := f.kept[i]
		r.Snapshot = &s
		r.Config = Config{Owner: s.Manifest.Start.Owner, Hash: s.Manifest.ConfigHash, Config: s.Manifest.Config}
		from = s.Manifest.Start.Offset
	} else if f.base != (point{}) {
		return Recovery{}, false
	}
	for _, e := range f.entries {
		if e.Offset >= from {
			r.Entries = append(r.Entries, e)
		}
	}
	return r, true
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

func (l *ledger) finish(m *Manifest, p pending) error {
	if p.id != m.Snapshot || len(p.offsets) != m.Chunks {
		return fmt.Errorf("snapshot %v: the log has %d of %d chunks of %v", m.Snapshot, len(p.offsets), p.count, p.id)
	}
	at, ok := l.find(m.Seq)
	if !ok || at.chain != m.Chain {
		return fmt.Errorf("snapshot %v: seq %d with chain %v is not in the log", m.Snapshot, m.Seq, m.Chain)
	}
	m.Owner = l.claim.Owner
	m.FirstChunk = p.offsets[0]
	m.Start = at.start
	return nil
}

// ledger is what a fold knows from some point of the log on.
type ledger struct {
	keep     int
	base     point // where the oldest snapshot to be kept stands, or the beginning
	claim    Claim
	config   Config
	seq      int64
	chain    Hash
	released int64
	paused   *Pause
	resumed  int64
	entries  []Entry  // behind base
	kept     []Stored // the oldest first
	pending  pending

	challengers []StoredChallenger // the oldest first
	challenge   pending            // of a challenger
}

// point is a place in history: behind a BATCH or GAP.
type point struct {
	seq   int64
	chain Hash
	start Mark
}

// pending are the chunks of a snapshot under way.
type pending struct {
	id        ID
	count     int
	chunkSize int // of the first, which all but the last have
	size      int64
	offsets   []int64
}

// judge returns why r is void, or takes it in and returns "". Of a chunk it
// wants the size of its data beside it.
func (l *ledger) judge(offset int64, r Record, size int) (void string) {
	if c, ok := r.(*Claim); ok {
		if c.Epoch <= l.claim.Epoch {
			return fmt.Sprintf("epoch %d is in force", l.claim.Epoch)
		}
		l.claim, l.pending, l.challenge = *c, pending{}, pending{}
		return ""
	}
	if o := r.owner(); o != l.claim.Owner {
		if l.claim.Epoch == 0 {
			return "no claim is in force"
		}
		return fmt.Sprintf("written under %v, in force is %v", o, l.claim.Owner)
	}
	switch r := r.(type) {
	case *Config:
		l.config = *r
		l.entries = append(l.entries, Entry{offset, r})
	case *Batch:
		return l.decide(offset, r, r.Seq, r.Chain)
	case *Gap:
		return l.decide(offset, r, r.Seq, r.Chain)
	case *Released:
		if r.Seq > l.seq {
			return fmt.Sprintf("the last seq is %d", l.seq)
		}
		l.released = max(l.released, r.Seq)
	case *Pause:
		if r.Seq != l.seq {
			return fmt.Sprintf("the last seq is %d", l.seq)
		}
		l.paused = r
	case *Resume:
		if l.paused == nil || l.paused.Seq != r.Seq {
			return "there is no such pause"
		}
		l.paused, l.resumed = nil, r.Seq
	case *Chunk:
		if r.Challenger {
			return l.challenge.chunk(offset, r, size)
		}
		return l.pending.chunk(offset, r, size)
	case *Challenger:
		return l.challenged(offset, r)
	case *Manifest:
		return l.complete(offset, r)
	default:
		panic("snapshot: no rule for a " + r.Type())
	}
	return ""
}

func (l *ledger) decide(offset int64, r Record, seq int64, chain Hash) (void string) {
	if seq != l.seq+1 {
		return fmt.Sprintf("the last seq is %d", l.seq)
	}
	if want := NextChain(l.chain, r); chain != want {
		return fmt.Sprintf("its chain is %v, want %v", chain, want)
	}
	l.seq, l.chain, l.paused = seq, chain, nil
	l.entries = append(l.entries, Entry{offset, r})
	return ""
}

func (p *pending) chunk(offset int64, c *Chunk, size int) (void string) {
	if c.Index == 0 && c.Snapshot != p.id {
		*p = pending{id: c.Snapshot, count: c.Count, chunkSize: size}
	}
	switch {
	case c.Snapshot != p.id || c.Count != p.count:
		return "its snapshot has not begun"
	case c.Index < len(p.offsets):
		return "this chunk is there already"
	case c.Index > len(p.offsets):
		return fmt.Sprintf("chunk %d is missing", len(p.offsets)+1)
	case c.Index < c.Count-1 && size != p.chunkSize || size > p.chunkSize:
		return fmt.Sprintf("has %d bytes, the first chunk %d", size, p.chunkSize)
	}
	p.offsets = append(p.offsets, offset)
	p.size += int64(size)
	return ""
}

// differs says why m does not complete p, if it does not.
func (p *pending) differs(m *Manifest) string {
	if p.id != m.Snapshot || len(p.offsets) != p.count {
		return fmt.Sprintf("its chunks are not all there: %d of %d of snapshot %v", len(p.offsets), p.count, p.id)
	}
	if p.count != m.Chunks || p.size != m.Size || p.chunkSize != m.ChunkSize && m.Chunks > 1 || p.offsets[0] != m.FirstChunk {
		return "its chunks are not as it says"
	}
	return ""
}

func (l *ledger) complete(offset int64, m *Manifest) (void string) {
	p := l.pending
	if void := p.differs(m); void != "" {
		return void
	}
	if n := len(l.kept); n > 0 && m.Seq < l.kept[n-1].Manifest.Seq {
		return fmt.Sprintf("there is a snapshot at seq %d", l.kept[n-1].Manifest.Seq)
	}
	at, ok := l.find(m.Seq)
	if !ok {
		return fmt.Sprintf("the last seq is %d", l.seq)
	}
	if at.chain != m.Chain || at.start != m.Start {
		return fmt.Sprintf("seq %d stands elsewhere, or has another chain", m.Seq)
	}
	l.released = max(l.released, m.Seq)
	l.kept = append(l.kept, Stored{Manifest: m, Offset: offset, Chunks: p.offsets})
	l.pending = pending{}
	if len(l.kept) > l.keep {
		l.kept = slices.Delete(l.kept, 0, len(l.kept)-l.keep)
	}
	if len(l.kept) == l.keep {
		oldest := l.kept[0].Manifest
		l.base = point{oldest.Seq, oldest.Chain, oldest.Start}
		l.entries = slices.DeleteFunc(l.entries, func(e Entry) bool { return e.Offset < l.base.start.Offset })
	}
	return ""
}

// find is the point behind seq, if it is not before base nor to come.
func (l *ledger) find(seq int64) (p point, ok bool) {
	if seq == l.base.seq {
		return l.base, true
	}
	for i := len(l.entries) - 1; i >= 0; i-- { // what is asked for is near the end
		if p, ok := behind(l.entries[i].Offset, l.entries[i].Record); ok && p.seq <= seq {
			return p, p.seq == seq
		}
	}
	return point{}, false
}

// behind is the place behind a BATCH or GAP.
func behind(offset int64, r Record) (p point, ok bool) {
	switch r := r.(type) {
	case *Batch:
		return point{r.Seq, r.Chain, Mark{offset + 1, r.Owner}}, true
	case *Gap:
		return point{r.Seq, r.Chain, Mark{offset + 1, r.Owner}}, true
	}
	return p, false
}
