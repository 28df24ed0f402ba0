package modellog

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

// reference implements the rule exactly as FORMAT.md words it: it keeps the whole
// log and searches all of it each time.
type reference struct {
	log    []Record
	counts []bool
	broken bool
}

func (r *reference) counted() (all []Record) {
	for i, c := range r.counts {
		if c {
			all = append(all, r.log[i])
		}
	}
	return all
}

// last returns the last record of a type that counts.
func last[R Record](r *reference) (found R, at int) {
	for i := len(r.counts) - 1; i >= 0; i-- {
		if x, ok := r.log[i].(R); ok && r.counts[i] {
			return x, i
		}
	}
	return found, -1
}

func (r *reference) claim() Claim {
	if c, at := last[*Claim](r); at >= 0 {
		return *c
	}
	return Claim{}
}

func (r *reference) topic() (id snapshot.TopicID) {
	for _, x := range r.counted() {
		if c, ok := x.(*Claim); ok && id == (snapshot.TopicID{}) {
			id = c.TopicID
		}
	}
	return id
}

// place is a decision that counts and is not abandoned.
type place struct {
	at       int // in the log; -1: where seqs start
	seq      int64
	chain    snapshot.Hash
	versions Versions
	config   json.RawMessage
}

// history returns the start of the seqs, followed by the decisions.
func (r *reference) history() (all []place, config json.RawMessage) {
	all = []place{{at: -1, versions: Versions{1, 1}}}
	for i, x := range r.log {
		if !r.counts[i] {
			continue
		}
		p := place{at: i, versions: all[len(all)-1].versions, config: config}
		switch x := x.(type) {
		case *Genesis:
			all[0].seq, all[0].chain, all[0].versions = x.Seq, x.Chain, x.Versions
			continue
		case *Config:
			config = x.Config
			continue
		case *Upgrade:
			p.versions = x.Versions
		case *Rollback:
			first := slices.IndexFunc(all, func(p place) bool { return p.seq > x.ToSeq })
			if first >= 0 {
				config = all[first].config // in effect before it
				all = all[:first]
			}
			p.versions, p.config = all[len(all)-1].versions, config
		}
		if d, ok := behind(0, x); ok {
			p.seq, p.chain = d.seq, d.chain
			all = append(all, p)
		}
	}
	return all, config
}

func (r *reference) released() int64 {
	seq := int64(0)
	for _, x := range r.counted() {
		switch x := x.(type) {
		case *Genesis:
			seq = x.Seq
		case *Released:
			seq = max(seq, x.Seq)
		case *Manifest:
			seq = max(seq, x.Seq)
		case *Rollback:
			seq = min(seq, x.ToSeq)
		}
	}
	return seq
}

// used returns the highest seq of any decision under a current claim where the
// decision lies, or under a claim that is missing there.
func (r *reference) used() (high int64) {
	claim := Claim{}
	for i, x := range r.log {
		if c, ok := x.(*Claim); ok && r.counts[i] {
			claim = *c
		}
		if g, ok := x.(*Genesis); ok && r.counts[i] {
			high = max(high, g.Seq)
		}
		if d, ok := behind(0, x); ok && (x.owner() == claim.Owner || x.owner().Epoch > claim.Epoch) {
			high = max(high, d.seq)
		}
	}
	return high
}

// under returns the chunks that count of the snapshot in progress.
func (r *reference) under(challenger bool) (cs []*Chunk, at []int64) {
	for i, x := range r.log {
		if !r.counts[i] {
			continue
		}
		switch x := x.(type) {
		case *Claim:
			cs, at = nil, nil
		case *Manifest:
			if !challenger {
				cs, at = nil, nil
			}
		case *Challenger:
			if challenger {
				cs, at = nil, nil
			}
		case *Chunk:
			if x.Challenger != challenger {
				continue
			}
			if x.Index == 0 {
				cs, at = nil, nil
			}
			cs, at = append(cs, x), append(at, int64(i))
		}
	}
	return cs, at
}

