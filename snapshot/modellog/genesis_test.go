package modellog

import (
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

func genesis(o Owner, id snapshot.TopicID, seq int64) *Genesis {
	return &Genesis{Owner: o, Model: "m", TopicID: id, Seq: seq, Versions: Versions{1, 1}}
}

func TestGenesisCountsOnceAndFirst(t *testing.T) {
	id := snapshot.TopicID{7}
	j := newJournal(t)
	c := claim(1, 1)
	c.TopicID = id
	j.counts(c)
	j.void(genesis(j.owner(), snapshot.TopicID{8}, 40), "to a log in topic id")
	other := genesis(j.owner(), id, 40)
	other.Versions = Versions{2, 1}
	j.void(other, "it states arithmetic 2, decoder 1, its claim arithmetic 1, decoder 1")
	j.counts(genesis(j.owner(), id, 40))
	j.void(genesis(j.owner(), id, 50), "duplicate genesis")
	if o := j.fold.Genesis(); o.TopicID != id || o.Seq != 40 || j.fold.Seq() != 40 || j.fold.Released() != 40 {
		t.Errorf("genesis %+v, seq %d", o, j.fold.Seq())
	}
	if r, ok := j.fold.Recover(0); !ok || r.Snapshot != nil || r.Seq != 40 {
		t.Errorf("recovery behind seq %d, %v", r.Seq, ok)
	}
	j.batches(2)
	m := j.save()
	if m.Seq != 42 || m.Genesis.TopicID != id || m.Genesis.Seq != 40 {
		t.Errorf("manifest %+v, genesis %+v", m, m.Genesis)
	}
	if f := j.from(m.Start.Offset, 1); f.Genesis() != j.fold.Genesis() {
		t.Errorf("read from the snapshot: %+v, want %+v", f.Genesis(), j.fold.Genesis())
	}
	j.takeOver(Versions{})
	j.counts(chained(j.fold, &Rollback{ToSeq: 40})) // to the beginning
	j.batches(1)
}

// A log of the first release has no GENESIS. Its topic id is that of the first
// CLAIM that names one.
func TestGenesisOfAnOldLogIsImplied(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.batches(1)
	j.void(genesis(j.owner(), snapshot.TopicID{}, 5), "after the first decision")
	old := j.save()
	old.Genesis = nil
	j.values[len(j.values)-1][1] = mustEncode(t, old)
	j.fold = j.from(0, 2)
	if o := j.fold.Genesis(); o != (Origin{Versions: Versions{1, 1}}) {
		t.Errorf("genesis %+v", o)
	}
	c := claim(2, 2)
	c.TopicID = snapshot.TopicID{7}
	j.counts(c)
	stray := claim(3, 3)
	stray.TopicID = snapshot.TopicID{8}
	j.void(stray, "it claims the log in topic id")
	j.counts(claim(4, 4)) // again of the first release
	j.batches(1)
	m := j.save()
	for _, begin := range []int64{0, old.Start.Offset, m.Start.Offset} {
		if o := j.from(begin, 1).Genesis(); o.TopicID != c.TopicID {
			t.Errorf("read from %d: genesis %+v", begin, o)
		}
	}
}

// An imported history continues from a snapshot, without the earlier log.
func TestGenesisOfAnImport(t *testing.T) {
	from := newJournal(t)
	from.counts(claim(1, 1))
	from.batches(5)
	rs, m := from.snapshot(700)

	j := newJournal(t)
	g := genesis(claim(1, 1).Owner, snapshot.TopicID{}, 5)
	g.Chain = from.fold.Chain()
	j.counts(claim(1, 1), g)
	if _, ok := j.fold.Recover(0); ok {
		t.Error("recovers from the empty state, at which this history does not begin")
	}
	j.counts(rs...)
	j.counts(j.finish(m))
	j.batches(1)
	if r, ok := j.fold.Recover(0); !ok || r.Seq != 5 || r.Chain != g.Chain || len(r.Entries) != 1 {
		t.Errorf("recovery %+v, %v", r, ok)
	}
}

func TestPartitionsAreRemembered(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1), &Partitions{Owner: claim(1, 1).Owner, Topic: "in", Count: 3}, &Partitions{Owner: claim(1, 1).Owner, Topic: "in", Count: 5})
	if n, none := j.fold.PartitionsOf("in"), j.fold.PartitionsOf("out"); n != 5 || none != 0 {
		t.Errorf("%d and %d partitions", n, none)
	}
}

func mustEncode(t testing.TB, r Record) []byte {
	t.Helper()
	_, value, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
