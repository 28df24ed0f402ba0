package pipeline

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

var malformed = flag.Int("malformed", 10_000, "records of each kind that TestMalformedRecordsAreAccountedFor makes")

var malformedAlgorithm = flag.String("malformed-algorithm", "newton", "algorithm that learns these records; ridge takes a third of the time")

// kind is the expected outcome for a record.
type kind int

const (
	isLearned kind = iota
	isPredicted
	isBad
)

// number returns a finite number in one of its many notations.
func number(r *rand.Rand) string {
	switch r.IntN(12) {
	case 0:
		return []string{"0", "-0", "1e30", "-1e30", "5e-324", "1E+3", "1e-999", "123456789012345678901234567890"}[r.IntN(8)]
	case 1:
		return fmt.Sprintf("%.40f", r.NormFloat64())
	}
	return fmt.Sprint(r.NormFloat64())
}

// malform returns the value of a record and its kind. Bad records are bad by
// construction, not by the verdict of a decoder.
func malform(r *rand.Rand, n int) (value []byte, headers int, k kind) {
	x, y := number(r), number(r)
	good := fmt.Sprintf(`{"features":{"x":%s,"y":%s},"label":"c%d"}`, x, y, n%4)
	with := func(x, label string) ([]byte, int, kind) {
		return fmt.Appendf(nil, `{"features":{"x":%s,"y":%s},"label":%s}`, x, y, label), 0, isBad
	}
	raw := func(s string) ([]byte, int, kind) { return []byte(s), 0, isBad }
	if n < 8 { // these define the columns and the four classes
		return []byte(good), 0, isLearned
	}
	switch r.IntN(60) {
	default:
		return []byte(good), 0, isLearned
	case 0:
		return fmt.Appendf(nil, `{"features":{"y":%s,"x":%s}}`, y, x), 0, isPredicted
	case 1:
		return fmt.Appendf(nil, " {\t\"label\" : null ,\r\n\"features\":{ \"x\":%s , \"\\u0079\":%s } } ", x, y), 0, isPredicted
	case 2:
		return raw(good[:r.IntN(len(good))])
	case 3:
		return raw(good + []string{"}", "{}", "x", "\x00", ","}[r.IntN(5)])
	case 4:
		at := 2 + r.IntN(7) // inside a name
		return []byte(good[:at] + "\xff" + good[at:]), 0, isBad
	case 5:
		return with([]string{"null", "true", "false", `"1"`, "[]", "{}", `""`}[r.IntN(7)], `"c0"`)
	case 6:
		return with([]string{"1e999", "-1e999", "NaN", "Infinity", "-Inf", "nan", "1e31", "-2e30"}[r.IntN(8)], `"c0"`)
	case 7:
		return with([]string{"01", "+1", ".5", "1.", "1e", "0x10", "1_000", "--1", "1e+", "- 1"}[r.IntN(10)], `"c0"`)
	case 8:
		return with(x, []string{`"c4"`, `"another"`, `""`, "[]", "{}", `["c0"]`, "3", `"` + strings.Repeat("c", 300) + `"`}[r.IntN(8)])
	case 9:
		return raw(fmt.Sprintf(`{"features":{"x":%s,"y":%s,"x":%s},"label":"c0"}`, x, y, x))
	case 10:
		return raw(fmt.Sprintf(`{"features":{"x":%s,"y":%s,"z":1},"label":"c0"}`, x, y))
	case 11:
		return raw(fmt.Sprintf(`{"features":{"x":%s},"label":"c0"}`, x))
	case 12:
		return raw(fmt.Sprintf(`{"features":{"x":%s,"y":%s},"label":"c0","label":"c1"}`, x, y))
	case 13:
		return raw(fmt.Sprintf(`{"features":{"x":%s,"y":%s},"label":"c0","more":1}`, x, y))
	case 14:
		return raw(fmt.Sprintf(`{"x":[%s,%s],"label":"c0"}`, x, y)) // the columns have names
	case 15:
		return raw([]string{"", "null", "[]", "1", `"x"`, "{}", "{", "\xef\xbb\xbf{}", "\x89ACK"}[r.IntN(9)])
	case 16:
		return nil, 0, isBad
	case 17:
		return []byte(good), ingest.MaxHeaders + 1 + r.IntN(3), isBad
	case 18:
		b := make([]byte, 1+r.IntN(200))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		b[0] |= 0x80 // never valid JSON
		return b, 0, isBad
	case 19:
		return with(x, []string{`"\ud800"`, `"\x41"`, `"\u12"`, "\"\n\"", `"`, `'c0'`}[r.IntN(6)])
	case 20:
		if r.IntN(200) > 0 { // the others are large and therefore rare
			return raw("{" + strings.Repeat("[", 10))
		}
		return raw([]string{strings.Repeat("[", 1<<19), `{"a":` + strings.Repeat(`{"a":`, 1<<17), good + strings.Repeat(" ", 1<<20)}[r.IntN(3)])
	}
}

