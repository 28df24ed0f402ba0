package modellog

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

func withTables() *Batch {
	return &Batch{Owner: anyone, Seq: 7, Ranges: []Range{}, Tables: []TableChanges{
		{Table: "customers", TopicID: snapshot.TopicID{1}, Partition: 2, From: 3, To: 9, Rejected: 1, Rows: []TableRow{
			{Key: "a<b", Values: json.RawMessage(`["x & y",1.50,null]`)}, {Key: "gone"}, {Key: "c", Values: json.RawMessage(`[1]`)},
		}},
		{Table: "other", From: 0, To: 4},
	}}
}

// The log gives back the changes of tables byte for byte, with or without records beside them,
// and the chain covers all of them.
func TestTheChainCoversTables(t *testing.T) {
	b := withTables()
	b.Chain = NextChain(snapshot.Hash{}, b)
	key, value, err := Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parse(key, value)
	if err != nil || !reflect.DeepEqual(r, b) {
		t.Fatalf("%s is read as %+v, %v, want %+v", value, r, err, b)
	}
	if NextChain(snapshot.Hash{}, r) != b.Chain {
		t.Error("the chain of what was read is another")
	}
	for i, change := range []func(c []TableChanges) []TableChanges{
		func(c []TableChanges) []TableChanges { return c[:1] },
		func(c []TableChanges) []TableChanges { return []TableChanges{c[1], c[0]} },
		func(c []TableChanges) []TableChanges { c[0].Table = "customer"; return c },
		func(c []TableChanges) []TableChanges { c[0].TopicID[0]++; return c },
		func(c []TableChanges) []TableChanges { c[0].Partition++; return c },
		func(c []TableChanges) []TableChanges { c[0].From++; return c },
		func(c []TableChanges) []TableChanges { c[0].To++; return c },
		func(c []TableChanges) []TableChanges { c[0].Rejected++; return c },
		func(c []TableChanges) []TableChanges { c[0].Rows = c[0].Rows[1:]; return c },
		func(c []TableChanges) []TableChanges { c[0].Rows[1].Key = "gone!"; return c },
		func(c []TableChanges) []TableChanges { c[0].Rows[2].Values = json.RawMessage("[2]"); return c },
		func(c []TableChanges) []TableChanges { c[0].Rows[2].Values = nil; return c },
	} {
		other := withTables()
		if other.Tables = change(other.Tables); NextChain(snapshot.Hash{}, other) == b.Chain {
			t.Errorf("change %d is not covered", i)
		}
	}
}

func TestChangesOfTablesAreChecked(t *testing.T) {
	for i, c := range []TableChanges{{}, {Table: "t", From: 2, To: 1}, {Table: "t", From: -1}, {Table: "t", Partition: -1}, {Table: "t", Rejected: -1}, {Table: string(make([]byte, MaxName+1))}} {
		b := &Batch{Owner: anyone, Seq: 1, Tables: []TableChanges{c}}
		if b.check() == nil {
			t.Errorf("changes %d are accepted", i)
		}
	}
	if b := (&Batch{Owner: anyone, Seq: 1}); b.check() == nil {
		t.Error("a BATCH of nothing is accepted")
	}
}
