package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// customer is a row of a table, as JSON.
type customer struct{ tier, score string }

// customers are a compacted topic, and the rows that it has.
type customers struct {
	t     *testing.T
	c     *ingest.Client
	topic string
	rows  map[string]customer
}

func newCustomers(t *testing.T, c *ingest.Client) *customers {
	topic := kafkatest.Name("customers")
	kafkatest.Fill(t, c, topic, 2, nil)
	return &customers{t, c, topic, map[string]customer{}}
}

// set sets rows from..to-1, those of a later version with other values.
func (cs *customers) set(version, from, to int) {
	for i := from; i < to; i++ {
		r := customer{fmt.Sprintf(`"tier <%d>"`, (i+version)%3), fmt.Sprint(float64(i%7) / 8)}
		cs.rows[fmt.Sprint(i)] = r
		cs.write(fmt.Sprint(i), fmt.Appendf(nil, `{"name":"x","tier":%s,"account":{"score":%s}}`, r.tier, r.score))
	}
}

// write writes a record. A value of nil deletes the row.
func (cs *customers) write(key string, value []byte) {
	cs.t.Helper()
	if value == nil {
		delete(cs.rows, key)
	}
	p := cs.c.Producer()
	if err := p.Publish(cs.t.Context(), cs.topic, len(key)%2, []ingest.Record{{Key: []byte(key), Value: value, Time: 1}}); err != nil {
		cs.t.Fatal(err)
	}
}

// orders returns records, and what they are with the rows of the customers as they are now.
func (cs *customers) orders(from, to int) (bare, enriched []string) {
	for i := from; i < to; i++ {
		id := i * i % 31
		head := fmt.Sprintf(`{"customer_id":%d,"amount":%v,"label":%v`, id, float64(i%13), (id%3 == 0) != (i%13 > 9))
		bare = append(bare, head+"}")
		row, ok := cs.rows[fmt.Sprint(id)]
		if !ok {
			row = customer{"null", "null"}
		}
		enriched = append(enriched, head+fmt.Sprintf(`,"customers.tier":%s,"customers.account.score":%s}`, row.tier, row.score))
	}
	return bare, enriched
}

func tablesConfig(c model.Config, topic string) model.Config {
	c.Decode = decode.Config{
		Label: "label", Infer: true, Missing: "impute",
		Tables: []table.Config{{Topic: topic, As: "customers", Key: "customer_id", Fields: []string{"tier", "account.score"}}},
	}
	return c
}

// outcomes returns what predictions say, without the names of their models.
func outcomes(t *testing.T, c *ingest.Client, of string) (all []map[string]any) {
	for _, r := range kafkatest.Read(t, c, model.PredictionsTopic(of)) {
		var v map[string]any
		if err := json.Unmarshal(r.Value, &v); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"model", "lineage", "learned_to"} {
			delete(v, name)
		}
		all = append(all, v)
	}
	return all
}

// A learner that enriches records with the rows of a table, which change while it is stopped,
// predicts what one does whose records have these fields themselves. Its history is verified
// after the topic of the table has lost what it had.
func TestRecordsAreEnrichedAsIfTheyHadTheFields(t *testing.T) {
	addr, in, plain := kafkatest.Addr(t), kafkatest.Name("orders"), kafkatest.Name("enriched")
	c := kafkatest.ClientOf(t, addr, nil)
	cs := newCustomers(t, c)
	cfg, ev := learntest.Config(c, "tables", in)
	cfg = tablesConfig(cfg, cs.topic)
	change := []func(){
		func() { cs.set(0, 0, 25) },
		func() {
			cs.set(1, 10, 20)
			cs.write("3", nil)
			cs.write("4", []byte(`{"tier":`))
			cs.write("5", []byte(`{"tier":["a"]}`))
			cs.write("", []byte(`{"tier":"a"}`))
		},
		func() { cs.set(2, 3, 29) },
	}
	for i, changes := range change {
		changes()
		if i == 2 { // what the second run has learned is learned again, with the rows of that time
			learntest.DamageNewest(t, c, model.LogTopic(cfg.Model))
		}
		bare, enriched := cs.orders(500*i, 500*i+500)
		kafkatest.Fill(t, c, in, 1, bare)
		kafkatest.Fill(t, c, plain, 1, enriched)
		cfg.BatchSize = []int{1000, 77, 200}[i]
		learnAll(t, cfg)
	}
	other, _ := learntest.Config(c, "plain", plain)
	other.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute", Types: map[string]string{"customer_id": "id"}}
	learnAll(t, other)
	got, want := outcomes(t, c, cfg.Model), outcomes(t, c, other.Model)
	if len(got) != 1500 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d predictions differ from those for records with the fields", len(got))
	}
	if n := len(kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))); n > 0 {
		t.Errorf("%d records in quarantine", n)
	}
	last, _ := learntest.Last[event.Learned](ev)
	if s := last.Tables[0]; s.Rows != 29 || s.Set != 25+10+26 || s.Deleted != 1 || s.Rejected != 3 || s.Lag != 0 {
		t.Errorf("tables: %+v", s)
	}
	learnAll(t, cfg)
	if r, _ := learntest.Last[event.Replayed](ev); len(r.Tables) != 1 || r.Tables[0] != (event.Table{Status: last.Tables[0].Status}) {
		t.Errorf("tables of a learner that has nothing new to learn: %+v, want %+v", r.Tables, last.Tables)
	}

	kafkatest.Delete(t, addr, cs.topic)
	kafkatest.Fill(t, c, cs.topic, 1, nil)
	v, err := audit.Verify(t.Context(), cfg)
	if err != nil || v.Compared != 4 || v.Divergent != 0 || v.FromSeq != 1 { // the damaged one, too
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// A learner that runs reports that the topic of a table is deleted.
func TestALearnerReportsThatATableIsMissing(t *testing.T) {
	addr, in := kafkatest.Addr(t), kafkatest.Name("orders")
	c := kafkatest.ClientOf(t, addr, nil)
	cs := newCustomers(t, c)
	kafkatest.Fill(t, c, in, 1, nil)
	cfg, _ := learntest.Config(c, "missing", in)
	cfg = tablesConfig(cfg, cs.topic)
	missing := make(chan event.TableMissing, 100)
	cfg.ToEnd, cfg.Report = false, func(ev event.Event) {
		if ev, is := ev.(event.TableMissing); is {
			missing <- ev
		}
	}
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	ended := make(chan error)
	go func() { ended <- l.Run(ctx) }()
	kafkatest.Delete(t, addr, cs.topic)
	select {
	case ev := <-missing:
		if ev.Topic != cs.topic || !ev.Yes {
			t.Errorf("%+v", ev)
		}
	case <-ctx.Done():
		t.Error("nothing is reported")
	}
	stop()
	<-ended
}
