package pipeline

import (
	"fmt"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/synth/payments"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// payed returns n payments as records, every 20th without a card, and every 30th late.
func payed(n int) []string {
	out := make([]string, n)
	s := payments.New(3)
	for i := range out {
		p := s.Next()
		card := fmt.Sprintf(`"c%d"`, p.Card)
		if i%20 == 7 {
			card = "null"
		}
		if i%30 == 9 {
			p.At -= 40_000
		}
		out[i] = fmt.Sprintf(`{"at":%v,"card":%s,"merchant":%d,"amount":%v,"label":%v}`, int64(p.At), card, p.Merchant, p.Amount, p.Fraud)
	}
	return out
}

func windowsConfig(c model.Config) model.Config {
	c.Decode = decode.Config{
		Label: "label", Infer: true, Missing: "impute", Types: map[string]string{"card": "id", "merchant": "id"},
		Windows: []decode.Window{
			{Key: "card", Of: "amount", Distinct: "merchant", Time: "at", Over: []string{"1h", "7d"}, Lateness: "1d", Keys: 300},
			{Key: "merchant", Over: []string{"30s"}, Features: []string{"count"}}, // over the timestamps of the records
		},
	}
	return c
}

// A learner with windows that is stopped twice reaches the state of one that is not, whatever
// the BATCHes, verify finds its history, and the rows of a file without Kafka lead there too.
func TestRestartWithWindowsGoesOnExactly(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("payments")
	values := payed(2000)
	kafkatest.Fill(t, c, in, 1, values[:700])
	cfg, ev := learntest.Config(c, "stopped", in)
	cfg = windowsConfig(cfg)
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, values[700:1500])
	cfg.BatchSize = 77
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, values[1500:])
	learnAll(t, cfg)
	continuedTwice(t, cfg, ev)
	whole, all := learntest.Config(c, "whole", in)
	whole = windowsConfig(whole)
	learnAll(t, whole)
	want := learntest.FinalHash(t, all)
	if got := learntest.FinalHash(t, ev); got != want {
		t.Errorf("stopped twice: state hash %v, in one go: %v", got, want)
	}
	if n := len(kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))); n > 0 {
		t.Errorf("%d records in quarantine", n)
	}

	d, err := decode.New(whole.Decode, decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	records := kafkatest.Read(t, c, in)
	s := withoutKafka(t, whole, d, len(records), func(i int) (decode.Row, error) {
		r := &records[i]
		return record.Decode(d, &ingest.Record{Key: r.Key, Value: r.Value, Time: r.Time})
	})
	file, err := snapshot.Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = snapshot.Decode(file, 0); err != nil {
		t.Fatal(err)
	}
	if got := s.StateHash; got != want {
		t.Errorf("without Kafka: state hash %v, want %v", got, want)
	}
}
