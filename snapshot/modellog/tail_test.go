package modellog

import (
	"reflect"
	"slices"
	"testing"
)

// tail opens the log of j like a reader that starts now, and returns the number
// of records that it read.
func (j *journal) tail(enough func(*Fold) bool) (f *Fold, read int) {
	j.t.Helper()
	err := Tail(0, int64(len(j.values)), func(begin, remember int64) (*Fold, error) {
		f = NewFold(begin, 3)
		f.Retain(remember)
		for i := begin; i < int64(len(j.values)); i++ {
			read++
			if _, err := f.Add(i, j.values[i][0], j.values[i][1]); err != nil {
				return nil, err
			}
		}
		return f, nil
	}, enough)
	if err != nil {
		j.t.Fatal(err)
	}
	return f, read
}

// However long the history is, a starting reader reads only its end, and has the
// same result as a reader of the whole log.
func TestTailIsTheEndOfTheWhole(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	const period = 50 // BATCHes between two snapshots
	for i := range 40 * period {
		j.counts(j.batch(uint64(i)))
		if i%period == period/2 {
			rs, m := j.snapshot(700)
			j.counts(rs...)
			j.counts(j.finish(m))
		}
		if i%(7*period) != 0 && i%97 != 0 {
			continue
		}
		for want := range 4 {
			if want > len(j.fold.Snapshots()) {
				continue
			}
			f, read := j.tail(func(f *Fold) bool { return len(f.Snapshots()) >= want })
			if f.Seq() != j.fold.Seq() || f.Chain() != j.fold.Chain() || f.Claim().Owner != j.owner() {
				t.Fatalf("of %d records %d: seq %d under %v, want %d under %v", len(j.values), want, f.Seq(), f.Claim().Owner, j.fold.Seq(), j.owner())
			}
			at := func(f *Fold) (all []int64) {
				for _, s := range f.Snapshots()[:want] {
					all = append(all, s.Offset)
				}
				return all
			}
			if want <= 2 && !slices.Equal(at(f), at(j.fold)) { // the journal's own fold keeps two
				t.Fatalf("snapshots %v, want %v", at(f), at(j.fold))
			}
			if most := 5 * max(64, (want+1)*period*2); read > most {
				t.Errorf("of %d records %d were read for %d snapshots, want at most %d", len(j.values), read, want, most)
			}
			if len(f.Snapshots()) < 3 && len(j.values) > 10*period && f.Trim() != 0 {
				t.Errorf("with %d of 3 snapshots known the log may be cut at %d", len(f.Snapshots()), f.Trim())
			}
		}
	}
	// A void MANIFEST does not delay the reader.
	old := j.owner()
	j.counts(claim(2, 2))
	rs, m := j.snapshot(700)
	j.counts(rs...)
	m = j.finish(m)
	m.Owner, m.Start.Offset = old, m.Start.Offset-1
	j.void(m, "the current claim")
	if f, _ := j.tail(func(f *Fold) bool { return len(f.Snapshots()) > 0 }); f.Seq() != j.fold.Seq() || f.Claim().Owner != j.owner() {
		t.Errorf("seq %d under %v, want %d under %v", f.Seq(), f.Claim().Owner, j.fold.Seq(), j.owner())
	}
}

// However far a ROLLBACK goes back, a starting reader finds the state of the log.
func TestTailFindsItsWayBehindARollback(t *testing.T) {
	for snapshots := range 8 {
		for _, to := range []int64{0, 3, 15, 41, 70} {
			j := newJournal(t)
			j.fold = NewFold(0, 1<<20)
			j.counts(claim(1, 1))
			for range 8 {
				j.batches(10)
				j.save()
			}
			j.takeOver(Versions{})
			j.counts(chained(j.fold, &Rollback{ToSeq: to}))
			for range snapshots {
				j.batches(3)
				j.save()
			}
			f, _ := j.tail(func(f *Fold) bool { return len(f.Snapshots()) >= 2 })
			want, _ := j.fold.Recover(0)
			if got, ok := f.Recover(0); !ok || !reflect.DeepEqual(got, want) || f.Chain() != j.fold.Chain() {
				t.Errorf("back to %d, then %d snapshots: recovery from seq %d, %v, want %d", to, snapshots, got.Seq, ok, want.Seq)
			}
		}
	}
}
