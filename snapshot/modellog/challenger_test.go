package modellog

import (
	"reflect"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

// challenger returns the chunks and the unfinished record of a challenger at the
// last seq.
func (j *journal) challenger(size int) ([]Record, *Challenger) {
	j.t.Helper()
	s := sample()
	s.Seq, s.Chain, s.Epoch, s.State.Resuming = j.fold.Seq(), j.fold.Chain(), j.owner().Epoch, nil
	chunks, c, err := SplitChallenger(encode(j.t, s), j.owner(), size)
	if err != nil {
		j.t.Fatal(err)
	}
	c.Refit = Refit{Rows: 100, FromSeq: 1, Loss: "square", Lambda: 1e-3, Tolerance: 1e-3}
	var rs []Record
	for _, c := range chunks {
		rs = append(rs, c)
	}
	return rs, c
}

func TestRuleOfChallengers(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.counts(j.batch(1))
	rs, m := j.snapshot(500)
	rivals, c := j.challenger(500)
	if len(rs) < 3 || len(rivals) < 3 {
		t.Fatalf("%d and %d chunks", len(rs), len(rivals))
	}
	if err := j.fold.FinishChallenger(c); err == nil {
		t.Error("finished before any chunk")
	}
	// A snapshot and a challenger are written at the same time, and neither
	// interrupts the other.
	j.counts(rs[0], rivals[0], rs[1])
	j.void(rivals[2], "chunk 2 is missing")
	j.counts(rivals[1:]...)
	j.counts(j.batch(2))
	j.counts(rs[2:]...)
	if err := j.fold.FinishChallenger(c); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct {
		reason string
		do     func(c *Challenger)
	}{
		{"contradicts its chunks", func(c *Challenger) { c.FirstChunk++ }},
		{"contradicts its chunks", func(c *Challenger) { c.Size-- }},
		{"another position", func(c *Challenger) { c.Start.Offset-- }},
		{"another position or chain", func(c *Challenger) { c.Chain[0]++ }},
		{"last seq is 2", func(c *Challenger) { c.Seq = 3 }},
		{"current claim", func(c *Challenger) { c.Nonce[2]++ }},
		{"incomplete", func(c *Challenger) { c.SHA256[0]++; c.Snapshot = snapshot.ID(c.SHA256[:16]) }},
	} {
		other := *c
		bad.do(&other)
		j.void(&other, bad.reason)
	}
	wrong := c.Manifest
	j.void(&wrong, "incomplete") // the chunks are not those of a snapshot
	before, _ := j.fold.Recover(0)
	j.counts(c)
	j.void(c, "incomplete")
	if after, _ := j.fold.Recover(0); !reflect.DeepEqual(after, before) || len(j.fold.Snapshots()) != 0 {
		t.Error("a challenger changes where a learner goes on")
	}
	if got := j.fold.Challengers(); len(got) != 1 || !reflect.DeepEqual(got[0].Challenger, c) || len(got[0].Chunks) != len(rivals) {
		t.Errorf("%+v", got)
	}
	j.counts(j.finish(m))

	late, old := j.challenger(700)
	j.counts(late...)
	j.counts(claim(2, 2)) // this abandons the snapshots in progress
	if err := j.fold.FinishChallenger(old); err == nil {
		t.Error("finished behind another claim")
	}
	j.void(old, "current claim is epoch 2")
	for range 3 {
		j.counts(j.batch(9))
		rs, c := j.challenger(800)
		j.counts(rs...)
		if err := j.fold.FinishChallenger(c); err != nil {
			t.Fatal(err)
		}
		j.counts(c)
	}
	got := j.fold.Challengers()
	if len(got) != 2 || got[0].Challenger.Seq != 5 || got[0].Challenger.Previous != got[1].Offset {
		t.Errorf("%+v", got)
	}
}

// TestChallengersOfALateReader begins a fold at every place of a log.
func TestChallengersOfALateReader(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	j.counts(j.batch(1))
	rs, m := j.snapshot(0)
	j.counts(rs...)
	j.counts(j.finish(m), j.batch(2))
	rivals, c := j.challenger(500)
	j.counts(rivals...)
	if err := j.fold.FinishChallenger(c); err != nil {
		t.Fatal(err)
	}
	j.counts(c, j.batch(3))
	rs, m = j.snapshot(0)
	j.counts(rs...)
	j.counts(j.finish(m), j.batch(4))
	for begin := range len(j.values) {
		f := NewFold(int64(begin), 2)
		for i := begin; i < len(j.values); i++ {
			if _, err := f.Add(int64(i), j.values[i][0], j.values[i][1]); err != nil {
				t.Fatal(err)
			}
		}
		if f.Seeded() && (f.Seq() != 4 || f.Chain() != j.fold.Chain()) {
			t.Errorf("from %d: seq %d", begin, f.Seq())
		}
		if n := len(f.Challengers()); n > 1 || n == 0 && begin <= int(m.Start.Offset) && begin <= 2 {
			t.Errorf("from %d: %d challengers", begin, n)
		}
	}
}

func TestEncodeRefusesARefitOfNothing(t *testing.T) {
	rs := records(t)
	for _, change := range []func(r *Refit){
		func(r *Refit) { r.Rows = 0 },
		func(r *Refit) { r.FromSeq = 18 },
		func(r *Refit) { r.Lambda = 0 },
		func(r *Refit) { r.Tolerance = -1 },
	} {
		c := *rs[len(rs)-1].(*Challenger)
		change(&c.Refit)
		if _, _, err := Encode(&c); err == nil {
			t.Errorf("no error for %+v", c.Refit)
		}
	}
}
