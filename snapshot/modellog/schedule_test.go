package modellog

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

// A schedule is a random history of one model log: three learners that claim,
// append, crash, pause and come back, on a network that delays, repeats and loses
// appends and acknowledgements. The readers are real Folds.
type schedule struct {
	r        *rand.Rand
	fault    fault
	log      []Record
	flying   []flight
	acks     []ack
	writers  []*writer
	ids      int
	released map[int64]uint64
	truth    *Fold // has read all of the log
	verdicts []Verdict
	wrong    string
	snaps    int
}

// fault is a violation of the rule by a reader or by a writer.
type fault struct {
	noOffsetCheck  bool // a writer accepts any acknowledgement
	anyOwner       bool // a reader ignores the owner of a record
	nonceIgnored   bool // readers and writers compare epochs only
	anyEpochIsMine bool // a writer compares nonces only
	noSeqRule      bool // a reader accepts any seq as the next
	startAtChunks  bool // a reader begins at the first chunk of a snapshot, as if the snapshot were of that place
	seqsAgain      bool // a ROLLBACK continues with the seq after the one it goes back to
	noUpgrade      bool // a learner continues with another arithmetic without an UPGRADE
	seesNoRollback bool // a reader ignores ROLLBACKs
}

type flight struct {
	r        Record
	from, id int
}

type ack struct{ to, id, at int }

type writer struct {
	name    int // of the current run
	alive   bool
	fold    *Fold
	mine    Owner
	live    bool // knows that its claim is in effect
	pending Record
	id      int
	want    int64 // offset at which pending is valid
	snap    *snapState

	versions Versions // of its program
	back     int64    // seq of a ROLLBACK that it has to write; -1: it learns
	topic    snapshot.TopicID
}

type snapState struct {
	id    snapshot.ID
	seq   int64
	chain snapshot.Hash
}

func content(b *Batch) uint64 { return b.Ranges[0].Digest }

func (s *schedule) fail(format string, args ...any) {
	if s.wrong == "" {
		s.wrong = fmt.Sprintf(format, args...)
	}
}

func (s *schedule) release(b *Batch) {
	if c, ok := s.released[b.Seq]; ok && c != content(b) {
		s.fail("seq %d is released with two contents", b.Seq)
	}
	s.released[b.Seq] = content(b)
}

func (s *schedule) append(r Record) int {
	at := len(s.log)
	s.log = append(s.log, r)
	s.verdicts = append(s.verdicts, s.truth.Judge(int64(at), r))
	if m, ok := r.(*Manifest); ok && s.verdicts[at].Counts() {
		if s.snaps++; m.Start.Offset > m.FirstChunk {
			s.fail("manifest %d starts at %d, behind its first chunk", at, m.Start.Offset)
		}
	}
	return at
}

// see returns r as a reader with the planted fault sees it.
func (s *schedule) see(f *Fold, r Record) Record {
	if f.ledger == nil {
		return r
	}
	r = clone(r)
	if _, ok := r.(*Rollback); ok && s.fault.seesNoRollback {
		return &Partitions{Owner: *ownerOf(r), Topic: "in", Count: 1}
	}
	_, isClaim := r.(*Claim)
	o, in := ownerOf(r), f.Claim().Owner
	if s.fault.anyOwner && !isClaim || s.fault.nonceIgnored && !isClaim && o.Epoch == in.Epoch {
		*o = in
	}
	if b, ok := r.(*Batch); ok && s.fault.noSeqRule {
		b.Seq = f.Seq() + 1
		b.Chain = NextChain(f.Chain(), b)
	}
	return r
}

func clone(r Record) Record {
	c := reflect.New(reflect.TypeOf(r).Elem())
	c.Elem().Set(reflect.ValueOf(r).Elem())
	return c.Interface().(Record)
}

func ownerOf(r Record) *Owner {
	return reflect.ValueOf(r).Elem().FieldByName("Owner").Addr().Interface().(*Owner)
}

