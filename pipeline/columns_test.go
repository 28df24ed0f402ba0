package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// orders returns n records with text, booleans, times and missing values. The class
// depends on a category of few values and on one of many.
func orders(n int) []string {
	rng := rand.New(rand.NewPCG(5, 6))
	out := make([]string, n)
	for i := range out {
		carrier, tail := rng.IntN(4), int(30*rng.ExpFloat64())
		amount := fmt.Sprint(rng.NormFloat64())
		if rng.IntN(12) == 0 {
			amount = "null"
		}
		out[i] = fmt.Sprintf(`{"amount":%s,"carrier":"c%d","tail":"N%d","paid":%v,"at":"2024-01-%02dT%02d:00:00Z","label":%v}`,
			amount, carrier, tail, rng.IntN(2) == 0, 1+i/100%28, i%24, carrier == 1 != (tail%3 == 0))
	}
	return out
}

func columnsConfig(c model.Config) model.Config {
	c.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute"}
	return c
}

// A learner of records as they are that is stopped twice reaches the state of one that
// is not, verify finds its history, and its snapshots predict like it.
func TestRestartWithTypedColumnsGoesOnExactly(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("orders")
	values := orders(2000)
	kafkatest.Fill(t, c, in, 1, values[:700])
	cfg, ev := learntest.Config(c, "stopped", in)
	cfg = columnsConfig(cfg)
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, values[700:1500])
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, values[1500:])
	learnAll(t, cfg)
	continuedTwice(t, cfg, ev)
	if r, err := audit.Inspect(t.Context(), cfg, 0); err != nil || r.Newest == nil || r.Newest.Seq != r.Snapshots[0].Seq || r.Damage != "" {
		t.Errorf("inspect: %+v, %v", r, err)
	}
	whole, all := learntest.Config(c, "whole", in)
	whole = columnsConfig(whole)
	learnAll(t, whole)
	if got, want := learntest.FinalHash(t, ev), learntest.FinalHash(t, all); got != want {
		t.Errorf("stopped twice: state hash %v, in one go: %v", got, want)
	}
	if n := len(kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))); n > 0 {
		t.Errorf("%d records in quarantine", n)
	}
}

// A value of another type goes to quarantine with its column, the value and the type.
func TestWrongTypesGoToQuarantine(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("orders")
	values := append(orders(100), `{"amount":"12","carrier":"c1","tail":"N1","paid":true,"at":null,"label":true}`, `{"amount":1,"carrier":5,"tail":"N1","paid":true,"at":null,"label":true}`)
	kafkatest.Fill(t, c, in, 1, values)
	cfg, _ := learntest.Config(c, "m", in)
	cfg = columnsConfig(cfg)
	learnAll(t, cfg)
	q := kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))
	if len(q) != 2 {
		t.Fatalf("%d records in quarantine, want 2", len(q))
	}
	for i, want := range []string{`columns: "amount" is text "12", want a number`, `columns: "carrier" is 5, want the text of a category`} {
		if got := kafkatest.Header(q[i], "__connect.errors.exception.message"); got != want {
			t.Errorf("reason %d: %s, want %s", i, got, want)
		}
	}
}

// A model from before columns had types goes on reading records as it did, although
// types are inferred by default now.
func TestModelKeepsHowItReadsRecords(t *testing.T) {
	have, err := model.Config{Decode: decode.Config{Label: "label"}}.Options()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		now  decode.Config
		same bool
	}{
		{decode.Config{Label: "label", Infer: true, Missing: "impute"}, true},
		{decode.Config{Label: "label", Infer: true, Missing: "zero"}, false},
		{decode.Config{Label: "label", Infer: true, Missing: "impute", Types: map[string]string{"a": "category"}}, false},
	} {
		c := model.Config{Decode: test.now}
		options, err := c.KeepReading(have)
		if err != nil {
			t.Fatal(err)
		}
		if err := model.SameOptions(have, options); (err == nil) != test.same || err != nil && !errors.Is(err, model.ErrOptions) {
			t.Errorf("%+v: %v", test.now, err)
		}
		fresh := model.Config{Decode: test.now}
		if options, err = fresh.KeepReading(nil); err != nil || !json.Valid(options) || !fresh.Decode.Infer {
			t.Errorf("a new model: %s, %v", options, err)
		}
	}
	typed := decode.Config{Label: "label", Infer: true, Missing: "impute"}
	if have, err = (model.Config{Decode: typed}).Options(); err != nil {
		t.Fatal(err)
	}
	typed.Depth, typed.Grams, typed.Zones, typed.Counts = decode.MaxDepth, true, true, true
	c := model.Config{Decode: typed}
	options, err := c.KeepReading(have)
	if err != nil || model.SameOptions(have, options) != nil || c.Decode.Depth != 0 || c.Decode.Grams || c.Decode.Zones || c.Decode.Counts {
		t.Errorf("a model from before objects were columns: depth %d, %s, %v", c.Decode.Depth, options, err)
	}
	fresh := model.Config{Decode: typed}
	if _, err := fresh.KeepReading(nil); err != nil || fresh.Decode.Depth != decode.MaxDepth || !fresh.Decode.Grams || !fresh.Decode.Zones || !fresh.Decode.Counts {
		t.Errorf("a new model: depth %d, %v", fresh.Decode.Depth, err)
	}
}
