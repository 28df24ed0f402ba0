package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// sourced writes values to a topic. Every seventh has a header "source: bad" and the key
// "k".
func sourced(t *testing.T, c *ingest.Client, topic string, values []string, keep func(i int) bool) {
	t.Helper()
	if err := c.Create(t.Context(), topic, 1, map[string]string{"retention.ms": "-1"}); err != nil {
		t.Fatal(err)
	}
	var rs []ingest.Record
	for i, v := range values {
		r := ingest.Record{Time: 1_700_000_000_000 + int64(i)*1000, Key: fmt.Append(nil, i), Value: []byte(v)}
		if i%7 == 3 {
			r.Key, r.Headers = []byte("k"), []ingest.Header{{Key: "source", Value: []byte("b&d")}}
		}
		if keep(i) {
			rs = append(rs, r)
		}
	}
	if err := c.Producer().Publish(t.Context(), topic, 0, rs); err != nil {
		t.Fatal(err)
	}
}

// A model that is rebuilt without some records has the state of one that has never seen
// them, and continues like that one.
func TestARebuiltModelHasNotSeenWhatWasLeftOut(t *testing.T) {
	c := kafkatest.Client(t)
	values := learntest.Rings(420)
	for i := range values { // with a class of their own
		if i%7 == 3 {
			values[i] = `{"features":{"x":1,"y":2},"label":"poison"}`
		}
	}
	at := time.UnixMilli(1_700_000_000_000 + 50_000).UTC().Format(time.RFC3339)
	for name, w := range map[string]struct {
		without []string
		left    func(i int) bool
	}{
		"source": {[]string{"header:source=b%26d"}, func(i int) bool { return i%7 != 3 }},
		"either": {[]string{"key=k&from=" + at, "before=" + at}, func(i int) bool { return i >= 50 && i%7 != 3 }},
	} {
		t.Run(name, func(t *testing.T) {
			in, clean := kafkatest.Name("rings"), kafkatest.Name("rings")
			sourced(t, c, in, values[:300], func(int) bool { return true })
			sourced(t, c, clean, values[:300], w.left)
			cfg, ev := learntest.Config(c, "m", in)
			cfg.Learner.Algorithm, cfg.BatchSize = "ridge", 40
			learnAll(t, cfg)
			was := learntest.FinalHash(t, ev)
			other, ev := learntest.Config(c, "m", clean)
			other.Learner.Algorithm = "ridge"
			learnAll(t, other)
			want := learntest.FinalHash(t, ev)

			dry, err := audit.Rebuild(t.Context(), cfg, w.without, "")
			if err != nil {
				t.Fatal(err)
			}
			r, err := audit.Rebuild(t.Context(), cfg, w.without, cfg.Model+"2")
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			for i := range 300 {
				if w.left(i) {
					kept++
				}
			}
			if r.StateHash != want || r.Was != was || dry.StateHash != want || r.Difference != dry.Difference {
				t.Errorf("state %v, want %v; with them %v, want %v; %+v", r.StateHash, want, r.Was, was, dry)
			}
			if d := r.Difference; r.Records != 300 || int(r.Removed) != 300-kept || int(d.Compared) != kept || d.Different == 0 || d.Mean <= 0 || d.Largest > 1 || d.Graded == 0 || d.Without.Loss >= d.With.Loss {
				t.Errorf("%+v", r)
			}
			_, err = audit.Rebuild(t.Context(), cfg, w.without, r.As)
			learntest.Wants(t, err, model.ErrStart, "exists")
			next := cfg
			next.Model = r.As
			v, err := audit.Verify(t.Context(), next)
			if err != nil || v.Divergent > 0 || !v.Start.Verified || v.StateHash != want {
				t.Errorf("verify: %+v, %v", v, err)
			}
			// Both continue with the same records.
			sourced(t, c, in, values[300:], func(int) bool { return true })
			sourced(t, c, clean, values[300:], func(int) bool { return true })
			learnAll(t, other)
			want = learntest.FinalHash(t, ev)
			learnAll(t, next)
			if v, err = audit.Verify(t.Context(), next); err != nil || v.Divergent > 0 || v.StateHash != want {
				t.Errorf("it continues with state %v, want %v; %v", v.StateHash, want, err)
			}
		})
	}
}