// read advances the writer to the end of the log. The writer releases all
// decisions that it finds, as a successor does.
func (s *schedule) read(w *writer) {
	for int(w.fold.Next()) < len(s.log) {
		at := w.fold.Next()
		seeded := w.fold.Seeded()
		v := w.fold.Judge(at, s.see(w.fold, s.log[at]))
		if b, ok := v.Record.(*Batch); ok && v.Counts() {
			s.release(b)
		}
		if seeded && !w.fold.Seeded() {
			w.fold = NewFold(0, 1<<20) // reads from the beginning
			continue
		}
		if !seeded && w.fold.Seeded() {
			r, _ := w.fold.Recover(0)
			for _, e := range r.Entries {
				if b, ok := e.Record.(*Batch); ok {
					s.release(b)
				}
			}
		}
	}
}

func (s *schedule) owns(w *writer) bool {
	c := w.fold.Claim().Owner
	switch {
	case s.fault.anyEpochIsMine:
		return c.Nonce == w.mine.Nonce
	case s.fault.nonceIgnored:
		return c.Epoch == w.mine.Epoch
	}
	return c == w.mine
}

func (s *schedule) send(w *writer, r Record) {
	s.ids++
	w.pending, w.id, w.want = r, s.ids, w.fold.Next()
	s.flying = append(s.flying, flight{r, w.name, s.ids})
}

func (s *schedule) step() {
	switch k := s.r.IntN(100); {
	case k < 30 && len(s.flying) > 0: // an append arrives, in any order, and may arrive again
		i := s.r.IntN(len(s.flying))
		a := s.flying[i]
		if s.r.IntN(12) != 0 {
			s.flying = slices.Delete(s.flying, i, i+1)
		}
		at := s.append(a.r)
		if s.r.IntN(5) != 0 {
			s.acks = append(s.acks, ack{a.from, a.id, at})
		}
	case k < 33 && len(s.flying) > 0: // an append is lost
		i := s.r.IntN(len(s.flying))
		s.flying = slices.Delete(s.flying, i, i+1)
	case k < 60 && len(s.acks) > 0:
		i := s.r.IntN(len(s.acks))
		a := s.acks[i]
		s.acks = slices.Delete(s.acks, i, i+1)
		for _, w := range s.writers {
			if w.alive && w.name == a.to && w.pending != nil && w.id == a.id {
				s.acked(w, int64(a.at))
			}
		}
	default:
		s.act(s.writers[s.r.IntN(len(s.writers))])
	}
}

func (s *schedule) acked(w *writer, at int64) {
	if at != w.want && !s.fault.noOffsetCheck || w.pending.Type() == "claim" {
		s.reconcile(w)
		return
	}
	// No other record lies between those read and this one: it counts.
	if b, ok := w.pending.(*Batch); ok {
		s.release(b)
	}
	if at == w.want {
		v := w.fold.Judge(at, s.see(w.fold, w.pending))
		if p, ok := w.pending.(*Pause); !v.Counts() && !v.Waiting && s.fault == (fault{}) && !(ok && w.fold.Resumed() == p.Seq) {
			s.fail("acknowledged where it was expected, and void: %v", v)
		}
		if _, ok := w.pending.(*Rollback); ok {
			w.back = -1
		}
	} else {
		s.read(w)
	}
	w.pending = nil
}

// reconcile reads the log and decides from it alone the outcome of the pending
// append.
func (s *schedule) reconcile(w *writer) {
	p := w.pending
	w.pending = nil
	s.read(w)
	if !s.owns(w) {
		w.live, w.mine, w.snap = false, Owner{}, nil // fenced, or not yet claimed
		return
	}
	w.live = true
	if w.back >= 0 && w.fold.IsAbandoned(w.back+1) { // its ROLLBACK is in the log
		w.back = -1
	}
	_, first := p.(*Genesis)
	if d, ok := behind(0, p); ok && w.fold.Seq() < d.seq || first && !w.fold.begun {
		s.send(w, p) // the same record: a copy may be in flight
	}
}

