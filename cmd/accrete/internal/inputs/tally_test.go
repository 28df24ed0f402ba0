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

// Of many columns, those that matter have a line, in the order of the file, and the rest are counted.
func TestMostImportantColumnsHaveALine(t *testing.T) {
	const columns = mostLines + 700
	all := make([]Report, columns)
	for j := range all {
		all[j] = Report{Name: fmt.Sprintf("c%03d", j), Type: "numeric", Becomes: "number"}
	}
	all[columns-1].Hint = "looks like a time"
	for _, test := range []struct {
		first, last, rest string
		importance        func(j int) float64
	}{
		{"c000", "c059", "and 700 columns which --json lists", nil},
		{"c700", "c759", "and 700 columns of less importance, which --json lists", func(j int) float64 { return float64(j) / columns }},
	} {
		for j := range all {
			if test.importance != nil {
				v := test.importance(j)
				all[j].Importance = &v
			}
		}
		lines := strings.Split(Text(all), "\n")
		if got := lines[1+mostLines]; !strings.HasPrefix(lines[1], test.first+" ") || !strings.HasPrefix(lines[mostLines], test.last+" ") || got != test.rest {
			t.Errorf("from %q to %q, then %q", lines[1], lines[mostLines], got)
		}
		if !strings.HasPrefix(lines[2+mostLines], all[columns-1].Name+" looks like a time") {
			t.Errorf("no hint in %q", lines[2+mostLines:])
		}
	}
	if lines := strings.Count(Text(all[:mostLines]), "\n"); lines != 1+mostLines {
		t.Errorf("%d lines of %d columns", lines, mostLines)
	}
}

// Numbers that increase may be times, and what is printed as configuration has the same notes as the report.
func TestTimesAreNoIdentifiers(t *testing.T) {
	for _, test := range []struct {
		of    string
		value func(i int) float64
		want  string
	}{
		{"seconds", func(i int) float64 { return 1_704_067_200 + 60*float64(i) }, "the type time"},
		{"milliseconds", func(i int) float64 { return 1_704_067_200_000 + 60*float64(i) }, "divide it by 1,000"},
		{"dates", func(i int) float64 { return 20_240_101 + float64(10000*(i/27)+i%27) }, "time:%Y%m%d"},
		{"row numbers", func(i int) float64 { return float64(i) }, "looks like an identifier"},
	} {
		var tally Tally
		for i := range 200 {
			tally.Add([]float64{test.value(i)}, nil)
		}
		known := &schema.Schema{Columns: []string{"a"}, Types: []string{"numeric"}}
		if text := tally.Declaration(known, nil); !strings.Contains(text, test.want) {
			t.Errorf("%s: want %q in\n%s", test.of, test.want, text)
		}
		if r := tally.All(known, nil)[0]; r.Identifier != (test.of == "row numbers") {
			t.Errorf("%s: %+v", test.of, r)
		}
	}
	tally := Tally{Hint: func(string, string) string { return "has dates" }}
	for i := range 200 {
		tally.Add([]float64{float64(i)}, []learner.ColumnType{learner.CategoryColumn})
	}
	if text := tally.Declaration(&schema.Schema{Columns: []string{"a"}, Types: []string{"category"}}, nil); !strings.HasSuffix(text, "a: category  # has dates\n") {
		t.Errorf("a column with a hint:\n%s", text)
	}
}