func TestRebuildRefusesWhatItCannotDo(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(20))
	cfg, _ := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	for text, says := range map[string]string{"": "joined by &", "x=1": "unknown condition", "before=yesterday": "want a time, for example", "partition=x": "want the number of a partition", "key": "joined by &", "key=%zz": "joined by &"} {
		_, err := audit.Rebuild(t.Context(), cfg, []string{text}, "")
		learntest.Wants(t, err, model.ErrStart, says)
	}
	_, err := audit.Rebuild(t.Context(), cfg, []string{"key=1"}, cfg.Model)
	learntest.Wants(t, err, model.ErrStart, "cannot replace itself")
	_, err = audit.Rebuild(t.Context(), cfg, nil, "")
	learntest.Wants(t, err, model.ErrStart, "no records")
}

// Rows that wait for a label when a history is rebuilt, and the rows of its tables, are those of the
// new model as well: labels that come later are learned with them.
func TestARebuiltModelContinuesWithWhatWaits(t *testing.T) {
	const n, stop = 400, 200
	c := kafkatest.Client(t)
	cs := newCustomers(t, c)
	rows, labels := withLateLabels(n)
	cs.set(0, 10, 25) // in one partition, so that both models set the rows in the same order
	publish := func(topic string, from, to, delay int, values []string, keep func(i int) bool) {
		t.Helper()
		var rs []ingest.Record
		for i := from; i < to; i++ {
			if keep(i) {
				rs = append(rs, ingest.Record{Time: 1_700_000_000_000 + int64(2*(i+delay)+min(delay, 1)), Key: fmt.Append(nil, i%7), Value: []byte(values[i])})
			}
		}
		if err := c.Create(t.Context(), topic, 1, map[string]string{"retention.ms": "-1"}); err != nil {
			t.Fatal(err)
		}
		if err := c.Producer().Publish(t.Context(), topic, 0, rs); err != nil {
			t.Fatal(err)
		}
	}
	left := func(i int) bool { return i >= stop || i%7 != 3 }
	begun := func(keep func(i int) bool) (model.Config, *learntest.Events, func()) {
		in := kafkatest.Name("rows")
		cfg, ev := learntest.Config(c, "m", in)
		cfg.Topics = []string{in, in + "-outcomes"}
		cfg.Learner.Algorithm = "ridge"
		cfg.Decode = decode.Config{
			Label: "label", Infer: true, Missing: "impute", Types: map[string]string{"card": "id", "at": "ignored"},
			Late:   &join.Config{Topic: in + "-outcomes", Key: "id", Time: "at", TTL: 3_600_000, Pending: 1000},
			Tables: []table.Config{{Topic: cs.topic, As: "customers", Key: "card", Fields: []string{"tier", "account.score"}}},
		}
		part := func(from, to int, keep func(i int) bool) {
			publish(in, from, to, 0, rows, keep)
			publish(in+"-outcomes", max(0, from-labelDelay), to-labelDelay, labelDelay, labels, keep)
		}
		part(0, stop, keep)
		learnAll(t, cfg)
		return cfg, ev, func() { part(stop, n, left) }
	}
	cfg, _, rest := begun(func(int) bool { return true })
	clean, ev, restOfClean := begun(left)
	want := learntest.FinalHash(t, ev)
	r, err := audit.Rebuild(t.Context(), cfg, []string{"key=3"}, cfg.Model+"2")
	if err != nil {
		t.Fatal(err)
	}
	if r.StateHash != want || r.Removed == 0 {
		t.Errorf("%+v, want state %v", r, want)
	}
	rest()
	restOfClean()
	next, ofNext := cfg, new(learntest.Events)
	next.Model, next.Report = r.As, ofNext.Add
	learnAll(t, next)
	learnAll(t, clean)
	if got, want := learntest.FinalHash(t, ofNext), learntest.FinalHash(t, ev); got != want {
		t.Errorf("it continues with state %v, want %v", got, want)
	}
	v, err := audit.Verify(t.Context(), next)
	if err != nil || v.Divergent > 0 || !v.Start.Verified {
		t.Errorf("verify: %+v, %v", v, err)
	}
}