func (s *schedule) act(w *writer) {
	switch {
	case !w.alive: // a new run, from the beginning or from a snapshot that it knows of
		begin := int64(0)
		if kept := s.truth.Snapshots(); len(kept) > 0 && s.r.IntN(2) == 0 {
			begin = kept[s.r.IntN(min(2, len(kept)))].Manifest.Start.Offset
		}
		*w = writer{name: w.name + 1000, alive: true, fold: NewFold(begin, 2), back: -1}
		if w.versions = (Versions{1, 1}); s.r.IntN(4) == 0 {
			w.versions.Arithmetic = 2
		}
		if s.r.IntN(3) > 0 {
			w.topic = snapshot.TopicID{7}
		}
		s.read(w)
	case s.r.IntN(150) == 0:
		w.alive = false // kill -9
	case s.r.IntN(3) == 0: // paused
	case w.mine == (Owner{}) && s.r.IntN(12) != 0: // on standby
	case w.mine == (Owner{}):
		if s.read(w); !w.fold.Seeded() {
			return // no state to continue from at its beginning
		}
		var nonce snapshot.ID
		binary.LittleEndian.PutUint32(nonce[:], uint32(w.name))
		versions := w.versions
		if w.back = -1; s.r.IntN(10) == 0 {
			w.back = w.fold.Genesis().Seq
			if l := w.fold.ledger; len(l.entries) > 0 {
				if p, ok := behind(0, l.entries[s.r.IntN(len(l.entries))].Record); ok {
					w.back = p.seq
				}
			}
			if v, ok := w.fold.VersionsAt(w.back); ok {
				versions = v
			}
		} else if versions.Arithmetic < w.fold.Arithmetic() {
			return // refuses
		}
		w.mine = Owner{Epoch: w.fold.Claim().Epoch + 1, Nonce: nonce}
		s.send(w, &Claim{Owner: w.mine, Versions: versions, TopicID: w.topic})
	case w.pending != nil:
		if s.r.IntN(5) == 0 { // no acknowledgement for some time
			s.reconcile(w)
		}
	case !w.live:
		w.mine = Owner{}
	default:
		s.propose(w)
	}
}

// propose appends the next record: a BATCH or another one.
func (s *schedule) propose(w *writer) {
	l := w.fold.ledger
	if err := w.fold.Broken(); err != nil {
		s.fail("%v", err)
		return
	}
	if s.turns(w) {
		return
	}
	switch k := s.r.IntN(12); {
	case k == 10:
		s.send(w, s.aside(w))
	case k == 11 && s.r.IntN(3) == 0:
		s.send(w, s.decision(w))
	case k == 0:
		s.send(w, &Config{Owner: w.mine, Config: json.RawMessage(fmt.Sprint(s.ids))})
	case k == 1 && l.seq > l.released:
		s.send(w, &Released{Owner: w.mine, Seq: l.released + 1 + s.r.Int64N(l.seq-l.released)})
	case k < 6 && w.snap == nil && l.seq > 0:
		var id snapshot.ID
		binary.LittleEndian.PutUint64(id[:], s.r.Uint64())
		w.snap = &snapState{id, l.seq, l.chain}
	case k < 6 && w.snap != nil:
		const chunks = 2
		if n := len(l.pending.offsets); l.pending.id != w.snap.id || n < chunks {
			if l.pending.id != w.snap.id {
				n = 0
			}
			s.send(w, &Chunk{Owner: w.mine, Snapshot: w.snap.id, Index: n, Count: chunks, Data: []byte{byte(n)}})
			return
		}
		m := &Manifest{Snapshot: w.snap.id, Seq: w.snap.seq, Chain: w.snap.chain, Size: chunks, Chunks: chunks, ChunkSize: 1}
		w.snap = nil
		if err := w.fold.Finish(m); err != nil {
			s.fail("%v", err)
			return
		}
		s.send(w, m)
	default:
		s.send(w, nextBatch(w.fold, w.mine, s.r.Uint64()))
	}
}

