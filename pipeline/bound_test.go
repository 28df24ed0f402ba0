package pipeline

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// squeezed returns a client with compression, which can publish records that are far
// larger than a topic accepts uncompressed.
func squeezed(t *testing.T, addr string) *ingest.Client {
	return kafkatest.ClientOf(t, addr, func(c *ingest.Config) { c.Compression = ingest.Gzip })
}

func publish(t *testing.T, c *ingest.Client, topic string, rs ...ingest.Record) {
	t.Helper()
	if err := c.Create(t.Context(), topic, 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Producer().Publish(t.Context(), topic, 0, rs); err != nil {
		t.Fatal(err)
	}
}

// heavy returns records of which a topic does not accept unmodified copies. Each is
// too large in another part of the record.
func heavy() []ingest.Record {
	big := []byte(strings.Repeat("abcdefgh", 12<<20/8))
	good := []byte(`{"features":{"x":1,"y":2},"label":"true"}`)
	var many []ingest.Header
	for i := range ingest.MaxHeaders + 9 {
		many = append(many, ingest.Header{Key: fmt.Sprint("h", i), Value: big[:20_000]})
	}
	return []ingest.Record{
		{Key: []byte("value"), Value: big},
		{Key: []byte("nearly"), Value: big[:1<<20-100]},
		{Key: big, Value: []byte("no")},
		{Key: []byte("headers"), Value: []byte("no"), Headers: many},
		{Key: []byte("name"), Value: []byte("no"), Headers: []ingest.Header{{Key: string(big[:2<<20]), Value: big}, {Key: "last", Value: []byte("v")}}},
		{Key: big, Value: big, Headers: []ingest.Header{{Key: "traceparent", Value: big}}},
		{Key: big, Value: good, Headers: []ingest.Header{{Key: "traceparent", Value: big}}},
		{Key: []byte("good"), Value: good, Headers: []ingest.Header{{Key: "other", Value: big}}},
		{Key: nil, Value: nil, Headers: many},
	}
}

func note(b []byte) string { return fmt.Sprintf("%d sha256=%x", len(b), sha256.Sum256(b)) }

// TestNoRecordIsTooLargeForTheOutputs learns records for which the predictions or the
// copies in quarantine would exceed the limit of the topic, and restarts after them.
func TestNoRecordIsTooLargeForTheOutputs(t *testing.T) {
	for _, transactional := range []bool{false, true} {
		t.Run(fmt.Sprint(transactional), func(t *testing.T) {
			addr := kafkatest.Addr(t)
			c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("heavy")
			kafkatest.Fill(t, c, in, 1, learntest.Rings(300))
			hard := heavy()
			publish(t, squeezed(t, addr), in, hard...)
			cfg, ev := learntest.Config(c, "m", in)
			cfg.Transactional = transactional
			learnAll(t, cfg)
			kafkatest.Fill(t, c, in, 1, learntest.Rings(100))
			learnAll(t, cfg)
			if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Compared == 0 {
				t.Errorf("verify: %+v, %v", v, err)
			}
			if l, ok := learntest.Last[event.Learned](ev); !ok || l.Counts.Quarantined != 0 {
				t.Errorf("%+v behind them", l)
			}
			topic, err := c.Topic(t.Context(), model.QuarantineTopic(cfg.Model))
			if err != nil {
				t.Fatal(err)
			}
			bad := map[string]ingest.Record{}
			for _, r := range kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model)) {
				bad[kafkatest.Header(r, "__connect.errors.offset")] = r
				if n := r.Size(); n > topic.MaxMessageBytes {
					t.Errorf("a record of %d bytes in quarantine", n)
				}
			}
			predicted := map[string]ingest.Record{}
			for _, r := range kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model)) {
				predicted[kafkatest.Header(r, "ce_id")] = r
			}
			if len(bad) != 7 || len(predicted) != 402 {
				t.Fatalf("%d in quarantine, %d predictions", len(bad), len(predicted))
			}
			for i, want := range hard {
				got, isBad := bad[fmt.Sprint(300+i)]
				if !isBad {
					got = predicted[fmt.Sprintf("%s-0-%d", in, 300+i)]
				}
				for part, b := range map[string][2][]byte{"key": {want.Key, got.Key}, "value": {want.Value, got.Value}} {
					if part == "value" && !isBad {
						continue
					}
					said := kafkatest.Header(got, "accrete.truncated."+part)
					switch {
					case !strings.HasPrefix(string(b[0]), string(b[1])) || (b[0] == nil) != (b[1] == nil):
						t.Errorf("record %d: its %s is no beginning of what it was", i, part)
					case len(b[0]) != len(b[1]) && said != note(b[0]), len(b[0]) == len(b[1]) && said != "":
						t.Errorf("record %d: %d bytes of the %s are %d, and the header says %q", i, len(b[0]), part, len(b[1]), said)
					}
				}
			}
			if h := kafkatest.Header(bad["303"], "accrete.truncated.headers"); !strings.HasPrefix(h, "65 in ") {
				t.Errorf("of 73 headers: %q", h)
			}
			if kafkatest.Header(bad["304"], "last") != "v" {
				t.Error("a header behind a large one is gone")
			}
			if h := kafkatest.Header(predicted[in+"-0-306"], "accrete.truncated.traceparent"); h != note(hard[6].Headers[0].Value) {
				t.Errorf("traceparent: %q", h)
			}
		})
	}
}

// TestPredictionsSayWhichBatchAndWhoseTheyAre compares ce_sequence with the model log,
// learned_to with the positions, and the key with input.key.
func TestPredictionsSayWhichBatchAndWhoseTheyAre(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("keyed")
	var values []string
	for i, v := range learntest.Rings(300) {
		values = append(values, fmt.Sprintf(`{"id":"u\u00%d",`, 30+i%10)+v[1:])
	}
	values[7] = learntest.Rings(1)[0] // no key of its own
	kafkatest.Fill(t, c, in, 1, values)
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Decode = decode.Config{Key: "id"}
	learnAll(t, cfg)
	changed := map[string]int{} // by lineage, the offset after the last record learned
	for i, r := range kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model)) {
		want := fmt.Sprint("u", i%10)
		if i == 7 {
			want = "7"
		}
		if string(r.Key) != want {
			t.Errorf("prediction %d has the key %q, want %q", i, r.Key, want)
		}
		if got := kafkatest.Header(r, "ce_sequence"); got != fmt.Sprint(1+i/cfg.BatchSize) {
			t.Errorf("prediction %d has ce_sequence %q", i, got)
		}
		var v struct {
			Lineage   string
			LearnedTo string `json:"learned_to"`
		}
		if err := json.Unmarshal(r.Value, &v); err != nil {
			t.Fatal(err)
		}
		if _, ok := changed[v.Lineage]; !ok {
			changed[v.Lineage] = i
		}
		text := ""
		if n := changed[v.Lineage]; n > 0 {
			text = fmt.Sprintf("%s/0:%d\n", in, n)
		}
		if want := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16]; v.LearnedTo != want {
			t.Fatalf("prediction %d: learned_to is %q, want %q of %q", i, v.LearnedTo, want, text)
		}
	}
	if len(changed) < 2 {
		t.Error("the model has not changed")
	}
}
