package decode

import (
	"reflect"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/join"
)

// What a record that was rejected would have settled is not settled by the next label, before
// the first row and after it.
func TestLateLabelsSettleNothingOfRejectedRecords(t *testing.T) {
	d, err := New(Config{Label: "y", Weight: "w", Infer: true, Missing: "impute", Late: &join.Config{Topic: "labels", Key: "id", TTL: 1, Pending: 1}}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	rejectThenLabel := func(record string) {
		t.Helper()
		if _, err := d.Decode([]byte(record)); err == nil {
			t.Fatalf("%s is a row", record)
		}
		before := *d.Schema()
		if y, err := d.LateLabel([]byte(`{"id":"p1","y":"no"}`)); err != nil || y.Class != 0 {
			t.Fatalf("label %v, %v", y, err)
		}
		if s := d.Schema(); !reflect.DeepEqual(s.Columns, before.Columns) || !reflect.DeepEqual(s.Types, before.Types) {
			t.Errorf("after %s and a label: %+v, before %+v", record, *s, before)
		}
	}
	rejectThenLabel(`{"id":"p1","a":1,"b":2,"w":-1}`)
	if _, err := d.Decode([]byte(`{"id":"p1","a":1,"b":null}`)); err != nil {
		t.Fatal(err)
	}
	rejectThenLabel(`{"id":"p1","a":1,"b":"text","w":-1}`)
	if row, err := d.Decode([]byte(`{"id":"p1","a":1,"b":3}`)); err != nil || row.X[1] != 3 {
		t.Errorf("%v, %v", row, err)
	}
}

func TestSeveralLateLabelsHaveNoneForATimeout(t *testing.T) {
	late := &join.Config{Topic: "labels", Key: "id", TTL: 1, Pending: 1, Timeout: "0"}
	if _, err := (Config{Labels: []string{"a", "b"}, Late: late}).Effective(); err == nil || !strings.Contains(err.Error(), "on_timeout") {
		t.Error(err)
	}
}
