package pipeline

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

var mixedRecords = flag.Int("mixed", 3000, "records that TestMixedRecordsAreAccountedFor makes, 3,000 or more")

// mixedConfig declares what is not inferred from the records of mixed.
func mixedConfig(c model.Config) model.Config {
	c.Decode = decode.Config{Label: "label", Key: "card", Infer: true, Missing: "impute", Unknown: "ignore", Depth: decode.MaxDepth,
		Types: map[string]string{"note": "text", "amount": "numeric:normal", "at": "time:since", "opened": "time:trend", "row": schema.ID}}
	return c
}

// mixed returns n records with numbers, categories of which one has 10⁵ values and one gets
// new ones all the time, text, times, lists and missing values. Of three parts, the column
// early is in the first two, and the field late in the last. About 1 % are garbage, the
// number of which it returns.
func mixed(seed uint64, n int) (values []string, garbage int) {
	r := rand.New(rand.NewPCG(seed, 8))
	words := strings.Fields("late early parcel lost damaged again thanks refund please never always box")
	for i := range n {
		if i > 10 && r.IntN(100) == 0 {
			bad := []string{"", "{", "[1]", `{"rate":"high"}`, `{"amount":true,"label":"ok"}`, `{"note":7,"label":"ok"}`, `{"at":"noon","label":"ok"}`, `{"rate":1,"rate":2}`, "\xff{}"}
			values, garbage = append(values, bad[r.IntN(len(bad))]), garbage+1
			continue
		}
		var b strings.Builder
		zip, kind, amount := r.IntN(100_000), r.IntN(5+i/100), r.ExpFloat64()
		at := 1_700_000_000 + 97*i
		fmt.Fprintf(&b, `{"row":"r%d","card":"c%d","at":%d,"opened":"2024-%02d-%02d","zip":"z%d","kind":"k%d","size":[%.4g,%.4g],"from":{"city":"b%d","new":%v}`,
			i, r.IntN(300), at, 1+i%12, 1+i%28, zip, kind, r.NormFloat64(), r.NormFloat64(), r.IntN(9), r.IntN(2) == 0)
		if i == 0 || r.IntN(10) > 0 { // the first record has all columns
			fmt.Fprintf(&b, `,"amount":%.5g`, amount*amount*amount)
		}
		rate := r.NormFloat64()
		if r.IntN(20) > 0 {
			fmt.Fprintf(&b, `,"rate":%.5g`, rate)
		} else {
			b.WriteString(`,"rate":null`)
		}
		first, second := r.IntN(len(words)), r.IntN(len(words))
		if i == 0 || r.IntN(8) > 0 {
			fmt.Fprintf(&b, `,"note":"%s %s, %s!"`, words[first], words[second], words[r.IntN(len(words))])
		}
		if i < 2*n/3 {
			fmt.Fprintf(&b, `,"early":%d`, r.IntN(7))
		} else {
			fmt.Fprintf(&b, `,"late":%d`, r.IntN(7))
		}
		if r.IntN(50) > 0 {
			label := "ok"
			if float64(zip%3)+rate+amount/2+float64(first%2) > 2.5 {
				label = "refund"
			}
			fmt.Fprintf(&b, `,"label":%q`, label)
		}
		values = append(values, b.String()+"}")
	}
	return values, garbage
}

// Each of many mixed records is learned, predicted or in quarantine; columns that vanish and
// fields that appear are reported; memory keeps to the formula; a learner that is stopped
// reaches the state of one that is not, as verify finds; and a scorer predicts records with
// new categories like the learner, to the bit. 3,000 records take 4 s.
func TestMixedRecordsAreAccountedFor(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("mixed")
	n := max(3000, *mixedRecords)
	values, garbage := mixed(1, n)
	cut := n / 2
	kafkatest.Fill(t, c, in, 1, values[:cut])
	stopped, ev := learntest.Config(c, "stopped", in)
	stopped = mixedConfig(stopped)
	learnAll(t, stopped)
	kafkatest.Fill(t, c, in, 1, values[cut:])
	used, limit := peak(t, func(set func(int64)) {
		stopped.Report = func(e event.Event) {
			if m, ok := e.(event.Memory); ok {
				set(m.Limit)
			}
			ev.Add(e)
		}
		learnAll(t, stopped)
	})
	if used > limit {
		t.Errorf("it takes %d MiB, %d MiB by the formula", used>>20, limit>>20)
	}
	if v, err := audit.Verify(t.Context(), stopped); err != nil || v.Compared != 3 || v.Divergent != 0 || v.FromSeq != 1 {
		t.Errorf("verify: %+v, %v", v, err)
	}

	quarantined, predicted := len(kafkatest.Read(t, c, model.QuarantineTopic(stopped.Model))), len(kafkatest.Read(t, c, model.PredictionsTopic(stopped.Model)))
	if quarantined != garbage || predicted != n-garbage {
		t.Errorf("%d records, %d of them garbage: %d predicted, %d in quarantine", n, garbage, predicted, quarantined)
	}
	reportsColumns(t, ev, n)
	scoresAlike(t, stopped)
}

