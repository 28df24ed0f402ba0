package modellog

import (
	"reflect"
	"testing"
)

// The columns that are gone are known to a fold that begins at a snapshot, and a ROLLBACK
// takes them back.
func TestAbsentColumnsFollowTheHistory(t *testing.T) {
	j := newJournal(t)
	j.counts(claim(1, 1))
	change := func(c Columns) {
		b := j.batch(uint64(len(j.values)))
		b.Columns = &c
		j.counts(b)
	}
	want := func(gone, fields []string) {
		t.Helper()
		if got := j.fold.AbsentColumns(); !reflect.DeepEqual(got, AbsentColumns{gone, fields}) {
			t.Errorf("after seq %d: %+v, want %v and %v", j.fold.Seq(), got, gone, fields)
		}
	}
	want(nil, nil)
	change(Columns{Gone: []string{"a", "b"}, Dropped: 3})
	change(Columns{Back: []string{"a"}, New: []string{"c"}})
	m := j.save()
	if m.Columns == nil || !reflect.DeepEqual(*m.Columns, AbsentColumns{[]string{"b"}, []string{"c"}}) {
		t.Errorf("the manifest has %+v", m.Columns)
	}
	to := j.fold.Seq()
	if got := FoldAt(m, 1).AbsentColumns(); !reflect.DeepEqual(got, *m.Columns) {
		t.Errorf("a fold that begins at the snapshot has %+v", got)
	}
	change(Columns{Back: []string{"b"}, Gone: []string{"d"}, New: []string{"c", "e"}})
	want([]string{"d"}, []string{"c", "e"})
	j.counts(chained(j.fold, &Rollback{ToSeq: to, By: "test"}))
	want([]string{"b"}, []string{"c"})
	change(Columns{Back: []string{"b"}})
	want(nil, []string{"c"})
}

func TestColumnsAreBounded(t *testing.T) {
	many := make([]string, MaxNames+1)
	long := []string{string(make([]byte, MaxName+1))}
	for name, c := range map[string]*Columns{"many": {Gone: many}, "long": {New: long}, "negative": {Dropped: -1}} {
		if c.check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	var s *AbsentColumns
	for i := range 2 * MaxNames {
		s = s.after(&Columns{New: []string{string(rune('a' + i))}})
	}
	if len(s.New) != MaxNames || s.check() != nil {
		t.Errorf("%d names are kept", len(s.New))
	}
}
