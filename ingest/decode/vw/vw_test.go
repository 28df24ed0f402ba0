package vw

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func reader() *Reader {
	return &Reader{Texts: true, Number: func(b []byte) (float64, bool, bool) {
		v, err := strconv.ParseFloat(string(b), 64)
		return v, true, err == nil
	}}
}

// show writes an example in one spelling.
func show(e Example) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q", e.Label, e.Weight, e.Tag)
	for _, f := range e.Features {
		if f.Text != nil {
			fmt.Fprintf(&b, " %s=%s", f.Name, f.Text)
		} else {
			fmt.Fprintf(&b, " %s:%v", f.Name, f.Number)
		}
	}
	return b.String()
}

// The lines of the wiki of Vowpal Wabbit, and what is special in others.
func TestLinesAreReadAsTheFormatSays(t *testing.T) {
	for line, want := range map[string]string{
		"0 | price:.23 sqft:.25 age:.05 2006":                 `"0" "" "" price:0.23 sqft:0.25 age:0.05 2006:1`,
		"1 2 'second_house | price:.18 sqft:.15 age:.35 1976": `"1" "2" "second_house" price:0.18 sqft:0.15 age:0.35 1976:1`,
		"0 1.0 third_house| price:.53":                        `"0" "1.0" "third_house" price:0.53`,
		"1 1.0 |MetricFeatures:3.28 height:1.5 length:2.0 |Says black with white |OtherFeatures NumberOfLegs:4.0 HasStripes": `"1" "1.0" "" MetricFeatures.height:4.92 MetricFeatures.length:6.56 Says.black:1 Says.with:1 Says.white:1 OtherFeatures.NumberOfLegs:4 OtherFeatures.HasStripes:1`,
		"|a x:1":              `"" "" "" a.x:1`,
		"1 |f city=paris b:2": `"1" "" "" f.city=paris f.b:2`,
		"ok |":                `"ok" "" ""`,
		"-1 | :2 :3":          `"-1" "" "" 0:2 1:3`,
		"1|f a":               `"" "" "1" f.a:1`,
	} {
		e, err := reader().Read([]byte(line))
		if got := show(e); err != nil || got != want {
			t.Errorf("%s\n got %s, %v\nwant %s", line, got, err, want)
		}
	}
	for _, line := range []string{"", "1 a:2", "1 2 3 'tag | a", "1 2 3 4 | a", "1:0.5:0.2 | a", "1 | a:x", "1 |f:x a", "1,2 | a"} {
		if e, err := reader().Read([]byte(line)); err == nil {
			t.Errorf("%q is read as %s", line, show(e))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("1 2 'second_house | price:.18 sqft:.15 |n:2 city=paris :3")
	f.Fuzz(func(t *testing.T, line string) {
		e, err := reader().Read([]byte(line))
		if err == nil && strings.Count(line, "|") == 0 {
			t.Errorf("%q is read as %s", line, show(e))
		}
	})
}