// turns appends the records that a writer needs before it learns: a GENESIS, a
// ROLLBACK, or an UPGRADE to its own versions.
func (s *schedule) turns(w *writer) (sent bool) {
	l, have := w.fold.ledger, w.fold.Claim().Known()
	if w.back >= 0 {
		to := w.back
		chain, ok := w.fold.ChainAt(to)
		if v, _ := w.fold.VersionsAt(to); !ok || v != have { // another writer was first
			w.live, w.mine, w.back = false, Owner{}, -1
			return true
		}
		r := &Rollback{Owner: w.mine, Seq: w.fold.Highest() + 1 + s.r.Int64N(3), ToSeq: to, ToChain: chain}
		if s.fault.seqsAgain {
			r.Seq = max(to+1, l.highest)
			l.highest = 0
			s.truth.ledger.highest = 0
		}
		r.Chain = NextChain(w.fold.Chain(), r)
		s.send(w, r)
		return true
	}
	if l.seq == 0 && !l.begun && l.base.start.Offset == 0 && len(l.kept) == 0 && s.r.IntN(2) == 0 {
		s.send(w, &Genesis{Owner: w.mine, TopicID: l.origin.TopicID, Versions: have, Seq: s.r.Int64N(3)})
		return true
	}
	if have != l.origin.Versions && !s.fault.noUpgrade {
		s.send(w, chained(w.fold, &Upgrade{Versions: have}))
		return true
	}
	return false
}

// decision returns a decision other than a BATCH.
func (s *schedule) decision(w *writer) Record {
	if s.r.IntN(2) == 0 {
		return chained(w.fold, adoption())
	}
	return chained(w.fold, &Gap{Topic: "in", To: 1 + s.r.Int64N(9)})
}

// aside returns a record that is not a decision.
func (s *schedule) aside(w *writer) Record {
	switch p := w.fold.Paused(); {
	case p != nil:
		return &Resume{Owner: w.mine, Seq: p.Seq}
	case w.fold.Seq() > 0 && s.r.IntN(2) == 0:
		return &Pause{Owner: w.mine, Seq: w.fold.Seq(), Bad: 1, Of: 1}
	}
	return &Partitions{Owner: w.mine, Topic: "in", Count: 1 + s.r.Int32N(9)}
}

// asRead returns m as a reader with the planted fault reads it.
func (s *schedule) asRead(m *Manifest) *Manifest {
	c := *m
	if s.fault.startAtChunks {
		c.Start = Place{m.FirstChunk, m.Owner}
	}
	return &c
}

// readers compares readers that begin in the middle with one that has read the
// whole log.
func (s *schedule) readers() {
	begins := []int64{s.r.Int64N(int64(len(s.log)) + 1)}
	decided := make(map[int64]int)
	if err := s.truth.Broken(); err != nil {
		s.fail("%v", err)
	}
	for i, v := range s.verdicts {
		if p, ok := behind(0, v.Record); ok && v.Counts() {
			if at, twice := decided[p.seq]; twice {
				s.fail("seq %d is decided at %d and at %d", p.seq, at, i)
			}
			decided[p.seq] = i
		}
		if m, ok := v.Record.(*Manifest); ok && v.Counts() {
			begins = append(begins, s.asRead(m).Start.Offset)
		}
		if b, ok := v.Record.(*Batch); ok && v.Counts() {
			if c, ok := s.released[b.Seq]; ok && c != content(b) {
				s.fail("seq %d is released with one content, and in the log at %d with another", b.Seq, i)
			}
		}
	}
	for seq := range s.released {
		if seq > s.truth.Seq() {
			s.fail("seq %d is released and not in the log", seq)
		}
	}
	for i, begin := range begins {
		f := NewFold(begin, []int{2, 1 << 20}[i%2])
		for at := begin; at < int64(len(s.log)); at++ {
			r := s.log[at]
			if m, ok := r.(*Manifest); ok && !f.Seeded() {
				r = s.asRead(m)
			}
			if v := f.Judge(at, r); !v.Waiting && f.Seeded() && v.Counts() != s.verdicts[at].Counts() {
				s.fail("a reader from %d says of the record at %d: %v, one from the beginning: %v", begin, at, v, s.verdicts[at])
			}
		}
		if i%2 == 1 && !f.Seeded() && stands(s.truth, begin) {
			s.fail("a reader from %d, where a snapshot starts, never gets going", begin)
		}
		newest := func(f *Fold) []Stored { return f.Snapshots()[:min(1, len(f.Snapshots()))] }
		if f.Seeded() && (f.Claim().Owner != s.truth.Claim().Owner || f.Seq() != s.truth.Seq() || f.Chain() != s.truth.Chain() ||
			f.Released() != s.truth.Released() || !reflect.DeepEqual(newest(f), newest(s.truth))) {
			s.fail("a reader from %d ends otherwise than one from the beginning", begin)
		}
		if r, ok := f.Recover(0); ok {
			want, _ := s.truth.Recover(0)
			if begin > 0 {
				r.Config, want.Config = Config{}, Config{} // these manifests have no config
			}
			if !reflect.DeepEqual(r, want) {
				s.fail("a reader from %d recovers otherwise than one from the beginning", begin)
			}
		}
	}
}

