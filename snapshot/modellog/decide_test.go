package modellog

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

// from returns a fold that reads the log of j from the given offset on.
func (j *journal) from(begin int64, keep int, options ...Option) *Fold {
	j.t.Helper()
	f := NewFold(begin, keep, options...)
	for i := begin; i < int64(len(j.values)); i++ {
		if _, err := f.Add(i, j.values[i][0], j.values[i][1]); err != nil {
			j.t.Fatal(err)
		}
	}
	return f
}

// chained returns d with the next seq and chain, under the current claim.
func chained[R Record](f *Fold, d R) R {
	switch r := Record(d).(type) {
	case *Batch:
		r.Owner, r.Seq = f.Claim().Owner, f.Seq()+1
		r.Chain = NextChain(f.Chain(), r)
	case *Gap:
		r.Owner, r.Seq = f.Claim().Owner, f.Seq()+1
		r.Chain = NextChain(f.Chain(), r)
	case *Adopt:
		r.Owner, r.Seq = f.Claim().Owner, f.Seq()+1
		r.Chain = NextChain(f.Chain(), r)
	case *Upgrade:
		r.Owner, r.Seq = f.Claim().Owner, f.Seq()+1
		r.Chain = NextChain(f.Chain(), r)
	case *Rollback:
		r.Owner, r.Seq = f.Claim().Owner, f.Highest()+1
		r.ToChain, _ = f.ChainAt(r.ToSeq)
		r.Chain = NextChain(f.Chain(), r)
	}
	return d
}

// takeOver appends a claim of another writer, which has to count.
func (j *journal) takeOver(v Versions) {
	j.t.Helper()
	c := claim(j.owner().Epoch+1, byte(j.owner().Epoch+1))
	c.Versions = v
	j.counts(c)
}

func (j *journal) batches(n int) {
	j.t.Helper()
	for range n {
		j.counts(j.batch(uint64(len(j.values))))
	}
}

func (j *journal) save() *Manifest {
	j.t.Helper()
	rs, m := j.snapshot(700)
	j.counts(rs...)
	j.counts(j.finish(m))
	return m
}

func adoption() *Adopt {
	return &Adopt{Inputs: []Adopted{{Topic: "in", NewID: snapshot.TopicID{9}, Partitions: []AdoptedPartition{{From: 3, Next: 1}}}}}
}

// A missing record of the owner of a log breaks the log. So does a record that
// the owner cannot have written after the existing ones. Only a ROLLBACK repairs
// the log.
func TestWhatIsMissingBreaksTheLog(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(j *journal) Record
		want string
	}{
		"a decision is missing": {func(j *journal) Record {
			b := j.batch(1)
			b.Seq += 3
			return b
		}, "batch 7 at offset 5 follows seq 3: seqs 4 to 6 are missing before it"},
		"another history": {func(j *journal) Record {
			b := j.batch(1)
			b.Chain[0]++
			return b
		}, "batch 4 at offset 5 does not continue seq 3: its chain is"},
		"changed": {func(j *journal) Record {
			b := j.batch(1)
			b.Ranges[0].Digest++
			return b
		}, "does not continue seq 3"},
		"twice": {func(j *journal) Record {
			b := *j.fold.entries[1].Record.(*Batch)
			b.Chain[7]++
			return &b
		}, "batch 2 at offset 5 has chain"},
		"its claim is missing": {func(j *journal) Record {
			b := j.batch(1)
			b.Owner = claim(2, 9).Owner
			return b
		}, "batch at offset 5 was written in epoch 2, whose CLAIM is missing: the current epoch is 1"},
		"a gap too late":    {func(j *journal) Record { return &Gap{Owner: j.owner(), Seq: 5, Topic: "in", To: 1} }, "seqs 4 to 4 are missing"},
		"an adoption":       {func(j *journal) Record { a := chained(j.fold, adoption()); a.Inputs[0].NewID[0]++; return a }, "does not continue"},
		"another program's": {func(j *journal) Record { return chained(j.fold, &Upgrade{Versions: Versions{2, 1}}) }, "an UPGRADE record is missing"},
		"of another program": {func(j *journal) Record {
			j.takeOver(Versions{2, 1})
			return j.batch(1)
		}, "batch 4 at offset 6 was decided with arithmetic 2, decoder 1, but arithmetic 1, decoder 1 is in effect: an UPGRADE record is missing"},
	} {
		j := newJournal(t)
		j.counts(claim(1, 1))
		j.batches(3)
		j.counts(&Released{Owner: j.owner(), Seq: 2})
		if err := j.fold.Broken(); err != nil {
			t.Fatal(err)
		}
		j.void(c.do(j), c.want)
		err := j.fold.Broken()
		if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		for _, r := range []Record{j.batch(7), &Released{Owner: j.owner(), Seq: 1}, &Config{Owner: j.owner(), Config: json.RawMessage(`1`)}} {
			j.void(r, err.Error())
		}
		j.takeOver(Versions{})
		j.void(j.batch(8), err.Error()) // a claim does not repair it either
		if f := j.from(0, 1); f.Broken() == nil || f.Broken().Error() != err.Error() {
			t.Errorf("%s: who reads it later finds %v, want %v", name, f.Broken(), err)
		}
		used := chained(j.fold, &Rollback{ToSeq: 3})
		used.Seq = j.fold.Highest()
		used.Chain = NextChain(j.fold.Chain(), used)
		if j.fold.Highest() > 3 {
			j.void(used, "are used")
		}
		j.counts(chained(j.fold, &Rollback{ToSeq: 3}))
		j.batches(2)
		if err := j.fold.Broken(); err != nil {
			t.Errorf("%s: after the rollback: %v", name, err)
		}
	}
}

