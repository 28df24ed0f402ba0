package oracle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/oracle"
)

// enriched returns the topics after a pipeline has learned records with the rows of a table in
// two runs, and the partition of the rows.
func enriched(t *testing.T) (oracle.World, oracle.Partition) {
	addr := kafkatest.Addr(t)
	c, in, of := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("orders"), kafkatest.Name("customers")
	cfg := config(c, in, "numbers")
	cfg.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute", Tables: []table.Config{
		{Topic: of, As: "customer", Key: "id", Fields: []string{"tier", "account.score"}, Rows: 20},
	}}
	cfg.Learner.Algorithm = "cdsg" // which is quick
	kafkatest.Fill(t, c, of, 1, nil)
	for run := range 2 {
		var rs []ingest.Record
		for i := range 60 {
			r := ingest.Record{Key: fmt.Append(nil, (i*7+run)%30), Value: fmt.Appendf(nil, `{"tier":"<%d>","account":{"score":%d.5}}`, i%3, i)}
			switch i % 20 {
			case 5:
				r.Value = nil
			case 6:
				r.Value = []byte(`{"tier":[1]}`)
			}
			rs = append(rs, r)
		}
		if err := c.Producer().Publish(t.Context(), of, 0, rs); err != nil {
			t.Fatal(err)
		}
		var values []string
		for i := range 200 {
			values = append(values, fmt.Sprintf(`{"id":%d,"x":%v,"label":%v}`, i%33, float64(i%11)/7, i%4 == 0))
		}
		kafkatest.Fill(t, c, in, 2, values)
		learnAll(t, cfg)
	}
	w, err := oracle.Load(t.Context(), strings.Split(addr, ","), cfg.Model, in, of)
	if err != nil {
		t.Fatal(err)
	}
	return w, oracle.Partition{Topic: of}
}

func TestOracleComparesRowsOfTables(t *testing.T) {
	w, of := enriched(t)
	r := oracle.Check(w)
	if n := r.Tables; r.Divergences != 0 || r.Lost != 0 || r.Compared < 2 || r.Learned != 400 || min(n.Set, n.Deleted, n.Evicted, n.Rejected, n.Found, n.Missing) == 0 || n.Found+n.Missing != 400 {
		t.Errorf("%+v", r)
	}
	written := w.Inputs[of]
	for what, change := range map[string]func(rs []oracle.Record) []oracle.Record{
		"the newest record of a key is missing": func(rs []oracle.Record) []oracle.Record { return append(rs[:100:100], rs[101:]...) },
		"another value":                         func(rs []oracle.Record) []oracle.Record { rs[70].Value = []byte(`{"tier":"gold"}`); return rs },
		"another key":                           func(rs []oracle.Record) []oracle.Record { rs[70].Key = []byte("x"); return rs },
		"a row where there was none":            func(rs []oracle.Record) []oracle.Record { rs[66].Value = []byte(`{"tier":"gold"}`); return rs },
		"no row where there was one":            func(rs []oracle.Record) []oracle.Record { rs[67].Value = []byte(`{`); return rs },
	} {
		w.Inputs[of] = change(append([]oracle.Record(nil), written...))
		if r := oracle.Check(w); r.Divergences == 0 {
			t.Errorf("%s: the oracle finds no fault", what)
		}
	}
	w.Inputs[of] = written
	for i, e := range w.Log { // what a BATCH has of a row is covered by its chain
		if string(e.Key) == "batch" && strings.Contains(string(e.Value), `\u003c1\u003e`) {
			w.Log[i].Value = []byte(strings.Replace(string(e.Value), `\u003c1\u003e`, `\u003c2\u003e`, 1))
			break
		}
	}
	if r := oracle.Check(w); r.Divergences == 0 {
		t.Error("another row in the model log: the oracle finds no fault")
	}
}