// snapshots returns the seqs of the MANIFESTs that count and were not rolled
// back.
func (r *reference) snapshots() (seqs []int64) {
	for _, x := range r.counted() {
		switch x := x.(type) {
		case *Manifest:
			seqs = append(seqs, x.Seq)
		case *Rollback:
			seqs = slices.DeleteFunc(seqs, func(seq int64) bool { return seq > x.ToSeq })
		}
	}
	return seqs
}

// paused returns the seq of the PAUSE in effect, and that of the last RESUME.
func (r *reference) paused() (seq, ended int64) {
	for _, x := range r.counted() {
		switch x := x.(type) {
		case *Pause:
			seq = x.Seq
		case *Resume:
			seq, ended = 0, x.Seq
		}
		if _, ok := behind(0, x); ok {
			seq = 0
		}
	}
	return seq, ended
}

// add decides about x.
func (r *reference) add(x Record) (counts bool) {
	counts = r.decide(x)
	r.log, r.counts = append(r.log, x), append(r.counts, counts)
	if _, ok := x.(*Rollback); ok && counts {
		r.broken = false
	}
	return counts
}

func (r *reference) decide(x Record) bool {
	claim, topic, none := r.claim(), r.topic(), snapshot.TopicID{}
	if c, ok := x.(*Claim); ok {
		return c.Epoch > claim.Epoch && (c.TopicID == none || topic == none || c.TopicID == topic)
	}
	if x.owner().Epoch > claim.Epoch {
		r.broken = true
	}
	if _, ok := x.(*Rollback); x.owner() != claim.Owner || r.broken && !ok {
		return false
	}
	history, _ := r.history()
	now := history[len(history)-1]
	find := func(seq int64) *place {
		for i := range history {
			if history[i].seq == seq {
				return &history[i]
			}
		}
		return nil
	}
	switch x := x.(type) {
	case *Genesis:
		_, at := last[*Genesis](r)
		return at < 0 && now.at < 0 && len(r.snapshots()) == 0 && x.Versions == claim.Known() && x.TopicID == topic
	case *Rollback:
		to := find(x.ToSeq)
		return x.Seq > r.used() && x.Chain == NextChain(now.chain, x) && to != nil && to.chain == x.ToChain && to.versions == claim.Known()
	case *Released:
		return x.Seq <= now.seq
	case *Pause:
		_, ended := r.paused()
		return x.Seq == now.seq && x.Seq != ended
	case *Resume:
		seq, _ := r.paused()
		return seq == x.Seq
	case *Chunk:
		cs, _ := r.under(x.Challenger)
		if x.Index == 0 {
			return len(cs) == 0 || cs[0].Snapshot != x.Snapshot
		}
		return len(cs) == x.Index && cs[0].Snapshot == x.Snapshot && cs[0].Count == x.Count
	case *Manifest:
		return r.complete(x, false, history)
	case *Challenger:
		return r.complete(&x.Manifest, true, history)
	case *Config, *Partitions:
		return true
	}
	d, _ := behind(0, x)
	versions := now.versions
	if u, ok := x.(*Upgrade); ok {
		versions = u.Versions
	}
	if d.seq <= now.seq {
		p := find(d.seq)
		r.broken = p != nil && p.chain != d.chain
		return false
	}
	r.broken = d.seq != now.seq+1 || d.chain != NextChain(now.chain, x) || versions != claim.Known()
	return !r.broken
}

func (r *reference) complete(m *Manifest, challenger bool, history []place) bool {
	cs, at := r.under(challenger)
	if len(cs) == 0 || cs[0].Snapshot != m.Snapshot || len(cs) != m.Chunks || cs[0].Count != m.Chunks || at[0] != m.FirstChunk || m.Size != int64(m.Chunks) {
		return false
	}
	if seqs := r.snapshots(); !challenger && len(seqs) > 0 && m.Seq < seqs[len(seqs)-1] {
		return false
	}
	for _, p := range history {
		if p.seq != m.Seq {
			continue
		}
		start, said := Place{}, Versions{1, 1}
		if p.at >= 0 {
			start = Place{int64(p.at) + 1, r.log[p.at].owner()}
		}
		if m.Genesis != nil {
			said = m.Genesis.Versions
		}
		return p.chain == m.Chain && start == m.Start && said == p.versions
	}
	return false
}

