package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
)

var small = learner.Config{MaxFeatures: 16, BlockSize: 16, Minibatch: 50, Kernel: "gaussian:2", Algorithm: "cdsg"}

var renaming = decode.Config{Label: "label", Infer: true, Missing: "impute", Adopt: true, Renames: true}

// streams are generated, and none on which leastGain was chosen. Their labels depend on x0.
var streams = []struct {
	name    string
	columns int
	label   func(r *rand.Rand, x []float64) string
}{
	{"line", 3, func(r *rand.Rand, x []float64) string {
		return fmt.Sprint(x[0] - x[1] + 0.3*r.NormFloat64())
	}},
	{"logistic", 4, func(r *rand.Rand, x []float64) string {
		return fmt.Sprintf(`"%v"`, 1/(1+math.Exp(x[1]-3*x[0])) > r.Float64())
	}},
	{"wave", 3, func(r *rand.Rand, x []float64) string {
		return fmt.Sprint(math.Sin(2*x[0]) + x[1]*x[1]/2 + 0.3*r.NormFloat64())
	}},
}

// recordsOf returns n records of a stream: from record at on, the value of x0 is what names says
// by name, given x0 and noise of the same distribution.
func recordsOf(columns int, label func(r *rand.Rand, x []float64) string, n, at int, names func(x, noise float64) string) (out []string) {
	r := rand.New(rand.NewPCG(25, 26))
	for i := range n {
		x := make([]float64, columns)
		fields := []string{}
		for j := range x {
			x[j] = r.NormFloat64()
			if j > 0 || i < at {
				fields = append(fields, fmt.Sprintf(`"x%d":%v`, j, x[j]))
			}
		}
		y := label(r, x)
		if noise := r.NormFloat64(); i >= at {
			fields = append(fields, names(x[0], noise))
		}
		out = append(out, fmt.Sprintf(`{%s,"label":%s}`, strings.Join(fields, ","), y))
	}
	return out
}

// learned learns records in BATCHes of a size, and returns the loss of each prediction, and the
// History.
func learned(t *testing.T, records []string, size int) (all []float64, h *History) {
	t.Helper()
	return learnedBy(t, small, records, size)
}

