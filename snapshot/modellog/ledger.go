package modellog

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/snapshot"
)

// ledger holds what a fold knows about the log from some place on.
type ledger struct {
	keep     int
	remember int64  // nothing after this seq is forgotten
	base     point  // place of the oldest snapshot to be kept, or the beginning of the log
	options  Config // in effect at base
	claim    Claim
	origin   Origin // beginning of the log, with the versions in effect
	begun    bool   // the log has a GENESIS
	config   Config
	seq      int64
	// highest is the highest seq of any record, void or not, under a claim that was current or is
	// missing.
	highest  int64
	chain    snapshot.Hash
	released int64
	columns  *AbsentColumns // nil: none
	paused   *Pause
	resumed  int64
	entries  []Entry  // after base
	kept     []Stored // oldest first
	pending  pending

	abandoned  []Abandoned
	partitions map[string]int32

	choice   *Choice // choice that holds or pins a snapshot; nil: none
	champion *Ref    // the snapshot served without choice; nil: unknown
	promoted Choice  // choice that made it champion; zero: the gate did

	challengers []StoredChallenger // oldest first
	challenge   pending            // chunks of a challenger

	broken     error // describes the missing part; from then on only CLAIMs and a ROLLBACK count
	rolledBack bool  // rolled back to before base
	tooNew     error // a record of a later version under the current claim
}

// point is a place in history, after a decision.
type point struct {
	seq    int64
	chain  snapshot.Hash
	start  Place
	origin Origin

	columns *AbsentColumns
}

// newLedger returns the ledger before the first record.
func newLedger(keep int) *ledger {
	first := Origin{Versions: Versions{}.Known()}
	return &ledger{keep: keep, remember: math.MaxInt64, origin: first, base: point{origin: first}}
}

// ledgerAt returns the ledger at the start of m, as far as m describes it.
func ledgerAt(m *Manifest, keep int, keyed bool) *ledger {
	l := newLedger(keep)
	if m.Genesis != nil {
		l.origin = *m.Genesis
		l.origin.Signed = l.origin.Signed && keyed
	}
	l.base = point{m.Seq, m.Chain, m.Start, l.origin, m.Columns}
	l.columns = m.Columns
	l.seq, l.highest, l.chain, l.released = m.Seq, m.Seq, m.Chain, m.Seq
	l.claim = Claim{Owner: m.Start.Owner, Versions: l.origin.Versions, Signed: m.Signed} // who signs one signs the other
	l.options = Config{Owner: m.Start.Owner, Hash: m.ConfigHash, Config: m.Config}
	l.config = l.options
	l.choice = m.Serving
	return l
}

// unsigned is the reason why a record that is not signed with the trusted key is void.
const unsigned = "not signed by the trusted key"

// judge applies the record and returns "", or returns why the record is void.
func (l *ledger) judge(w waiting) (void string) {
	trusted := w.signed || !l.origin.Signed
	if l.tooNew != nil {
		return l.tooNew.Error()
	}
	switch r := w.record.(type) {
	case *Claim:
		return l.claimed(r, w.signed, trusted)
	case *later:
		if r.typ == "claim" && r.Epoch > l.claim.Epoch && trusted || r.Owner == l.claim.Owner && trusted {
			l.tooNew = fmt.Errorf("model log, offset %d: %w", w.offset, r.err())
			return l.tooNew.Error()
		}
	}
	_, chunk := w.record.(*Chunk)
	switch o := w.record.owner(); {
	case !trusted && !chunk:
		return unsigned
	case o.Epoch > l.claim.Epoch && trusted:
		if d, ok := behind(w.offset, w.record); ok { // the seq of this void record must not be used again
			l.highest = max(l.highest, d.seq)
		}
		return l.breaks("%s at offset %d was written in epoch %d, whose CLAIM is missing: the current epoch is %d", w.record.Type(), w.offset, o.Epoch, l.claim.Epoch)
	case o != l.claim.Owner && l.claim.Epoch == 0:
		return "there is no valid claim"
	case o != l.claim.Owner:
		return fmt.Sprintf("written in %v, the current claim is %v", o, l.claim.Owner)
	}
	return l.apply(w)
}

// claimed decides about a CLAIM.
func (l *ledger) claimed(c *Claim, signed, trusted bool) (void string) {
	mine := l.origin.TopicID
	switch {
	case !trusted:
		return unsigned
	case mine != (snapshot.TopicID{}) && c.TopicID != mine && (signed || c.TopicID != (snapshot.TopicID{})):
		return fmt.Sprintf("it claims the log in topic id %v, but this topic has id %v", c.TopicID, mine)
	case c.Epoch <= l.claim.Epoch:
		return fmt.Sprintf("the current epoch is %d", l.claim.Epoch)
	}
	l.claim, l.pending, l.challenge = *c, pending{}, pending{}
	l.origin.TopicID = c.TopicID
	if c.TopicID == (snapshot.TopicID{}) {
		l.origin.TopicID = mine
	}
	l.origin.Signed = l.origin.Signed || signed
	return ""
}

