package record

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
)

// A record in quarantine that its topic has rejected as too large is halved until it fits. It can
// still be read, and names the parts that were truncated, once, with the hash of the original.
func TestSmallerRecordsInQuarantineCanBeRead(t *testing.T) {
	in := ingest.Record{
		Offset: 7, Key: bytes.Repeat([]byte("k"), 40_000), Value: bytes.Repeat([]byte("v"), 500_000),
		Headers: []ingest.Header{{Key: "trace", Value: bytes.Repeat([]byte("h"), 30_000)}},
	}
	smaller := Smaller("quarantine")
	r := Quarantined("rows", 3, &in, errors.New("bad"), "", nil, 1<<20)
	var whole []ingest.Header // those of the first truncation
	for round := range 6 {
		before := r.Size()
		if !smaller("quarantine", &r) || r.Size() > before/2 {
			t.Fatalf("round %d: %d bytes become %d", round, before, r.Size())
		}
		back, err := ReadQuarantined(r)
		if err != nil || back.Topic != "rows" || back.Partition != 3 || back.Offset != 7 || back.Reason != "bad" {
			t.Fatalf("round %d: %+v, %v", round, back, err)
		}
		if !strings.HasSuffix(back.Incomplete, "truncated") {
			t.Errorf("round %d: incomplete because of %q", round, back.Incomplete)
		}
		notes := slices.DeleteFunc(slices.Clone(back.Original.Headers), func(h ingest.Header) bool {
			return !strings.HasPrefix(h.Key, "accrete.truncated.")
		})
		for _, h := range whole {
			if !slices.ContainsFunc(notes, func(n ingest.Header) bool { return n.Key == h.Key && bytes.Equal(n.Value, h.Value) }) {
				t.Errorf("round %d: the note %s %q is gone", round, h.Key, h.Value)
			}
		}
		slices.SortFunc(notes, func(a, b ingest.Header) int { return strings.Compare(a.Key, b.Key) })
		if twice := slices.CompactFunc(slices.Clone(notes), func(a, b ingest.Header) bool { return a.Key == b.Key }); len(twice) < len(notes) {
			t.Errorf("round %d: there are two notes about a part: %q", round, notes)
		}
		whole = notes
	}
}

// A record with more headers than can be read again, beside those of the quarantine, is
// not whole.
func TestMoreHeadersThanAreReadAgain(t *testing.T) {
	most := ingest.MaxHeaders - len(quarantineHeaders)
	for n, want := range map[int]string{most: "", most + 1: "headers truncated", ingest.MaxHeaders: "headers truncated", ingest.MaxHeaders + 1: "headers truncated"} {
		in := ingest.Record{Value: []byte("v"), Headers: slices.Repeat([]ingest.Header{{Key: "h"}}, n)}
		r := Quarantined("rows", 0, &in, errors.New("bad"), "", nil, 1<<20)
		r.Headers = r.Headers[:min(len(r.Headers), ingest.MaxHeaders+1)] // as it is fetched
		if back, err := ReadQuarantined(r); err != nil || back.Incomplete != want {
			t.Errorf("%d headers: incomplete because of %q, %v; want %q", n, back.Incomplete, err, want)
		}
	}
}
