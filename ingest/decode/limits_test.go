package decode

import (
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/leaf"
)

// Nulls in a list count for its limit as numbers do.
func TestNullsCountAsInputs(t *testing.T) {
	for _, missing := range []string{"zero", "impute"} {
		d := decoder(t, Config{Missing: missing, MaxColumns: 3})
		if _, err := d.Decode([]byte(`{"x":[null,null,null,null],"label":1}`)); err == nil || !strings.Contains(err.Error(), "more than 3 inputs") {
			t.Errorf("missing %s: %v", missing, err)
		}
		if _, err := d.Decode([]byte(`{"x":[1,null,null],"label":1}`)); err != nil {
			t.Errorf("missing %s: %v", missing, err)
		}
	}
}

// An infinite number is no key, which records of binary formats can have, and is named as what it is.
func TestAnInfiniteKeyIsRefused(t *testing.T) {
	d := decoder(t, Config{})
	for _, v := range []float64{math.Inf(1), math.Inf(-1)} {
		r := record{}
		if err := d.leaf(&leaf.Leaf{Role: leaf.Key, Kind: leaf.Number, Num: v}, &r); err != nil {
			t.Fatal(err)
		}
		if key, err := d.key(r.key); err == nil || !strings.Contains(err.Reason, "Inf, want text or a finite number") {
			t.Errorf("%v is the key %q, %v", v, key, err)
		}
		if _, err := d.weight(r.key); err == nil || !strings.Contains(err.Reason, "it is ") || !strings.Contains(err.Reason, "Inf: want") {
			t.Errorf("%v is a weight: %v", v, err)
		}
	}
}

// Names and labels of all text formats are valid UTF-8, or a schema could not be written as JSON.
func TestFilesAreUTF8(t *testing.T) {
	for name, text := range map[string]string{
		"a.vw":  "1 | a:1 b:2\n-1 | caf\xe9:1\n1 | a:2\n",
		"a.svm": "yes 1:1 2:2\nn\xe9 1:2\nyes 1:3\n",
	} {
		f := open(t, Config{}, name, text)
		if got := strings.Join(rowsOf(f), "\n"); !strings.Contains(got, "line 2") || !strings.Contains(got, "not valid UTF-8") || strings.Contains(got, "line 3") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// A comment may have commas, as predictions in one do, and an index beyond the columns is counted once.
func TestLIBSVMWithCommentsAndFurtherIndices(t *testing.T) {
	f := open(t, Config{Unknown: "ignore", Columns: []string{"0", "1"}}, "a.svm", "1 1:1 2:2 # {\"prediction\":\"1\",\"mixture\":\"labels\"}\n-1 1:2 3:5\n1 2:1\n")
	if f.Format() != "libsvm" {
		t.Fatalf("the format is %s", f.Format())
	}
	for range 3 {
		if _, err := f.Next(); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Record(nil); err != nil {
			t.Fatal(err)
		}
	}
	if n, field := f.d.Dropped(); n != 1 || field != "2" {
		t.Errorf("%d fields were ignored, the first is %q", n, field)
	}
}