func learnedBy(t *testing.T, c learner.Config, records []string, size int) (all []float64, h *History) {
	t.Helper()
	h, err := New("m", nil, c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDecider(renaming, false, h.Schema)
	if err != nil {
		t.Fatal(err)
	}
	h.Witness = func(p Predicted) { all = append(all, p.Loss) }
	in := new(input.Partition)
	for from := 0; from < len(records); from += size {
		to := min(from+size, len(records))
		var rs []ingest.Record
		for i := from; i < to; i++ {
			rs = append(rs, ingest.Record{Offset: int64(i), Value: []byte(records[i])})
		}
		h.Learn(int64(from), [32]byte{}, d.Decide([]input.Span{{In: in, From: int64(from), To: int64(to), Records: rs}}))
	}
	return all, h
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

// Two hundred rows after a column was renamed, the losses are at most a tenth more than without
// that, on the same rows and than before, and until then they were more.
func TestARenamedColumnCostsTwoHundredRows(t *testing.T) {
	const at, n = 1100, 1700
	for _, s := range streams {
		t.Run(s.name, func(t *testing.T) {
			under := func(name string) func(x, noise float64) string {
				return func(x, _ float64) string { return fmt.Sprintf("%q:%v", name, x) }
			}
			got, h := learned(t, recordsOf(s.columns, s.label, n, at, under("renamed")), 100)
			want, _ := learned(t, recordsOf(s.columns, s.label, n, at, under("x0")), 100)
			if a := h.served().Aliases; len(a) != 1 || a[0].Column != "x0" || a[0].Field != "renamed" || a[0].Step == 0 {
				t.Fatalf("aliases %+v, want x0 as renamed", a)
			}
			if !slices.Equal(got[:at], want[:at]) {
				t.Error("rows before the column was renamed are predicted otherwise")
			}
			if a, b := mean(got[at:at+100]), mean(want[at:at+100]); a < 1.5*b {
				t.Errorf("losses %v without the column, %v with it: it does not matter", a, b)
			}
			after, never, before := mean(got[at+200:]), mean(want[at+200:]), mean(got[at-600:at])
			if after > 1.1*never || after > 1.1*before {
				t.Errorf("losses %v after 200 rows, %v if it was never renamed, %v before", after, never, before)
			}
		})
	}
}

// A column of noise is none of those that have vanished, whatever the stream.
func TestNoiseIsNoNewName(t *testing.T) {
	for _, s := range streams {
		const at, n = 600, 1000
		records := recordsOf(s.columns, s.label, n, at, func(_, noise float64) string {
			return fmt.Sprintf(`"a":%v,"b":%v,"c":%v`, noise, 100+10*noise, math.Abs(noise))
		})
		if _, h := learned(t, records, 250); h.served().Aliases != nil || h.adopted.trial == nil {
			t.Errorf("%s: aliases %+v", s.name, h.served().Aliases)
		}
	}
}

// The column's own value counts where a record has both, a field in the same record as the column
// is none of its names, nor is one of another type.
func TestAColumnThatIsThereIsNotRenamed(t *testing.T) {
	s := streams[0]
	for name, names := range map[string]func(x, noise float64) string{
		"both":         func(x, _ float64) string { return fmt.Sprintf(`"x0":%v,"copy":%v`, x, x) },
		"another type": func(x, _ float64) string { return fmt.Sprintf(`"text":"%v"`, x) },
		"boolean":      func(x, _ float64) string { return fmt.Sprintf(`"positive":%v`, x > 0) },
		"nothing":      func(float64, float64) string { return `"x0":null` },
		"sometimes": func(x, noise float64) string {
			return map[bool]string{true: fmt.Sprintf(`"x0":%v,"new":%v`, x, x), false: fmt.Sprintf(`"new":%v`, x)}[noise > 1.5]
		},
	} {
		if _, h := learned(t, recordsOf(s.columns, s.label, 1000, 600, names), 250); h.served().Aliases != nil {
			t.Errorf("%s: aliases %+v", name, h.served().Aliases)
		}
	}
}

// Whatever the BATCHes are, and restored from a snapshot between any two of them, the same
// columns are read by other names from the same row on.
func TestNewNamesFollowFromTheRows(t *testing.T) {
	s := streams[0]
	both := 0
	records := recordsOf(s.columns, s.label, 1000, 600, func(x, noise float64) string {
		if both++; both > 250 && both%3 == 0 {
			return fmt.Sprintf(`"x0":%v,"new":%v,"kind":"k%v"`, x, noise, noise > 0)
		}
		return fmt.Sprintf(`"new":%v,"kind":"k%v"`, x, noise > 0)
	})
	want, h := learned(t, records, len(records))
	if len(h.served().Aliases) != 1 {
		t.Fatalf("aliases %+v", h.served().Aliases)
	}
	losses := map[bool][]float64{}
	for i := 850; i < len(records); i++ {
		back := strings.Contains(records[i], `"x0"`)
		losses[back] = append(losses[back], want[i])
	}
	if back, gone := mean(losses[true]), mean(losses[false]); len(losses[true]) != 50 || back > 2*gone {
		t.Errorf("losses %v of %d rows where the old name is back, %v of others: its value is not that of the record", back, len(losses[true]), gone)
	}
	for _, size := range []int{1, 37} {
		if got, _ := learned(t, records, size); !slices.Equal(got, want) {
			t.Errorf("other losses with BATCHes of %d", size)
		}
	}
	_, is := restoredAt(t, records, []int{690, 701, 716, 717, 740, 749, 760, 900})
	a, err := h.Freeze(1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := is.Freeze(1)
	if err != nil {
		t.Fatal(err)
	}
	if string(a.Schema) != string(b.Schema) || fmt.Sprint(a.State) != fmt.Sprint(b.State) {
		t.Error("another state after restarts")
	}
}

// What names are compared by does not depend on the BATCHes where rows are predicted after the labels
// of earlier ones: by a mixture, and with lags.
func TestNewNamesAreComparedRowByRow(t *testing.T) {
	s := streams[0]
	records := recordsOf(s.columns, s.label, 740, 600, func(x, _ float64) string { return fmt.Sprintf(`"new":%v`, x) })
	mixed, lagged := small, small
	mixed.Mixture, lagged.Lags = true, 1
	for name, c := range map[string]learner.Config{"mixture": mixed, "lags": lagged} {
		want := ""
		for _, size := range []int{740, 37, 1} {
			_, h := learnedBy(t, c, records, size)
			if h.adopted.trial == nil || len(h.adopted.trial.renames) != 1 || h.adopted.trial.renames[0].rows == 0 {
				t.Fatalf("%s: no names are compared", name)
			}
			got := fmt.Sprint(h.adopted.trial.renames)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s: BATCHes of %d lead to %s, of all to %s", name, size, got, want)
			}
		}
	}
}

// restoredAt learns records in BATCHes that end at the given ones, and goes on from a snapshot
// after each of them.
func restoredAt(t *testing.T, records []string, ends []int) (renames int, h *History) {
	h, err := New("m", nil, small)
	if err != nil {
		t.Fatal(err)
	}
	from := 0
	for _, to := range append(ends, len(records)) {
		d, err := NewDecider(renaming, false, h.Schema)
		if err != nil {
			t.Fatal(err)
		}
		var rs []ingest.Record
		for i := from; i < to; i++ {
			rs = append(rs, ingest.Record{Offset: int64(i), Value: []byte(records[i])})
		}
		h.Learn(int64(to), [32]byte{}, d.Decide([]input.Span{{In: new(input.Partition), From: int64(from), To: int64(to), Records: rs}}))
		renames += len(h.Renamed())
		s, err := h.Freeze(1)
		if err != nil {
			t.Fatal(err)
		}
		if h, err = Thaw(s, small); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	return renames, h
}

// Damaged states of renamed columns are refused.
func TestDamagedNewNamesAreRefused(t *testing.T) {
	s := streams[0]
	records := recordsOf(s.columns, s.label, 760, 600, func(x, noise float64) string {
		return fmt.Sprintf(`"new":%v,"noise":%v`, x, noise)
	})
	for _, n := range []int{730, 760} { // while names are compared, and after one is found
		_, h := learned(t, records[:n], n)
		frozen, err := h.Freeze(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Thaw(frozen, small); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(frozen.State.Resuming, func(a learner.Array) bool { return a.Name == aliasesArray || a.Name == renamesArray })
		if i < 0 || (frozen.State.Resuming[i].Name == aliasesArray) != (n == 760) {
			t.Fatalf("%d rows: the state has another array than expected", n)
		}
		right := frozen.State.Resuming[i].Data.([]int64)
		for name, wrong := range map[string][]int64{
			"column": {3}, "negative": {-1}, "own": {right[0], 2}, "beyond": {right[0], 5}, "count": {right[0], right[1], -1},
		} {
			data := append(wrong, right[len(wrong):]...)
			frozen.State.Resuming[i].Data = data
			if _, err := Thaw(frozen, small); err == nil {
				t.Errorf("%d rows, %s: no error", n, name)
			}
		}
		frozen.State.Resuming[i].Data = right[:2]
		if _, err := Thaw(frozen, small); err == nil {
			t.Errorf("%d rows, cut: no error", n)
		}
	}
}
