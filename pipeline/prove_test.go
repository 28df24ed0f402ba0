package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// interrupted runs learners of c, each of which is fenced by the next after it has learned
// a few records, and then one to the end. It returns the number of those fenced.
func interrupted(t *testing.T, c model.Config, times int) (fenced int) {
	t.Helper()
	for range times {
		ctx, stop := context.WithCancel(t.Context())
		broken := c
		n := 0
		broken.Report = func(ev event.Event) {
			if _, ok := ev.(event.Learned); ok {
				if n++; n == 3 {
					stop()
				}
			}
			c.Report(ev)
		}
		broken.Drain = 1 // it does not publish the rest
		l, err := Open(ctx, broken)
		if err == nil {
			err = l.Run(ctx)
		}
		stop()
		if err != nil {
			fenced++
		}
	}
	learnAll(t, c)
	return fenced
}

// The predictions of a model, of which the learner was stopped at many places, are
// computed again to the bit.
func TestPredictionsAreProved(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings-a")
	values := learntest.Rings(900)
	values[500] = "{" // no row
	kafkatest.Fill(t, c, in, 2, values)
	for _, algorithm := range []string{"newton", "ridge"} {
		cfg, _ := learntest.Config(c, algorithm, in)
		cfg.Learner.Algorithm, cfg.BatchSize = algorithm, 30
		cfg.Learner.Mixture = algorithm == "newton"
		cfg.Passed = record.Passed{Fields: []string{"x"}}
		if n := interrupted(t, cfg, 5); n == 0 {
			t.Error("no learner was interrupted")
		}
		var ids []string
		want := map[string]ingest.Record{}
		for _, r := range kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model)) {
			id := kafkatest.Header(r, "ce_id")
			if _, twice := want[id]; !twice {
				ids = append(ids, id)
			}
			want[id] = r
		}
		rng := rand.New(rand.NewPCG(1, 1))
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		if algorithm == "ridge" { // the option may have been changed
			cfg.Passed = record.Passed{TraceOnly: true}
		}
		asked := append(ids[:20:20], ids[3]) // one of them twice
		got, err := audit.Prove(t.Context(), cfg, asked)
		if err != nil || len(got) != len(asked) {
			t.Fatal(len(got), err)
		}
		for i, r := range got {
			if !bytes.Contains(r.Prediction, []byte(`,"input":{"x":`)) {
				t.Errorf("%s has no field of its input", r.Prediction)
			}
			if !r.Equal || r.ID != asked[i] || !bytes.Equal(r.Prediction, want[r.ID].Value) || r.Again != nil {
				t.Errorf("%+v", r)
			}
			var x struct{ Base, Score, Rest float64 }
			if r.Step > 10 && (json.Unmarshal(r.Explanation, &x) != nil || x.Score == 0 || math.Abs(x.Rest) > 1e-4 || (r.Explained == learner.MixtureInputs) != cfg.Learner.Mixture) {
				t.Errorf("explanation of %q: %s", r.Explained, r.Explanation)
			}
			value := fmt.Sprintf(`{"features":{"x":%v,"y":%v}`, *r.Input.Columns[0].Value, *r.Input.Columns[1].Value)
			if !bytes.HasPrefix([]byte(r.Input.Value), []byte(value)) || r.Seq == 0 || len(r.LearnedTo) > 2 {
				t.Errorf("%+v", r)
			}
		}
	}
	cfg, _ := learntest.Config(c, "ridge", in)
	cfg.Learner.Algorithm, cfg.BatchSize = "ridge", 30
	cfg.Passed = record.Passed{Fields: []string{"x"}}
	for id, says := range map[string]string{"x": "want the ce_id", in + "-0-450": "no decision about", in + "-0-250": "was not a row", "other-0-1": "no decision about"} {
		_, err := audit.Prove(t.Context(), cfg, []string{id})
		learntest.Wants(t, err, audit.ErrUnproved, says)
	}
	// A prediction that the model did not make.
	topic := model.PredictionsTopic(cfg.Model)
	rs := kafkatest.Read(t, c, topic)
	forged := rs[40]
	forged.Value = bytes.Replace(forged.Value, []byte(`"model"`), []byte(`"modeL"`), 1)
	_, end, err := c.Offsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.DeleteRecords(t.Context(), topic, 0, end[0]); err != nil {
		t.Fatal(err)
	}
	if err := c.Producer().Publish(t.Context(), topic, 0, []ingest.Record{forged}); err != nil {
		t.Fatal(err)
	}
	got, err := audit.Prove(t.Context(), cfg, []string{kafkatest.Header(forged, "ce_id")})
	if err != nil || got[0].Equal || !bytes.Equal(got[0].Again, rs[40].Value) {
		t.Errorf("a forged prediction: %+v, %v", got, err)
	}
}

// A receipt has each field of the input once, however many columns it became, and tells which values
// were missing. It has no columns that are not fields, such as the time of the record.
func TestAReceiptHasTheFieldsOfTheInput(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("fields")
	kafkatest.Fill(t, c, in, 1, []string{
		`{"a":1.5,"c":"x","note":"some words","ok":true}`,
		`{"a":null,"c":null,"note":null,"ok":false}`,
	})
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Decode = decode.Config{
		Label: "ok", Missing: "impute", Infer: true, Grams: true, Types: map[string]string{"note": "text", "a*c": schema.Pair},
		Windows: []decode.Window{{Key: "c", Of: "a", Over: []string{"1h"}, Features: []string{"mean"}}},
	}
	learnAll(t, cfg)
	for id, want := range map[string]string{
		in + "-0-0": `[{"name":"a","type":"numeric","value":1.5},{"name":"a*c","type":"pair","value":null},{"name":"a_mean_1h_by_c","type":"window","value":null},{"name":"c","type":"category","value":null},{"name":"note","type":"text","value":null}]`,
		in + "-0-1": `[{"name":"a","type":"numeric","value":null,"missing":true},{"name":"a*c","type":"pair","value":null},{"name":"a_mean_1h_by_c","type":"window","value":null},{"name":"c","type":"category","value":null,"missing":true},{"name":"note","type":"text","value":null,"missing":true}]`,
	} {
		r, err := audit.Prove(t.Context(), cfg, []string{id})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(r[0].Input.Columns); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v\nwant %s", id, got, err, want)
		}
	}
}