// author writes records that a writer might write next, and often invalid ones.
type author struct {
	r   *rand.Rand
	f   *Fold
	log []Record
}

// next returns a record of any kind.
func (a *author) next() Record {
	if len(a.log) > 3 && a.r.IntN(8) == 0 { // a late copy
		return a.log[a.r.IntN(len(a.log))]
	}
	r := a.fresh()
	o := a.owner()
	reflect.ValueOf(r).Elem().FieldByName("Owner").Set(reflect.ValueOf(o))
	if a.r.IntN(40) == 0 { // change one field
		v := reflect.ValueOf(r).Elem()
		var fields []reflect.Value
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.Int64:
				fields = append(fields, f)
			case reflect.Array:
				fields = append(fields, f.Index(0))
			}
		}
		if len(fields) > 0 {
			switch f := fields[a.r.IntN(len(fields))]; {
			case f.CanInt():
				f.SetInt(max(1, f.Int()-2+a.r.Int64N(5)))
			default:
				f.SetUint(f.Uint() ^ 1)
			}
		}
	}
	return r
}

func (a *author) owner() Owner {
	o := a.f.Claim().Owner
	switch a.r.IntN(60) {
	case 0:
		o.Epoch++
	case 1, 2:
		o.Epoch = max(1, o.Epoch-1)
	case 3, 4:
		o.Nonce[0]++
	}
	return o
}

// fresh returns a record that would count from the owner in effect.
func (a *author) fresh() Record {
	v := func() Versions { return Versions{1 + a.r.IntN(2), 1} }
	seq := func() int64 { return a.f.Seq() - a.r.Int64N(4) + a.r.Int64N(2) }
	switch k := a.r.IntN(100); {
	case k < 8:
		c := &Claim{Owner: Owner{Epoch: a.f.Claim().Epoch + a.r.Int64N(3), Nonce: snapshot.ID{byte(a.r.Int())}}, Versions: v()}
		if a.r.IntN(4) == 0 {
			c.TopicID = snapshot.TopicID{byte(a.r.IntN(2))}
		}
		if a.r.IntN(3) > 0 {
			c.Versions, _ = a.f.VersionsAt(a.f.Seq())
		}
		return c
	case k < 11:
		return genesis(Owner{}, a.f.Genesis().TopicID, a.r.Int64N(5))
	case k < 35:
		return chained(a.f, &Batch{Ranges: []Range{{Topic: "in", To: 1 + a.r.Int64N(9)}}})
	case k < 38:
		return chained(a.f, &Gap{Topic: "in", To: 1 + a.r.Int64N(9)})
	case k < 41:
		return chained(a.f, adoption())
	case k < 45:
		return chained(a.f, &Upgrade{Versions: a.f.Claim().Known()})
	case k < 52:
		return chained(a.f, &Rollback{ToSeq: max(0, seq())})
	case k < 56:
		return &Released{Seq: max(1, seq())}
	case k < 60:
		return &Pause{Seq: max(1, a.f.Seq()-int64(a.r.IntN(8)/7)), Bad: 1, Of: 1}
	case k < 64:
		return &Resume{Seq: max(1, a.f.Seq())}
	case k < 66:
		return &Partitions{Topic: "in", Count: 1 + int32(a.r.IntN(9))}
	case k < 69:
		return &Config{Config: json.RawMessage{'0' + byte(a.r.IntN(10))}}
	default:
		return a.piece(k < 90)
	}
}

