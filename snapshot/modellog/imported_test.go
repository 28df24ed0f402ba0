package modellog

import (
	"math"
	"testing"
)

// An import is in progress from its GENESIS until its IMPORTED, also for a reader that
// begins at a snapshot between them, and not for one that begins behind.
func TestAnImportIsInProgressUntilItsLastRecord(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	g := genesis(j.owner(), j.fold.Genesis().TopicID, 0)
	g.Import = 4
	j.counts(g)
	j.batches(2)
	early := j.save()
	end := func(seq int64) *Imported { return &Imported{Owner: j.owner(), Seq: seq, Chain: j.fold.Chain()} }
	j.void(end(2), "goes up to seq 4")
	j.void(end(4), "the last seq is 2")
	j.batches(2)
	late := j.save()
	if early.Genesis.Import != 4 || late.Genesis.Import != 4 || j.from(early.Start.Offset, 3).Genesis().Import != 4 {
		t.Errorf("manifests say %+v and %+v, want an import in progress", early.Genesis, late.Genesis)
	}
	forged := end(4)
	forged.Chain = hash("another")
	j.void(forged, "the last seq is 4")
	j.counts(end(4))
	j.void(end(4), "(0: none)")
	for _, f := range []*Fold{j.fold, j.from(0, 3), j.from(early.Start.Offset, 3), j.from(late.Start.Offset, 3)} {
		if o := f.Genesis(); o.Import != 0 || f.Seq() != 4 {
			t.Errorf("behind it: %+v, seq %d", o, f.Seq())
		}
	}
	if again := j.save(); again.Seq != 4 || again.Genesis.Import != 0 {
		t.Errorf("a snapshot at an imported seq says %+v", again.Genesis)
	}
}

func TestAFoldAtAManifestDecidesAsTheOriginal(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.batches(3)
	m := j.save()
	j.batches(2)
	j.takeOver(Versions{})
	j.batches(1)
	f := FoldAt(m, math.MaxInt)
	if f.Next() != m.Start.Offset || f.Seq() != 3 || f.Chain() != m.Chain {
		t.Fatalf("it begins at offset %d, seq %d", f.Next(), f.Seq())
	}
	for o := f.Next(); o < int64(len(j.values)); o++ {
		v, err := f.Add(o, j.values[o][0], j.values[o][1])
		if err != nil || !v.Counts() {
			t.Errorf("%v, %v", v, err)
		}
	}
	if f.Seq() != j.fold.Seq() || f.Chain() != j.fold.Chain() || f.Claim().Owner != j.fold.Claim().Owner || len(f.Snapshots()) != 1 {
		t.Errorf("seq %d, claim %v, %d snapshots", f.Seq(), f.Claim(), len(f.Snapshots()))
	}
}
