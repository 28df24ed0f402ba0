package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// mixedTail is the number of examples at the end of a stream of mixed records that have no
// label, so that the final model predicts them.
const mixedTail = 300

// mixedColumns are the columns of mixed records with their types, as --columns of fit.
const mixedColumns = "x0:numeric,x1:numeric,x2:numeric,x3:numeric,x4:numeric,x5:numeric,x6:numeric,x7:numeric,x8:numeric,x9:numeric," +
	"zip:category,kind:category,paid:boolean,from.city:category,size.0:numeric,size.1:numeric,rate:numeric,early:numeric," +
	"amount:numeric:normal,note:text,at:time:since,opened:time:trend,row:id"

// mixedInput returns the options of the input for mixed records.
func (w *world) mixedInput() string {
	if !w.mixed {
		return ""
	}
	var columns []string
	for c := range strings.SplitSeq(mixedColumns, ",") {
		name, is, _ := strings.Cut(c, ":")
		columns = append(columns, fmt.Sprintf("%s: %q", name, is))
	}
	time := ""
	if w.weighed {
		time = ", time: at"
	}
	return time + ", key: card, unknown: ignore, columns: {" + strings.Join(columns, ", ") + "}"
}

var mixedWords = strings.Fields("late early parcel lost damaged again thanks refund please never always box")

// mixed returns example i of n with the numbers x and the class label: categories, one of
// 10⁵ values and one of which new ones appear all the time, nested values, text, times, and
// numbers that are missing at times. The column early is in the first two thirds, and the
// field late in the rest. It returns nil for the 1 % of the examples that are garbage.
func mixed(x []float64, label string, i, n int) []byte {
	r := rand.New(rand.NewPCG(7, uint64(i)))
	if i > 10 && i < n-mixedTail && r.IntN(100) == 0 {
		return nil
	}
	v := fmt.Appendf(nil, `{"card":"c%d","features":{"row":"r%d","zip":"z%d","kind":"k%d","paid":%v,"at":%d,"opened":"2024-%02d-%02dT%02d:00:00Z","from":{"city":"b%d"},"size":[%.4g,%.4g]`,
		r.IntN(300), i, r.IntN(100_000), r.IntN(5+i/100), r.IntN(2) == 0, 1_700_000_000+97*(i-40*(i%7/6)), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(9), r.NormFloat64(), r.NormFloat64())
	for j, f := range x {
		v = fmt.Appendf(v, `,"x%d":%.5g`, j, f)
	}
	first := i == 0 // it has all columns
	if amount := r.ExpFloat64(); first || r.IntN(10) > 0 {
		v = fmt.Appendf(v, `,"amount":%.5g`, amount*amount*amount)
	}
	if first || r.IntN(20) > 0 {
		v = fmt.Appendf(v, `,"rate":%.5g`, r.NormFloat64())
	} else {
		v = append(v, `,"rate":null`...)
	}
	if first || r.IntN(8) > 0 {
		v = fmt.Appendf(v, `,"note":"%s %s, %s!"`, mixedWords[r.IntN(len(mixedWords))], mixedWords[r.IntN(len(mixedWords))], label)
	}
	if i < 2*n/3 {
		v = fmt.Appendf(v, `,"early":%d`, r.IntN(7))
	} else {
		v = fmt.Appendf(v, `,"late":%d`, r.IntN(7))
	}
	v = append(v, '}')
	if i < n-mixedTail {
		v = fmt.Appendf(v, `,"label":"%s"`, label)
	}
	return append(v, '}')
}

// garbage returns the value of an example that belongs in quarantine.
func garbage(i int) []byte {
	bad := []string{
		"", "{", "[1]", `{"features":{"rate":"high"},"label":"a"}`, `{"features":{"amount":true},"label":"a"}`,
		`{"features":{"note":7},"label":"a"}`, `{"features":{"at":"noon"},"label":"a"}`, `{"features":{"x0":1e400},"label":"a"}`,
		`{"features":{"rate":1,"rate":2},"label":"a"}`, `{"features":{"x0":{"a":1}},"label":"a"}`, "\xff{}", "null",
	}
	return []byte(bad[i%len(bad)])
}