// piece returns a chunk, or the record that completes the present chunks.
func (a *author) piece(ours bool) Record {
	const chunks = 2
	l, p := a.f.get(), pending{}
	if p = l.pending; !ours {
		p = l.challenge
	}
	if p.id != (snapshot.ID{}) && len(p.offsets) == chunks && a.r.IntN(4) > 0 {
		seq := max(0, a.f.Seq()-a.r.Int64N(3))
		chain, _ := a.f.ChainAt(seq)
		m := &Manifest{Snapshot: p.id, Seq: seq, Chain: chain, Size: chunks, Chunks: chunks, ChunkSize: 1}
		if l.finish(m, p) != nil {
			m.FirstChunk = p.offsets[0]
		}
		if a.r.IntN(8) == 0 {
			m.Genesis = nil
		}
		if ours {
			return m
		}
		return &Challenger{Manifest: *m}
	}
	n := len(p.offsets)
	if p.id == (snapshot.ID{}) || n == chunks || a.r.IntN(12) == 0 {
		n = 0
		binary.LittleEndian.PutUint64(p.id[:], a.r.Uint64())
	}
	return &Chunk{Snapshot: p.id, Index: n, Count: chunks, Data: []byte{1}, Challenger: !ours}
}

var logs = flag.Int("logs", 400, "number of random logs of TestFoldIsTheRule")

// TestFoldIsTheRule compares the fold with the rule on random logs. Most of their
// records count, and some break the log.
func TestFoldIsTheRule(t *testing.T) {
	seen := map[string][2]int{}
	broken := 0
	for seed := range uint64(*logs) {
		a := &author{r: rand.New(rand.NewPCG(seed, 11)), f: NewFold(0, 1<<20)}
		ref := &reference{}
		for i := range int64(150) {
			r := a.next()
			if i == 0 {
				r = claim(1, 1)
			}
			a.log = append(a.log, r)
			v, want := a.f.Judge(i, r), ref.add(r)
			if v.Counts() != want || (a.f.Broken() != nil) != ref.broken {
				t.Fatalf("log %d: %v, broken: %v; the rule says that it counts: %v, broken: %v", seed, v, a.f.Broken(), want, ref.broken)
			}
			n := seen[r.Type()]
			if n[1]++; want {
				n[0], n[1] = n[0]+1, n[1]-1
			}
			seen[r.Type()] = n
			if ref.broken {
				broken++
			}
			history, config := ref.history()
			now := history[len(history)-1]
			pause, _ := ref.paused()
			if got := a.f.Paused(); got == nil && pause != 0 || got != nil && got.Seq != pause {
				t.Fatalf("log %d, %v: paused by %v, want %d", seed, v, got, pause)
			}
			var kept []int64
			for _, s := range a.f.Snapshots() {
				kept = slices.Insert(kept, 0, s.Manifest.Seq)
			}
			if got := a.f.Genesis(); a.f.Seq() != now.seq || a.f.Chain() != now.chain || got.Versions != now.versions || got.TopicID != ref.topic() ||
				got.Seq != history[0].seq || a.f.Released() != ref.released() || a.f.Claim().Owner != ref.claim().Owner || a.f.Highest() != ref.used() ||
				!slices.Equal(kept, ref.snapshots()) || string(a.f.Config().Config) != string(config) {
				t.Fatalf("log %d, %v: seq %d, released %d, %+v, highest %d, snapshots %v, config %s, want seq %d, released %d, %v, highest %d, snapshots %v, config %s",
					seed, v, a.f.Seq(), a.f.Released(), got, a.f.Highest(), kept, a.f.Config().Config, now.seq, ref.released(), now.versions, ref.used(), ref.snapshots(), config)
			}
			if rec, ok := a.f.Recover(0); ok {
				var at, want []int64
				for _, e := range rec.Entries {
					if p, ok := behind(e.Offset, e.Record); ok {
						at = append(at, p.seq)
					}
				}
				for _, p := range history[1:] {
					if p.seq > rec.Seq {
						want = append(want, p.seq)
					}
				}
				if !slices.Equal(at, want) {
					t.Fatalf("log %d, %v: recovers from seq %d with %v, want %v", seed, v, rec.Seq, at, want)
				}
			}
		}
	}
	t.Logf("%d logs, broken for %d records; counted and void: %v", *logs, broken, seen)
	for typ, n := range seen {
		if n[0] < *logs/20 || n[1] < *logs/20 {
			t.Errorf("%s: %d count and %d are void, too few to show anything", typ, n[0], n[1])
		}
	}
	if len(seen) != 15 {
		t.Errorf("%d types of records, want 15", len(seen))
	}
}