// apply decides about a record under the current claim.
func (l *ledger) apply(w waiting) (void string) {
	if d, ok := behind(w.offset, w.record); ok {
		defer func() { l.highest = max(l.highest, d.seq) }()
	}
	if r, ok := w.record.(*Rollback); ok {
		return l.rollback(w.offset, r)
	}
	if l.broken != nil {
		return l.broken.Error()
	}
	switch r := w.record.(type) {
	case *Genesis:
		return l.begin(r)
	case *Imported:
		return l.imported(r)
	case *Config:
		l.config = *r
		l.entries = append(l.entries, Entry{w.offset, r, l.origin, l.columns})
	case *Batch, *Gap, *Adopt, *Upgrade:
		return l.decide(w.offset, r)
	case *Released:
		if r.Seq > l.seq {
			return fmt.Sprintf("the last seq is %d", l.seq)
		}
		l.released = max(l.released, r.Seq)
	case *Pause:
		if r.Seq != l.seq {
			return fmt.Sprintf("the last seq is %d", l.seq)
		}
		if r.Seq == l.resumed { // a late copy of an append
			return "its pause has ended"
		}
		l.paused = r
	case *Resume:
		if l.paused == nil || l.paused.Seq != r.Seq {
			return "there is no such pause"
		}
		l.paused, l.resumed = nil, r.Seq
	case *Serving:
		return l.serve(w.offset, r)
	case *Partitions:
		if l.partitions == nil {
			l.partitions = make(map[string]int32)
		}
		l.partitions[r.Topic] = r.Count
	case *Chunk:
		if r.Challenger {
			return l.challenge.chunk(w.offset, r, w.size)
		}
		return l.pending.chunk(w.offset, r, w.size)
	case *Challenger:
		return l.challenged(w.offset, r)
	case *Manifest:
		return l.complete(w.offset, r)
	default:
		panic("modellog: no rule for a " + r.Type())
	}
	return ""
}

func (l *ledger) complete(offset int64, m *Manifest) (void string) {
	p := l.pending
	if void := p.differs(m); void != "" {
		return void
	}
	if n := len(l.kept); n > 0 && m.Seq < l.kept[n-1].Manifest.Seq {
		return fmt.Sprintf("there is a newer snapshot, at seq %d", l.kept[n-1].Manifest.Seq)
	}
	at, ok := l.find(m.Seq)
	if !ok {
		return fmt.Sprintf("there is no seq %d, the last is %d", m.Seq, l.seq)
	}
	if void := at.differs(m); void != "" {
		return void
	}
	l.released = max(l.released, m.Seq)
	l.kept = append(l.kept, Stored{Manifest: m, Offset: offset, Chunks: p.offsets})
	l.crown(m, offset)
	l.pending = pending{}
	for len(l.kept) > l.keep && l.kept[1].Manifest.Seq <= l.remember {
		l.kept = slices.Delete(l.kept, 0, 1)
	}
	if len(l.kept) >= l.keep && l.kept[0].Manifest.Seq <= l.remember {
		oldest := l.kept[0].Manifest
		l.base, _ = l.find(oldest.Seq)
		l.options = Config{Owner: oldest.Start.Owner, Hash: oldest.ConfigHash, Config: oldest.Config}
		l.entries = slices.DeleteFunc(l.entries, func(e Entry) bool { return e.Offset < l.base.start.Offset })
	}
	return ""
}

// differs returns why m cannot be a snapshot at p, or "" if it can.
func (p point) differs(m *Manifest) string {
	if p.chain != m.Chain || p.start != m.Start {
		return fmt.Sprintf("seq %d has another position or chain", m.Seq)
	}
	said := Origin{Versions: Versions{}.Known()}
	if m.Genesis != nil {
		said = *m.Genesis
	}
	none := snapshot.TopicID{}
	if said.Versions != p.origin.Versions || said.TopicID != p.origin.TopicID && said.TopicID != none && p.origin.TopicID != none {
		return fmt.Sprintf("it states %v in topic %v, expected %v in topic %v", said.Versions, said.TopicID, p.origin.Versions, p.origin.TopicID)
	}
	return ""
}

// find returns the point after seq, unless seq is before base, abandoned or not
// yet decided.
func (l *ledger) find(seq int64) (p point, ok bool) {
	if seq == l.base.seq {
		return l.base, true
	}
	for i := len(l.entries) - 1; i >= 0; i-- { // callers look up recent seqs
		e := &l.entries[i]
		if p, ok := behind(e.Offset, e.Record); ok && p.seq <= seq {
			p.origin, p.columns = e.origin, e.columns
			return p, p.seq == seq
		}
	}
	return point{}, false
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
	m.Start, m.Genesis, m.Columns, m.Serving = at.start, &at.origin, at.columns, l.choice
	if m.Gate != nil && l.champion != nil {
		m.Gate.Champion = *l.champion
	}
	return nil
}