func TestAMissingRecordBreaksTheLog(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.batches(3)
	m := j.save()
	j.batches(3)
	end := int64(len(j.values))
	for missing := int64(1); missing < end-1; missing++ {
		for _, begin := range []int64{0, m.Start.Offset} {
			f, skips := NewFold(begin, 1), NewFold(begin, 1)
			for i := begin; i < end; i++ {
				if i == missing {
					skips.Skip(missing + 1)
					continue
				}
				f.Add(i, j.values[i][0], j.values[i][1])
				skips.Add(i, j.values[i][0], j.values[i][1])
			}
			err := f.Broken()
			if begin <= missing && (!errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "are missing")) || begin > missing && err != nil {
				t.Errorf("read from %d with offset %d missing: %v", begin, missing, err)
			}
			if b := skips.Broken(); b != nil && strings.Contains(b.Error(), "offsets") {
				t.Errorf("read from %d with a marker at %d: %v", begin, missing, b)
			}
		}
	}
}

// A reader that begins in the middle detects a break, before and after it has a
// snapshot to continue from, until a ROLLBACK.
func TestABreakIsSeenFromTheMiddle(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.batches(30)
	rs, m := j.snapshot(700)
	j.batches(2)
	read := func(missing int64) *Fold {
		f := NewFold(5, 1)
		for i := int64(5); i < int64(len(j.values)); i++ {
			if i != missing {
				f.Add(i, j.values[i][0], j.values[i][1])
			}
		}
		return f
	}
	if f := read(9); f.Seeded() || !errors.Is(f.Broken(), ErrBroken) {
		t.Errorf("before there is a snapshot: %v", f.Broken())
	}
	whole := len(j.values)
	j.counts(rs...)
	j.counts(j.finish(m))
	for _, missing := range []int64{9, m.Start.Offset + 1} {
		if f := read(missing); !errors.Is(f.Broken(), ErrBroken) {
			t.Errorf("with offset %d missing, and a snapshot of seq %d at %d: %v", missing, m.Seq, m.Start.Offset, f.Broken())
		}
	}
	cut := *j
	cut.values = slices.Delete(slices.Clone(j.values), int(m.Start.Offset), int(m.Start.Offset)+1)
	if f := cut.from(5, 1); !errors.Is(f.Broken(), ErrBroken) {
		t.Errorf("with a decision lost behind the snapshot of seq %d: %v", m.Seq, f.Broken())
	}
	j.values = j.values[:whole]
	j.fold = j.from(0, 2)
	j.takeOver(Versions{})
	j.counts(chained(j.fold, &Rollback{ToSeq: 29}))
	j.batches(1)
	if f := read(9); f.Broken() != nil {
		t.Errorf("behind the rollback: %v", f.Broken())
	}
	j.save()
	if f := read(9); !f.Seeded() || f.Broken() != nil || f.Seq() != j.fold.Seq() {
		t.Errorf("behind the rollback, with a snapshot: at seq %d, %v", f.Seq(), f.Broken())
	}
}

