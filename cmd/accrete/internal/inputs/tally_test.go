package inputs

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
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
		tally.Add([]float64{float64(i%3) + 0.5, float64(i), float64(i) + 0.25, late}, nil)
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

// A text is one value of many columns: texts are counted, not the shares and the keys of their n-grams,
// and a missing text is missing.
func TestTextsAreCountedAsAWhole(t *testing.T) {
	var tally Tally
	columns, types := []string{"a"}, []string{"numeric"}
	for i := range schema.TextBuckets {
		columns, types = append(columns, fmt.Sprintf("note:%02d", i)), append(types, "text")
	}
	for i := range 3 * learner.TextKeys {
		columns, types = append(columns, fmt.Sprintf("note:w%02d", i)), append(types, "gram")
	}
	known := &schema.Schema{Columns: append(columns, "z"), Types: append(types, "numeric")}
	of, err := known.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		x := make([]float64, len(of))
		x[0], x[len(x)-1] = float64(i%3), float64(i%7)
		for j := 1; j < len(x)-1; j++ {
			if x[j] = float64(i + j); i%10 == 9 {
				x[j] = math.NaN()
			}
		}
		x[1] = min(x[1], 1) // the share of a bucket is the same in many texts
		tally.Add(x, of)
	}
	for i, want := range []Report{{Distinct: 3}, {Distinct: 90, Missing: 10}, {Distinct: 7}} {
		if got := tally.All(known, nil)[i]; got.Distinct != want.Distinct || got.Missing != want.Missing {
			t.Errorf("%s: %d distinct values, %d missing, want %d and %d", got.Name, got.Distinct, got.Missing, want.Distinct, want.Missing)
		}
	}
	if counted := tally.columns[5].distinct.len() + tally.columns[100].distinct.len(); counted > 0 {
		t.Errorf("%d values of parts of a text are counted", counted)
	}
}
