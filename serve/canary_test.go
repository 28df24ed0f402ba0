package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/serve/inference"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A canary predicts for a share of the keys, and for all of them still if the share grows.
func TestShareOfACanary(t *testing.T) {
	few, many, other := serve.Canary{Model: "b", Share: 0.1}, serve.Canary{Model: "b", Share: 0.4}, serve.Canary{Model: "c", Share: 0.1}
	n, both := 0, 0
	for i := range 20000 {
		key := []byte(fmt.Sprint(i))
		if few.Chooses(key, nil) {
			if n++; !many.Chooses(key, []byte("x")) || !few.Chooses(nil, key) {
				t.Fatalf("key %s is chosen, but not always", key)
			}
			if other.Chooses(key, nil) {
				both++
			}
		}
	}
	if math.Abs(float64(n)-2000) > 4*math.Sqrt(20000*0.1*0.9) || math.Abs(float64(both)-200) > 80 {
		t.Errorf("%d of 20,000 keys are chosen, want a tenth, and %d for another canary too, want a hundredth", n, both)
	}
	for _, c := range []serve.Canary{{Model: "b"}, {Model: "b", Share: 1}} {
		if c.Chooses([]byte("k"), nil) != (c.Share == 1) {
			t.Errorf("a share of %v chooses %v", c.Share, c.Share != 1)
		}
	}
}

// Predictions are those of the model or of the canary alone, by key; those of a shadow are in
// a topic of their own.
func TestCanaryAndShadow(t *testing.T) {
	w := newWorld(t)
	other := newWorldAt(w.addr, w.client)
	other.asked = w.asked
	const rows = 400
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 200, class))
	kafkatest.Fill(t, w.client, other.in, 1, rings(3, 300, class))
	w.learn(t, w.in)
	other.learn(t, other.in)
	kafkatest.Fill(t, w.client, w.asked, 1, nil)
	canary := serve.Canary{Model: other.model, Log: model.LogTopic(other.model), Share: 0.3}
	run := func(name, shadow string) func() {
		ctx, cancel := context.WithCancel(t.Context())
		ready, scored, ended := make(chan bool), 0, make(chan error, 1)
		c := serve.Config{
			Model: w.model, Client: w.client, Log: model.LogTopic(w.model), Topics: []string{w.asked}, Canary: canary,
			Output: name, Quarantine: model.QuarantineTopic(w.model), Group: name,
		}
		c.Canary.Shadow = shadow
		all := make(chan bool)
		c.Report = func(ev serve.Event) {
			switch ev := ev.(type) {
			case serve.CanarySwitched:
				close(ready)
			case serve.Scored:
				if scored += ev.Scored; ev.Scored > 0 && scored == rows { // other reports follow, of none
					close(all)
				}
			}
		}
		go func() { ended <- serve.NewScorer(c).Run(ctx) }()
		<-ready
		return func() {
			<-all
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	instead, beside, shadow := run(w.model+".instead", ""), run(w.model+".beside", w.model+".shadow"), w.model+".shadow"
	kafkatest.Fill(t, w.client, w.asked, 1, rings(5, rows, none))
	instead()
	beside()
	for _, alone := range []*world{w, other} {
		if err := alone.scorer(true).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	read := func(topic string) map[string]string {
		m := map[string]string{}
		for _, r := range kafkatest.Read(t, w.client, topic) {
			m[kafkatest.Header(r, "ce_id")] = kafkatest.Header(r, "ce_source") + string(r.Value)
		}
		return m
	}
	of, second := read(model.ScoresTopic(w.model)), read(model.ScoresTopic(other.model))
	is, was, behind := read(w.model+".instead"), read(w.model+".beside"), read(shadow)
	chosen := 0
	for offset, r := range kafkatest.Read(t, w.client, w.asked) {
		id := fmt.Sprintf("%s-0-%d", w.asked, offset)
		want, back := of[id], ""
		if canary.Chooses(r.Key, r.Value) {
			chosen++
			want, back = second[id], second[id]
		}
		if want == "" || is[id] != want || was[id] != of[id] || behind[id] != back {
			t.Fatalf("%s: %q, beside a shadow %q, shadow %q, want %q, %q and %q", id, is[id], was[id], behind[id], want, of[id], back)
		}
	}
	if len(is) != rows || len(was) != rows || len(behind) != chosen || chosen < rows/5 || chosen > rows/2 {
		t.Errorf("%d, %d and %d predictions of %d records, %d of them chosen", len(is), len(was), len(behind), rows, chosen)
	}
}

// The metadata of a canary has its current version, and not those of the model that it is tried beside.
func TestVersionsOfACanaryAreItsOwn(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		kafkatest.Fill(t, w.client, w.in, 1, rings(uint64(i), 300, class))
		w.learn(t, w.in)
	}
	f := serve.NewFollower(w.client, model.LogTopic(w.model), nil, func(string, error) {})
	champion, err := f.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := f.Archive().Version(t.Context(), fmt.Sprint(champion.ID.Step))
	if err != nil {
		t.Fatal(err)
	}
	other.ID.Name = "canary"
	mux := http.NewServeMux()
	(&inference.Server{
		Name: w.model, Model: func() *serve.Served { return champion }, Past: f.Archive(),
		Canary: serve.Canary{Model: "canary"}, Second: func() *serve.Served { return other },
	}).Register(mux)
	for name, versions := range map[string]int{w.model: 3, "canary": 1} {
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, httptest.NewRequest("GET", "/v2/models/"+name, nil))
		var about struct{ Versions []string }
		if err := json.Unmarshal(rec.Body.Bytes(), &about); err != nil || len(about.Versions) != versions {
			t.Errorf("%s: %s, want %d versions", name, rec.Body, versions)
		}
	}
}