// stands reports whether there is a snapshot from begin on that no ROLLBACK has
// taken back.
func stands(f *Fold, begin int64) bool {
	return slices.ContainsFunc(f.Snapshots(), func(s Stored) bool { return s.Manifest.Start.Offset >= begin })
}

func run(seed uint64, steps int, f fault) *schedule {
	s := &schedule{r: rand.New(rand.NewPCG(seed, 7)), fault: f, released: make(map[int64]uint64), truth: NewFold(0, 1<<20)}
	for i := range 3 {
		s.writers = append(s.writers, &writer{name: i + 1})
	}
	for i := 0; i < steps && s.wrong == ""; i++ {
		s.step()
	}
	s.readers()
	return s
}

// TestFencing runs random schedules. In each, every seq is released with only one
// content, the released seqs are those that the log has decided, and all readers
// agree, wherever they begin.
func TestFencing(t *testing.T) {
	schedules := 2000
	if testing.Short() {
		schedules = 300
	}
	first := rand.Uint64() >> 20
	var batches, claims, snaps, void, turns int
	for i := range schedules {
		seed := first + uint64(i)
		s := run(seed, 800, fault{})
		if s.wrong != "" {
			t.Fatalf("seed %d: %s", seed, s.wrong)
		}
		batches += int(s.truth.Seq())
		claims += int(s.truth.Claim().Epoch)
		snaps += s.snaps
		for _, v := range s.verdicts {
			if v.Void != "" {
				void++
			}
			if v.Counts() && (v.Type == "rollback" || v.Type == "upgrade") {
				turns++
			}
		}
	}
	t.Logf("%d schedules from seed %d: %d batches, %d claims, %d snapshots, %d void records, %d rollbacks and upgrades", schedules, first, batches, claims, snaps, void, turns)
	for name, n := range map[string]int{"batches": batches / 10, "claims": claims / 3, "snapshots": snaps, "void records": void / 5, "rollbacks and upgrades": turns} {
		if n < schedules {
			t.Errorf("the schedules have too few %s to show anything", name)
		}
	}
}

// TestFencingFindsFaults shows that the schedules detect a broken rule.
func TestFencingFindsFaults(t *testing.T) {
	for _, f := range []fault{
		{noOffsetCheck: true}, {anyOwner: true}, {nonceIgnored: true},
		{anyEpochIsMine: true}, {noSeqRule: true}, {startAtChunks: true},
		{seqsAgain: true}, {noUpgrade: true}, {seesNoRollback: true},
	} {
		const most = 3000
		seed := uint64(0)
		for ; seed < most; seed++ {
			if s := run(seed, 800, f); s.wrong != "" {
				t.Logf("%+v: seed %d: %s", f, seed, s.wrong)
				break
			}
		}
		if seed == most {
			t.Errorf("%+v: not found in %d schedules", f, most)
		}
	}
}