// A late copy of any decision is void and breaks nothing.
func TestLateCopiesAreVoid(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.batches(3)
	j.counts(chained(j.fold, adoption()))
	j.counts(chained(j.fold, &Gap{Topic: "in", To: 1}))
	j.counts(chained(j.fold, &Rollback{ToSeq: 2}))
	j.takeOver(Versions{2, 1})
	j.counts(chained(j.fold, &Upgrade{Versions: Versions{2, 1}}))
	j.batches(1)
	for _, kv := range slices.Clone(j.values) {
		r, err := Parse(kv[0], kv[1])
		if err != nil {
			t.Fatal(err)
		}
		if void := j.add(r); void == "" {
			t.Errorf("a copy of %v counts", r)
		}
	}
	if err := j.fold.Broken(); err != nil {
		t.Error(err)
	}
}

func TestRollbackTakesTheHistoryBack(t *testing.T) {
	j := newJournal(t)
	j.fold = NewFold(0, 9)
	j.counts(claim(1, 1), &Config{Owner: claim(1, 1).Owner, Config: json.RawMessage(`1`)})
	j.batches(2)
	first := j.save()
	j.batches(2)
	j.counts(&Config{Owner: j.owner(), Config: json.RawMessage(`2`)})
	j.batches(1)
	j.counts(&Released{Owner: j.owner(), Seq: 4})
	j.save()
	rivals, c := j.challenger(700)
	j.counts(rivals...)
	if err := j.fold.FinishChallenger(c); err != nil {
		t.Fatal(err)
	}
	j.counts(c)
	chain, _ := j.fold.ChainAt(3)

	j.takeOver(Versions{})
	r := &Rollback{ToSeq: 3}
	for _, bad := range []struct {
		want string
		do   func(r *Rollback)
	}{
		{"seqs up to 5 are used", func(r *Rollback) { r.Seq = 5; r.ToSeq = 3 }},
		{"its chain is", func(r *Rollback) { r.Seq = 6; r.Chain[0]++ }},
		{"there is no seq 6", func(r *Rollback) { r.ToSeq = 6; r.Seq = 7; r.Chain = NextChain(j.fold.Chain(), r) }},
		{"seq 3 has chain", func(r *Rollback) { r.Seq = 9; r.ToChain[0]++; r.Chain = NextChain(j.fold.Chain(), r) }},
	} {
		c := *chained(j.fold, r)
		bad.do(&c)
		j.void(&c, bad.want)
	}
	back := chained(j.fold, r)
	back.Seq = 10 // the log has lost some seqs, too
	back.Chain = NextChain(j.fold.Chain(), back)
	j.counts(back)
	want := []Abandoned{{4, 9, int64(len(j.values) - 1), "", ""}}
	f := j.fold
	if f.Seq() != 10 || f.Chain() != back.Chain || f.Released() != 3 || !slices.Equal(f.Abandoned(), want) || len(f.Snapshots()) != 1 ||
		f.Snapshots()[0].Manifest.Seq != 2 || len(f.Challengers()) != 0 || string(f.Config().Config) != `1` {
		t.Fatalf("seq %d, released %d, abandoned %v, snapshots %v, challengers %v, config %s", f.Seq(), f.Released(), f.Abandoned(), f.Snapshots(), f.Challengers(), f.Config().Config)
	}
	for seq, is := range map[int64]bool{3: false, 4: true, 9: true, 10: false} {
		if _, known := f.ChainAt(seq); f.IsAbandoned(seq) != is || known == is {
			t.Errorf("seq %d: abandoned %v, known %v", seq, f.IsAbandoned(seq), known)
		}
	}
	if got, _ := f.ChainAt(3); got != chain {
		t.Error("the chain of seq 3 is another one")
	}
	j.batches(1)
	recovery, ok := f.Recover(0)
	var types []string
	for _, e := range recovery.Entries {
		types = append(types, e.Record.Type())
	}
	if !ok || recovery.Seq != 2 || recovery.Chain != first.Chain || !slices.Equal(types, []string{"batch", "rollback", "batch"}) {
		t.Errorf("recovery from seq %d of %v, %v", recovery.Seq, types, ok)
	}
	for _, begin := range []int64{0, first.Start.Offset} {
		if got, _ := j.from(begin, 2).Recover(0); !reflect.DeepEqual(got, recovery) {
			t.Errorf("read from %d: recovery %+v, want %+v", begin, got, recovery)
		}
	}
	m := j.save()
	if m.Previous != f.Snapshots()[1].Offset || m.Start.Offset == 0 {
		t.Errorf("manifest behind a rollback: %+v", m)
	}
	// Back to an abandoned seq, to the ROLLBACK itself, and to before it.
	j.takeOver(Versions{})
	j.void(chained(f, &Rollback{ToSeq: 7}), "there is no seq 7")
	j.counts(chained(f, &Rollback{ToSeq: 10}))
	j.counts(chained(f, &Rollback{ToSeq: 2}))
	if got := f.Abandoned(); len(got) != 1 || got[0].From != 3 || got[0].To != 13 {
		t.Errorf("abandoned %v, want 3 to 13", got)
	}
}

