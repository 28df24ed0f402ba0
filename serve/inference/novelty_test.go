package inference

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
)

// novel returns a model of novelty that has learned that many rows, and rows for it.
func novel(t *testing.T, n int) (*serve.Served, []string) {
	rng := rand.New(rand.NewPCG(5, 6))
	var rows []string
	for range n {
		rows = append(rows, fmt.Sprintf(`{"a":%v,"city":"c%d"}`, rng.NormFloat64(), rng.IntN(3)))
	}
	c := learner.Config{Task: learner.Novelty, Nu: 0.1}
	return fitted(t, c, decode.Config{Task: learner.Novelty, Infer: true, Missing: "impute"}, rows), rows
}

// A model of novelty answers with a flag, a score and a threshold, and refuses bad rows as
// the others do.
func TestNoveltyOverHTTP(t *testing.T) {
	m, rows := novel(t, 300)
	rows = append(rows[:20:20], `{"a":50,"city":"c1"}`)
	c, p := newClient(t, m), want(t, m, rows)
	type object struct {
		Prediction       bool
		Score, Threshold float64
	}
	flagged := 0
	for i, v := range in[[]object](t, c.ask("POST", "/predict", "["+strings.Join(rows, ",")+"]", 200)) {
		if v.Score != p.Row(i)[0] || v.Threshold != p.Row(i)[1] || v.Prediction != learner.Novel(p.Row(i)) {
			t.Errorf("row %d: %+v, want %v", i, v, p.Row(i))
		}
		if v.Prediction {
			flagged++
		}
		if i == 20 && !v.Prediction {
			t.Errorf("%s is not flagged", rows[i])
		}
	}
	if flagged > 10 {
		t.Errorf("%d of %d rows are flagged", flagged, len(rows))
	}
	const inputs = `{"inputs":[{"name":"a","datatype":"FP64","shape":[1],"data":[50]},{"name":"city","datatype":"BYTES","shape":[1],"data":["c1"]}]`
	a := in[answer](t, c.ask("POST", "/v2/models/fraud/infer", inputs+"}", 200))
	if len(a.Outputs) != 3 || in[[]bool](t, string(a.Outputs[0].Data))[0] != true || in[[]float64](t, string(a.Outputs[1].Data))[0] != p.Row(20)[0] || in[[]float64](t, string(a.Outputs[2].Data))[0] != p.Row(20)[1] {
		t.Errorf("answered %+v, want %v", a, p.Row(20))
	}
	if a = in[answer](t, c.ask("POST", "/v2/models/fraud/infer", inputs+`,"outputs":[{"name":"score"}]}`, 200)); len(a.Outputs) != 1 || a.Outputs[0].Name != "score" {
		t.Errorf("answered %+v", a)
	}
	for body, reason := range map[string]string{
		`{"a":"x","city":"c1"}`:           `"a" is text "x", want a number`,
		`{"a":1,"city":2}`:                `"city"`,
		`{"a":1,"town":"c1"}`:             `unknown field "town"`,
		`[{"a":1},{"a":1e400}]`:           `row 1`,
		`[{"a":1,"city":"c1"},{"a":true}`: `not JSON`,
	} {
		if got := in[struct{ Error string }](t, c.ask("POST", "/predict", body, 400)); !strings.Contains(got.Error, reason) {
			t.Errorf("%s: %s, want %s", body, got.Error, reason)
		}
	}
	for body, reason := range map[string]string{
		inputs + `,"outputs":[{"name":"probabilities"}]}`:                               `unknown output`,
		`{"inputs":[{"name":"a","datatype":"FP64","shape":[1],"data":["x"]}]}`:          `want FP64`,
		`{"inputs":[{"name":"rows","datatype":"FP64","shape":[1,3],"data":[[1,2,3]]}]}`: `want [rows, 2]`,
		`{"inputs":[{"name":"city","datatype":"FP64","shape":[1,1],"data":[[1]]}]}`:     `"city"`,
	} {
		if got := in[struct{ Error string }](t, c.ask("POST", "/v2/models/fraud/infer", body, 400)); !strings.Contains(got.Error, reason) {
			t.Errorf("%s: %s, want %s", body, got.Error, reason)
		}
	}

	m, _ = novel(t, 5) // before the first fit
	c = newClient(t, m)
	if got := in[map[string]any](t, c.ask("POST", "/predict", `{"a":1,"city":"c1"}`, 200)); got["prediction"] != nil || got["score"] != nil {
		t.Errorf("before the first fit: %v", got)
	}
	if got := in[struct{ Error string }](t, c.ask("POST", "/v2/models/fraud/infer", inputs+"}", 503)); !strings.Contains(got.Error, "not learned enough rows") {
		t.Errorf("before the first fit: %s", got.Error)
	}
}
