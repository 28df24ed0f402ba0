package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/serve/inference"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A scorer reads the topics of tables itself: its predictions are those that it makes for
// records that have the fields of the newest rows.
func TestAScorerEnrichesWithTheNewestRows(t *testing.T) {
	w, topic := newWorld(t), kafkatest.Name("customers")
	kafkatest.Fill(t, w.client, topic, 2, nil)
	set := func(key, tier string) {
		t.Helper()
		var value []byte
		if tier != "" {
			value = fmt.Appendf(nil, `{"tier":%q}`, tier)
		}
		if err := w.client.Producer().Publish(t.Context(), topic, len(key)%2, []ingest.Record{{Key: []byte(key), Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 12 {
		set(fmt.Sprint(i), []string{"gold", "silver", "none"}[i%3])
	}
	var learned []string
	for i := range 600 {
		learned = append(learned, fmt.Sprintf(`{"id":%d,"amount":%d,"label":"%v"}`, i%12, i*i%11, i%3 == 0))
	}
	kafkatest.Fill(t, w.client, w.in, 1, learned)
	cfg := w.learner(w.in)
	cfg.Decode = decode.Config{
		Label: "label", Infer: true, Missing: "impute",
		Tables: []decode.Table{{Topic: topic, As: "customers", Key: "id", Fields: []string{"tier"}}},
	}
	l, err := pipeline.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	set("0", "silver")
	set("11", "")
	set("100", "gold")
	now := map[int]string{0: `"silver"`, 1: `"silver"`, 3: `"gold"`, 11: "null", 100: `"gold"`, 7000: "null"}
	var asked []string
	for id, tier := range now {
		asked = append(asked, fmt.Sprintf(`{"id":%d,"amount":5}`, id), fmt.Sprintf(`{"id":7000,"amount":5,"customers.tier":%s}`, tier))
	}
	kafkatest.Fill(t, w.client, w.asked, 1, asked)
	if err := w.scorer(true).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	scores := answers(kafkatest.Read(t, w.client, model.ScoresTopic(w.model)))
	seen := map[string]bool{}
	for i := 0; i < len(asked); i += 2 {
		var got, want map[string]any
		for k, to := range []*map[string]any{&got, &want} {
			if err := json.Unmarshal([]byte(scores[fmt.Sprintf("%s-0-%d", w.asked, i+k)]), to); err != nil {
				t.Fatal(err)
			}
		}
		seen[fmt.Sprint(want["probabilities"])] = true
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s has %v, with the fields of its row %v", asked[i], got, want)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d different predictions for three values of a column", len(seen))
	}
}

// A model of the past that is asked over HTTP has the rows of the tables, as the one that is
// served, whichever of them is asked first. One whose tables are others is refused. Rows of requests
// without a row of a table are counted.
func TestModelsOfThePastHaveTheRowsOfTheirTables(t *testing.T) {
	w, topic := newWorld(t), kafkatest.Name("customers")
	kafkatest.Fill(t, w.client, topic, 1, nil)
	for i, tier := range []string{"gold", "silver", "none"} {
		if err := w.client.Producer().Publish(t.Context(), topic, 0, []ingest.Record{{Key: fmt.Append(nil, i), Value: fmt.Appendf(nil, `{"tier":%q}`, tier)}}); err != nil {
			t.Fatal(err)
		}
	}
	cfg := w.learner(w.in)
	cfg.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute", Tables: []decode.Table{{Topic: topic, As: "customers", Key: "id", Fields: []string{"tier"}}}}
	for range 2 {
		var learned []string
		for i := range 300 {
			learned = append(learned, fmt.Sprintf(`{"id":%d,"amount":%d,"label":"%v"}`, i%3, i*i%11, i%3 == 0))
		}
		kafkatest.Fill(t, w.client, w.in, 1, learned)
		l, err := pipeline.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	switched := make(chan *serve.Served, 1)
	s := serve.NewScorer(serve.Config{Model: w.model, Client: w.client, Log: model.LogTopic(w.model), Report: func(ev serve.Event) {
		if ev, ok := ev.(serve.Switched); ok {
			switched <- ev.To
		}
	}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Follow(ctx) }()
	defer func() { stop(); <-ended }()
	champion := <-switched
	all, _ := w.manifests(t)
	past := all[len(all)-1].Step
	for i := range all {
		if step := all[i].Step; step > 0 && step < champion.ID.Step {
			past = step
		}
	}
	if past == champion.ID.Step {
		t.Fatal("there is no model of the past")
	}
	for _, order := range [][]int64{{past, champion.ID.Step, past}, {champion.ID.Step, past, champion.ID.Step}} {
		mux, missing := http.NewServeMux(), int64(0)
		(&inference.Server{Name: w.model, Version: "v1", Model: s.Model, Past: s.Archive(), NoRow: func(table string, records int64) {
			if missing += records; table != "customers" {
				t.Errorf("%d records without a row in %s", records, table)
			}
		}}).Register(mux)
		ask := func(step int64, inputs string) string {
			t.Helper()
			rec, path := httptest.NewRecorder(), fmt.Sprintf("/v2/models/%s/versions/%d/infer", w.model, step)
			mux.ServeHTTP(rec, httptest.NewRequest("POST", path, strings.NewReader(`{"inputs":[{"name":"amount","shape":[1],"datatype":"FP64","data":[5]},`+inputs+`]}`)))
			if rec.Code != http.StatusOK {
				t.Fatalf("step %d: status %d: %s", step, rec.Code, rec.Body)
			}
			return rec.Body.String()
		}
		for _, step := range order {
			got := ask(step, `{"name":"id","shape":[1],"datatype":"BYTES","data":["0"]}`)
			want := ask(step, `{"name":"customers.tier","shape":[1],"datatype":"BYTES","data":["gold"]}`)
			none := ask(step, `{"name":"id","shape":[1],"datatype":"BYTES","data":["unknown"]}`)
			if got != want || got == none {
				t.Errorf("step %d of %v: %s, with the field of the row %s, without a row %s", step, order, got, want, none)
			}
		}
		if missing != 6 {
			t.Errorf("%d rows of requests without a row of the table are counted, want 6", missing)
		}
	}
	m, err := s.Archive().Version(t.Context(), fmt.Sprint(past))
	if err != nil || !m.ReadsLike(champion) {
		t.Errorf("%v: it does not read records as the model that is served", err)
	}
	bare, err := serve.NewFollower(w.client, model.LogTopic(w.model), nil, func(string, error) {}).Next(t.Context())
	if err != nil || bare.ReadsLike(champion) || champion.ReadsLike(bare) {
		t.Errorf("%v: a model without rows reads records as one with rows", err)
	}
	if m, err := serve.NewScorer(serve.Config{Client: w.client, Log: model.LogTopic(w.model)}).Archive().At(t.Context(), lastManifest(t, w)); err == nil {
		t.Errorf("step %d is served without the rows of its tables", m.ID.Step)
	}
}

// lastManifest returns the offset of the newest MANIFEST in the log of a model.
func lastManifest(t *testing.T, w *world) (last int64) {
	for _, r := range kafkatest.Read(t, w.client, model.LogTopic(w.model)) {
		if v, err := modellog.Parse(r.Key, r.Value); err == nil {
			if _, ok := v.(*modellog.Manifest); ok {
				last = r.Offset
			}
		}
	}
	return last
}

// A scorer that runs sees a row that changes, and that the topic is deleted.
func TestAScorerFollowsItsTables(t *testing.T) {
	w, topic := newWorld(t), kafkatest.Name("customers")
	kafkatest.Fill(t, w.client, topic, 1, nil)
	kafkatest.Fill(t, w.client, w.in, 1, []string{`{"id":"a","amount":1,"label":"x"}`, `{"id":"b","amount":2,"label":"y"}`})
	cfg := w.learner(w.in)
	cfg.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute", Tables: []decode.Table{{Topic: topic, As: "customers", Key: "id", Fields: []string{"tier"}}}}
	l, err := pipeline.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	changed := make(chan serve.Enriched, 100)
	switched := make(chan *serve.Served, 1)
	missing := make(chan serve.TableMissing, 100)
	s := serve.NewScorer(serve.Config{Model: w.model, Client: w.client, Log: model.LogTopic(w.model), Report: func(ev serve.Event) {
		switch ev := ev.(type) {
		case serve.Enriched:
			changed <- ev
		case serve.TableMissing:
			missing <- ev
		case serve.Switched:
			switched <- ev.To
		}
	}})
	go s.Follow(t.Context())
	m := <-switched
	d, err := m.NewDecoder(m.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.client.Producer().Publish(t.Context(), topic, 0, []ingest.Record{{Key: []byte("a"), Value: []byte(`{"tier":"gold"}`), Time: time.Now().UnixMilli()}}); err != nil {
		t.Fatal(err)
	}
	if ev := <-changed; ev.Tables[0].Rows != 1 || ev.Lags[0] != 0 {
		t.Errorf("%+v", ev)
	}
	row, err := m.Read(d, &ingest.Record{Value: []byte(`{"id":"a","amount":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	x := slices.Clone(row.X)
	own, err := m.Read(d, &ingest.Record{Value: []byte(`{"id":"b","amount":1,"customers.tier":"gold"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x, own.X) {
		t.Errorf("%v, with its field %v", x, own.X)
	}
	kafkatest.Delete(t, w.addr, topic)
	if ev := <-missing; ev.Topic != topic || !ev.Yes {
		t.Errorf("%+v", ev)
	}
}