// A reader that does not remember the target of a ROLLBACK begins again further
// back, or with the next snapshot.
func TestRollbackToBeforeWhatIsRemembered(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.batches(4)
	old := j.save()
	j.batches(40)
	m := j.save()
	j.batches(3)
	late, whole := NewFold(m.Start.Offset, 1), NewFold(0, 9)
	follow := func() {
		for _, f := range []*Fold{late, whole} {
			for i := f.Next(); i < int64(len(j.values)); i++ {
				f.Add(i, j.values[i][0], j.values[i][1])
			}
		}
	}
	follow()
	if !late.Seeded() || late.Seq() != 47 {
		t.Fatalf("at seq %d", late.Seq())
	}
	j.fold = whole // the journal's own fold has forgotten it, too
	j.takeOver(Versions{})
	j.counts(chained(j.fold, &Rollback{ToSeq: old.Seq + 1}))
	j.batches(3)
	follow()
	if late.Seeded() || late.Broken() != nil {
		t.Errorf("who cannot know where the log stands is at seq %d, broken: %v", late.Seq(), late.Broken())
	}
	f, _ := j.tail(func(f *Fold) bool { return len(f.Snapshots()) > 0 })
	if f.Seq() != j.fold.Seq() || f.Chain() != j.fold.Chain() || f.Claim().Owner != j.owner() || f.Snapshots()[0].Manifest.Seq != old.Seq {
		t.Errorf("from the end: seq %d, want %d", f.Seq(), j.fold.Seq())
	}
	j.save()
	j.batches(1)
	follow()
	if !late.Seeded() || late.Seq() != j.fold.Seq() || late.Chain() != j.fold.Chain() {
		t.Errorf("at seq %d, want %d", late.Seq(), j.fold.Seq())
	}
}

func TestUpgradesTakeEffectFromTheirPlaceOn(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.batches(2)
	one := j.save()
	j.takeOver(Versions{2, 3})
	j.counts(chained(j.fold, &Upgrade{Versions: Versions{2, 3}}))
	j.batches(2)
	two := j.save()
	if one.Genesis.Versions != (Versions{1, 1}) || two.Genesis.Versions != (Versions{2, 3}) {
		t.Errorf("manifests of %v and %v", one.Genesis, two.Genesis)
	}
	for _, begin := range []int64{0, one.Start.Offset, two.Start.Offset} {
		f := j.from(begin, 2)
		if f.Arithmetic() != 2 || f.Decoder() != 3 || f.Broken() != nil {
			t.Errorf("read from %d: arithmetic %d, decoder %d, %v", begin, f.Arithmetic(), f.Decoder(), f.Broken())
		}
		if r, ok := f.Recover(0); !ok || r.Versions != (Versions{2, 3}) {
			t.Errorf("read from %d: recovery under %v", begin, r.Versions)
		}
	}
	if v, ok := j.fold.VersionsAt(2); !ok || v != (Versions{1, 1}) {
		t.Errorf("as of seq 2: %v", v)
	}
	j.void(chained(j.fold, &Rollback{ToSeq: 2}), "from seq 2 on arithmetic 1, decoder 1 is in effect")
	j.takeOver(Versions{}) // versions 1 and 1
	j.counts(chained(j.fold, &Rollback{ToSeq: 2}))
	j.batches(1)
	if f := j.from(0, 2); f.Arithmetic() != 1 || f.Decoder() != 1 || f.Broken() != nil {
		t.Errorf("rolled back: arithmetic %d, decoder %d, %v", f.Arithmetic(), f.Decoder(), f.Broken())
	}
}