// reportsColumns checks what was reported of the columns that come and go.
func reportsColumns(t *testing.T, ev *learntest.Events, n int) {
	t.Helper()
	var gone, back []string
	dropped, missing := int64(0), 0
	for _, e := range ev.All() {
		if c, ok := e.(event.Columns); ok {
			gone, back, dropped, missing = append(gone, c.Gone...), append(back, c.Back...), dropped+c.Dropped, c.Missing
			if c.Dropped > 0 && c.Field != "late" {
				t.Errorf("a field %s was ignored", c.Field)
			}
		}
	}
	if want := int64(n/3) * 97 / 100; dropped < want {
		t.Errorf("%d fields were ignored, want %d", dropped, want)
	}
	if n >= 6100 && (!slices.Equal(gone, []string{"early"}) || back != nil || missing != 1) {
		t.Errorf("columns %v vanished, %v came back, %d are missing", gone, back, missing)
	}
}

// scoresAlike checks that a model of the newest snapshot predicts other records as the
// learner does that continues from it.
func scoresAlike(t *testing.T, cfg model.Config) {
	t.Helper()
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	live := l.history.Learner
	model, err := learner.NewModel(live.Serving())
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode.New(cfg.Decode, *l.history.Schema)
	if err != nil {
		t.Fatal(err)
	}
	var b learner.Batch
	values, _ := mixed(2, 500)
	for _, v := range values {
		row, err := record.Decode(d, &ingest.Record{Value: []byte(strings.Replace(v, `"label"`, `"was"`, 1))})
		if err != nil {
			continue
		}
		if b.Len() == 0 {
			b.Reset(len(row.X))
		}
		b.Append(row.X, learner.Label{}, 1)
		b.SetTypes(row.Types)
	}
	p, q := live.Predict(&b), model.Predict(&b)
	if p.Len() != b.Len() || b.Len() < 450 || !slices.Equal(p.Values, q.Values) {
		t.Errorf("of %d records, the learner predicts %v, the scorer %v", b.Len(), p.Values[:4], q.Values[:4])
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A column is gone after 1,000 records without a value, and back with the first one.
func TestColumnsThatVanishAreReported(t *testing.T) {
	d, err := history.NewDecider(decode.Config{Label: "y", Missing: "impute", Infer: true}, false, &decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	in := &input.Partition{Topic: "in"}
	for _, step := range []struct {
		value      string
		n          int
		gone, back string
	}{
		{`{"a":1,"b":"x","y":1}`, 1500, "[]", "[]"},
		{`{"a":1,"y":1}`, 2100, "[b]", "[]"},
		{`{"a":1,"b":null,"y":1}`, 1000, "[]", "[]"},
		{`{"a":1,"b":"z","y":1}`, 1, "[]", "[b]"},
	} {
		var gone, back []string
		for range step.n {
			if c := d.Decide([]input.Span{{In: in, To: 1, Records: []ingest.Record{{Value: []byte(step.value)}}}}).Columns; c != nil {
				gone, back = append(gone, c.Gone...), append(back, c.Back...)
			}
		}
		if fmt.Sprint(gone) != step.gone || fmt.Sprint(back) != step.back {
			t.Errorf("%d of %s: %v vanished, %v came back", step.n, step.value, gone, back)
		}
	}
}

// Categories of a new model that look like texts, and values that look like classes, are reported once,
// after 1,000 records, but not those of a model that exists, and not what is configured.
func TestWhatANewModelMisreadsIsReported(t *testing.T) {
	for name, test := range map[string]struct {
		types  map[string]string
		task   learner.Task
		label  string
		schema decode.Schema
		want   string
	}{
		"new":            {nil, learner.Auto, "%d", decode.Schema{}, "[{[note] 3 0}]"},
		"declared":       {map[string]string{"note": "text"}, learner.Regression, "%d", decode.Schema{}, "[]"},
		"classification": {map[string]string{"note": "text"}, learner.Classification, "%d", decode.Schema{}, "[]"},
		"classes":        {map[string]string{"note": "text"}, learner.Auto, `"%d"`, decode.Schema{}, "[]"},
		"fractions":      {nil, learner.Auto, "%d.5", decode.Schema{}, "[{[note] 0 0}]"},
		"known":          {nil, learner.Auto, "%d", decode.Schema{Columns: []string{"kind", "note"}, Types: []string{"category", "category"}}, "[]"},
	} {
		d, err := history.NewDecider(decode.Config{Label: "y", Missing: "impute", Infer: true, Grams: true, Types: test.types, Task: test.task}, false, &test.schema)
		if err != nil {
			t.Fatal(err)
		}
		in, all := &input.Partition{Topic: "in"}, []event.Misread{}
		for i := range 1200 {
			value := fmt.Sprintf(`{"note":"the train number %d was late","kind":"one of %d kinds","y":%s}`, i, i%5, fmt.Sprintf(test.label, i%3))
			if m := d.Decide([]input.Span{{In: in, To: 1, Records: []ingest.Record{{Value: []byte(value)}}}}).Misread; m != nil {
				if all = append(all, *m); i != 999 {
					t.Errorf("%s: %v after %d records", name, *m, i+1)
				}
			}
		}
		if fmt.Sprint(all) != test.want {
			t.Errorf("%s: %v, want %s", name, all, test.want)
		}
	}
}

// A class that comes after 1,000 records, or for a model that exists, is reported once, by its name only
// if values may be shown.
func TestNewClassesAreReported(t *testing.T) {
	for name, test := range map[string]struct {
		values record.Values
		schema decode.Schema
		want   string
	}{
		"new":     {record.ValuesFull, decode.Schema{}, "1001 {1 [late] 3}"},
		"private": {record.ValuesHash, decode.Schema{}, "1001 {1 [] 3}"},
		"known":   {record.ValuesFull, decode.Schema{Columns: []string{"a"}, Classes: []string{"b"}, Task: "classification"}, "0 {1 [a] 2} 1001 {1 [late] 3}"},
	} {
		d, err := history.NewDecider(decode.Config{Label: "y", Task: learner.Classification}, false, &test.schema)
		if err != nil {
			t.Fatal(err)
		}
		d.Values = test.values
		in, got := &input.Partition{Topic: "in"}, []string{}
		for i := range 1010 {
			class := []string{"a", "b"}[i%2]
			if i == 1001 || i == 1005 {
				class = "late"
			}
			value := fmt.Sprintf(`{"a":%d,"y":%q}`, i%7, class)
			if n := d.Decide([]input.Span{{In: in, To: 1, Records: []ingest.Record{{Value: []byte(value)}}}}).NewClasses; n != nil {
				got = append(got, fmt.Sprint(i, " ", *n))
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s", name, got, test.want)
		}
	}
}

// A challenger of a model with the statistics of categories and the times of keys is solved
// for on the rows as the model saw them, in the middle of a mini-batch. What is served is
// what was solved for, and Verify finds it again from the log, bit for bit.
func TestRefitsOfMixedRecords(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("mixed")
	values, _ := mixed(3, 1700)
	kafkatest.Fill(t, c, in, 1, values)
	cfg, _ := learntest.Config(c, "m", in)
	cfg = mixedConfig(cfg)
	cfg.Learner.MaxFeatures = 64
	cfg.Refit = model.RefitConfig{Window: 700, Tolerance: 1e-3}
	learnAll(t, cfg)
	report, s, err := Refit(t.Context(), cfg, true)
	if err != nil || !report.Published || report.Rows != 700 {
		t.Fatalf("%+v, %v", report, err)
	}
	published, models := challengers(t, cfg)
	if len(published) != 1 || published[0].StateHash != report.StateHash || !slices.EqualFunc(models[0].Serving(), s.State.Serving, func(a, b learner.Array) bool { return a.Name == b.Name && fmt.Sprint(a.Data) == fmt.Sprint(b.Data) }) {
		t.Errorf("published %+v, made %+v", published, report)
	}
	cfg.Refit = model.RefitConfig{}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Challengers != 1 || v.Compared < 2 {
		t.Errorf("%+v, %v", v, err)
	}
}