// malformTyped is malform for records with columns of every type and missing values, of
// which a nested one is "z.w" and a text is "note".
func malformTyped(r *rand.Rand, n int) (value []byte, headers int, k kind) {
	good := fmt.Sprintf(`{"features":{"x":%s,"kind":"k%d","paid":%v,"at":"2024-01-%02dT03:04:05Z","z":{"w":[%s,2]},"note":"a b%d","long":%s},"label":"c%d"}`,
		number(r), r.IntN(n+5), r.IntN(2) == 0, 1+r.IntN(28), number(r), r.IntN(99), number(r), n%4)
	if n < 8 {
		return []byte(good), 0, isLearned
	}
	with := func(name string, values ...string) ([]byte, int, kind) {
		return fmt.Appendf(nil, `{"features":{%q:%s},"label":"c0"}`, name, values[r.IntN(len(values))]), 0, isBad
	}
	switch r.IntN(30) {
	default:
		return []byte(good), 0, isLearned
	case 0:
		return []byte(`{"features":{},"label":"c1"}`), 0, isLearned // all is missing
	case 1:
		return []byte(`{"features":{"x":null,"z":null,"note":null,"at":null},"label":null}`), 0, isPredicted
	case 2:
		return with("kind", "1", "true", "{}", "[]", `["a"]`, `"\ud800"`)
	case 3:
		return with("paid", "0", "1", `"true"`, "[]", "tru", "True")
	case 4:
		return with("at", "1700000000", `"noon"`, `"2024-13-01"`, `"2024-02-30T00:00:00Z"`, `""`, "true")
	case 5:
		return with("z", "1", `"w"`, "true", `{"w":1}`, `{"w":[1,2,3]}`, `{"v":1}`, `{"w":{"0":1,"0":2}}`, `[1]`)
	case 6:
		return with("note", "1", "true", "{}", `["a"]`, "NaN")
	case 7:
		return with("long", "1e999", `"1"`, "Infinity", "-Infinity", "null,\"long\":1", "1e31")
	case 8:
		return with("z.w.0", "1e31", `"1"`, "[]", "{}")
	case 9:
		return with("note:00", "1", "0.5")
	case 10:
		return []byte(good[:r.IntN(len(good))]), 0, isBad
	}
}

// TestMalformedRecordsAreAccountedFor decides and learns records of which a third are
// bad, in about thirty ways. Each record must have the expected outcome, and bad
// records must not affect the model. 100,000 numeric ones take about 2 s; the full test is
// -malformed 10000000 -malformed-algorithm ridge.
func TestMalformedRecordsAreAccountedFor(t *testing.T) {
	t.Run("numbers", func(t *testing.T) {
		accounts(t, decode.Config{Label: "label", Task: learner.Classification, MaxClasses: 4}, malform)
	})
	t.Run("typed", func(t *testing.T) {
		accounts(t, decode.Config{
			Label: "label", Task: learner.Classification, MaxClasses: 4, Infer: true, Missing: "impute", Depth: decode.MaxDepth,
			Types: map[string]string{"note": "text", "long": "numeric:normal"},
		}, malformTyped)
	})
}

// accounts is the test for the records that next returns.
func accounts(t *testing.T, in decode.Config, next func(*rand.Rand, int) ([]byte, int, kind)) {
	accountsWith(t, in, nil, *malformed, next)
}

// accountsWith is accounts for n records, whose schemas are those of a registry.
func accountsWith(t *testing.T, in decode.Config, schemas record.Schemas, n int, next func(*rand.Rand, int) ([]byte, int, kind)) {
	if testing.Short() {
		n = min(n, 10_000)
	}
	c := learner.Config{Kernel: "gaussian:1.5", MaxFeatures: 32, Algorithm: *malformedAlgorithm, Minibatch: 256}
	h, err := history.New("m", []byte(`{}`), c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := history.NewDecider(in, false, h.Schema)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	partition := &input.Partition{Topic: "in"}
	var want, got modellog.Counts
	var predictions, quarantined int
	for seq, from := int64(1), 0; from < n; seq++ {
		to := min(n, from+1+r.IntN(1000))
		sp := input.Span{In: partition, From: int64(from), To: int64(to)}
		kinds := make([]kind, 0, to-from)
		for i := from; i < to; i++ {
			value, headers, k := next(r, i)
			sp.Records = append(sp.Records, ingest.Record{Offset: int64(i), Value: value, Headers: make([]ingest.Header, headers)})
			kinds = append(kinds, k)
			switch k {
			case isLearned:
				want.Learned++
			case isPredicted:
				want.Predicted++
			case isBad:
				want.Quarantined++
			}
		}
		if err := d.Fetch(t.Context(), []input.Span{sp}, schemas, nil); err != nil {
			t.Fatal(err)
		}
		b := d.Decide([]input.Span{sp})
		for i, it := range b.Items {
			if (it.Err != nil) != (kinds[i] == isBad) {
				t.Fatalf("record %d, %.300q: got the error %v", it.Record.Offset, it.Record.Value, it.Err)
			}
		}
		got.Learned += b.Counts.Learned
		got.Predicted += b.Counts.Predicted
		got.Quarantined += b.Counts.Quarantined
		got.Skipped += b.Counts.Skipped
		out := h.Learn(seq, snapshot.Hash{}, b)
		predictions += len(out.Predictions)
		quarantined += len(out.Quarantined)
		for _, p := range out.Predictions {
			if bytes.Contains(p.Record.Value, []byte("NaN")) || bytes.Contains(p.Record.Value, []byte("Inf")) {
				t.Fatalf("a prediction is %s", p.Record.Value)
			}
		}
		from = to
	}
	if got != want || predictions != int(want.Learned+want.Predicted) || quarantined != int(want.Quarantined) {
		t.Errorf("%+v, %d predictions, %d in quarantine; want %+v", got, predictions, quarantined, want)
	}
	s := h.Learner.State()
	for _, a := range append(s.Serving, s.Resuming...) {
		if a.Name == "pending.raw" { // rows as they came, in which values may be missing
			continue
		}
		switch v := a.Data.(type) {
		case []float64:
			for i, x := range v {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%s[%d] of the state is %v", a.Name, i, x)
				}
			}
		case []float32:
			for i, x := range v {
				if x != x || math.IsInf(float64(x), 0) {
					t.Fatalf("%s[%d] of the state is %v", a.Name, i, x)
				}
			}
		}
	}
	t.Logf("%d records: %+v", n, got)
}
