package inputs

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
)

// Distinct whole numbers, which categories are too, are all counted in the first 10,000 rows, and
// of numbers with fractions the first 1,000.
func TestDistinctValues(t *testing.T) {
	names := []string{"few", "whole", "fractions", "late"}
	var tally Tally
	for i := range 12_000 {
		late := float64(i)
		if i >= 5000 {
			late += 0.5
		}
		tally.Add([]float64{float64(i%3) + 0.5, float64(i), float64(i) + 0.25, late})
	}
	known := &schema.Schema{Columns: names, Types: []string{"numeric", "numeric", "numeric", "numeric"}}
	all := tally.All(known, nil)
	if len(all) != len(names) {
		t.Fatalf("%d reports", len(all))
	}
	text := Text(all)
	for i, want := range []struct {
		distinct int
		text     string
	}{{3, "3 "}, {10_000, "10,000 "}, {1000, "1,000+"}, {5001, "5,001+"}} {
		if all[i].Distinct != want.distinct || !strings.Contains(strings.Split(text, "\n")[1+i], " "+want.text) {
			t.Errorf("%s: %d distinct values, want %d:\n%s", all[i].Name, all[i].Distinct, want.distinct, text)
		}
	}
}
