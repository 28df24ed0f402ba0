package inference

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/modeltest"
)

// fitted returns a model of JSON records.
func fitted(t testing.TB, c learner.Config, in decode.Config, records []string) *serve.Served {
	t.Helper()
	m, err := serve.NewServed(snapshotOf(t, c, in, records))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func snapshotOf(t testing.TB, c learner.Config, in decode.Config, records []string) *snapshot.Snapshot {
	t.Helper()
	return snapshotsOf(t, c, in, records, len(records))[0]
}

// snapshotsOf returns those of one learner after these numbers of records, in order.
func snapshotsOf(t testing.TB, c learner.Config, in decode.Config, records []string, at ...int) (all []*snapshot.Snapshot) {
	t.Helper()
	if c.MaxFeatures = max(32, c.MaxFeatures); c.Task != learner.Novelty && c.Algorithm == "" {
		c.Algorithm = "ridge"
	}
	return modeltest.Snapshots(t, c, in, records, at...)
}

// typed is a model of classes with columns of every type.
func typed(t testing.TB) (*serve.Served, []string) {
	rng := rand.New(rand.NewPCG(1, 2))
	var records, rows []string
	for i := range 200 {
		x := rng.NormFloat64()
		row := fmt.Sprintf(`"amount":%.4f,"country":"c%d","paid":%v,"at":"2024-01-%02dT00:00:00Z"`, x, rng.IntN(30), i%3 == 0, 1+i%28)
		rows = append(rows, "{"+row+"}")
		records = append(records, fmt.Sprintf(`{%s,"y":"%v"}`, row, x > 0.2))
	}
	return fitted(t, learner.Config{}, decode.Config{Label: "y", Infer: true, Missing: "impute", Depth: decode.MaxDepth}, records), rows[:50]
}

// dense is a model of a number with an interval, from lists of two.
func dense(t testing.TB) *serve.Served {
	rng := rand.New(rand.NewPCG(3, 4))
	var records []string
	for range 200 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		records = append(records, fmt.Sprintf(`{"x":[%v,%v],"y":%v}`, a, b, a*b+rng.NormFloat64()/4))
	}
	return fitted(t, learner.Config{Intervals: 0.9, Variance: true, Task: learner.Regression}, decode.Config{}, records)
}

type client struct {
	t   testing.TB
	mux *http.ServeMux
}

func newClient(t testing.TB, m *serve.Served) client {
	mux := metrics.Mux(prometheus.NewRegistry(), metrics.NewHealth(time.Now))
	(&Server{Name: "fraud", Version: "v1", Model: func() *serve.Served { return m }}).Register(mux)
	return client{t, mux}
}

// ask makes a request and checks the status. The answer is valid JSON.
func (c client) ask(method, path, body string, code int) string {
	c.t.Helper()
	w := httptest.NewRecorder()
	c.mux.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	if w.Code != code || !json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Type") != "application/json" {
		c.t.Errorf("%s %s %.300s: status %d, want %d: %s", method, path, body, w.Code, code, w.Body)
	}
	if later := w.Header().Get("Retry-After") != ""; later != (code == http.StatusServiceUnavailable || code == http.StatusTooManyRequests) {
		c.t.Errorf("%s %s: status %d with Retry-After %v", method, path, code, later)
	}
	if code >= 400 && !strings.HasSuffix(path, "/ready") && !strings.HasPrefix(w.Body.String(), `{"error":"`) {
		c.t.Errorf("%s %s: %s", method, path, w.Body)
	}
	return w.Body.String()
}

func in[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

type answer struct {
	ModelName    string `json:"model_name"`
	ModelVersion string `json:"model_version"`
	ID           *string
	Parameters   map[string]string
	Outputs      []struct {
		Name, Datatype string
		Shape          []int
		Data           json.RawMessage
	}
}

// want returns the predictions of rows, as a Go program computes them.
func want(t *testing.T, m *serve.Served, rows []string) learner.Predictions {
	t.Helper()
	d, err := decode.New(m.Decode, m.Schema)
	if err != nil {
		t.Fatal(err)
	}
	var b learner.Batch
	b.Reset(len(m.Schema.Columns))
	for _, r := range rows {
		row, err := d.Decode([]byte(r))
		if err != nil {
			t.Fatal(err)
		}
		b.Append(row.X, learner.Label{}, 1)
	}
	return m.Predict(&b)
}

// A row has one prediction to the bit: as an object, in a list, as named columns, and
// where all columns are numbers as one tensor, nested or flat.
func TestEverySpellingHasTheSamePrediction(t *testing.T) {
	m, rows := typed(t)
	c, p := newClient(t, m), want(t, m, rows)
	type object struct {
		Prediction    string
		Probabilities map[string]float64
		Model         string
		Step          int64
	}
	list := in[[]object](t, c.ask("POST", "/predict", "["+strings.Join(rows, ",")+"]", 200))
	columns := map[string][]json.RawMessage{}
	for i, r := range rows {
		one := in[object](t, c.ask("POST", "/predict", r, 200))
		for k, class := range m.Schema.Classes {
			if v := p.Row(i)[k]; one.Probabilities[class] != v || list[i].Probabilities[class] != v {
				t.Fatalf("%s: %+v and %+v, want %v of %s", r, one, list[i], v, class)
			}
		}
		for name, v := range in[map[string]json.RawMessage](t, r) {
			columns[name] = append(columns[name], v)
		}
	}
	var inputs []string
	for name, datatype := range map[string]string{"amount": "FP64", "country": "BYTES", "paid": "BOOL", "at": "BYTES"} {
		data, _ := json.Marshal(columns[name])
		inputs = append(inputs, fmt.Sprintf(`{"name":%q,"datatype":%q,"shape":[50,1],"data":%s}`, name, datatype, data))
	}
	a := in[answer](t, c.ask("POST", "/v2/models/fraud/infer", `{"id":"r 1","inputs":[`+strings.Join(inputs, ",")+`]}`, 200))
	if a.ModelName != "fraud" || a.ModelVersion != fmt.Sprint(m.ID.Step) || *a.ID != "r 1" || a.Parameters["lineage"] != m.ID.Lineage.String() || len(a.Outputs) != 2 {
		t.Errorf("answered %+v", a)
	}
	names, values := in[[]string](t, string(a.Outputs[0].Data)), in[[]float64](t, string(a.Outputs[1].Data))
	a = in[answer](t, c.ask("POST", "/v2/models/fraud/infer", `{"inputs":[`+strings.Join(inputs, ",")+`],"outputs":[{"name":"classes"}]}`, 200))
	if got := in[[]string](t, string(a.Outputs[0].Data)); len(a.Outputs) != 1 || !slices.Equal(got, m.Schema.Classes) || fmt.Sprint(a.Outputs[0].Shape) != "[2]" {
		t.Errorf("classes answered as %+v, want %v", a, m.Schema.Classes)
	}
	for i := range rows {
		if names[i] != list[i].Prediction || values[2*i] != p.Row(i)[0] || values[2*i+1] != p.Row(i)[1] {
			t.Fatalf("row %d: %s %v, want %+v", i, names[i], values[2*i:2*i+2], list[i])
		}
	}

	m = dense(t)
	c, p = newClient(t, m), want(t, m, []string{`{"x":[0.1,-2]}`, `{"x":[3,1e-3]}`})
	low, high := p.Uncertainty(1).Bounds(p.Row(1)[0], 0)
	variance := p.Uncertainty(1).Variance(0)
	for _, inputs := range []string{
		`{"name":"rows","datatype":"FP32","shape":[2,2],"data":[[0.1,-2],[3,1e-3]]}`,
		`{"name":"rows","datatype":"FP64","shape":[2,2],"data":[0.1,-2,3,1e-3]}`,
		`{"name":"1","datatype":"FP64","shape":[2],"data":[-2,1e-3]},{"name":"0","datatype":"FP64","shape":[2],"data":[0.1,3]}`,
	} {
		a := in[answer](t, c.ask("POST", "/v2/models/fraud/versions/"+fmt.Sprint(m.ID.Step)+"/infer", `{"inputs":[`+inputs+`]}`, 200))
		got, bounds, variances := in[[]float64](t, string(a.Outputs[0].Data)), in[[]float64](t, string(a.Outputs[1].Data)), in[[]float64](t, string(a.Outputs[2].Data))
		if got[0] != p.Row(0)[0] || got[1] != p.Row(1)[0] || bounds[2] != low || bounds[3] != high || a.Outputs[2].Name != "variance" || variances[1] != variance || len(variances) != 2 || a.ID != nil || fmt.Sprint(a.Outputs[1].Shape) != "[2 2]" {
			t.Errorf("%s: %+v, want %v, %v to %v", inputs, a, p.Values, low, high)
		}
	}
	a = in[answer](t, c.ask("POST", "/v2/models/fraud/infer", `{"inputs":[{"name":"rows","datatype":"FP32","shape":[1,2],"data":[1,null]}],"outputs":[{"name":"prediction"}]}`, 400))
	a = in[answer](t, c.ask("POST", "/v2/models/fraud/infer", `{"parameters":{"interval":false},"inputs":[{"name":"rows","datatype":"INT8","shape":[1,2],"data":[1,2]}]}`, 200))
	if len(a.Outputs) != 2 || a.Outputs[0].Name != "prediction" || a.Outputs[1].Name != "variance" {
		t.Errorf("answered %+v", a)
	}
}

func TestMetadataAndHealth(t *testing.T) {
	m, _ := typed(t)
	c := newClient(t, m)
	for path, text := range map[string]string{
		"/v2":                    `{"extensions":["binary_tensor_data"],"name":"accrete","version":"v1"}`,
		"/v2/":                   `{"extensions":["binary_tensor_data"],"name":"accrete","version":"v1"}`,
		"/v2/health/live":        `{"live":true}`,
		"/v2/health/ready":       `{"live":true,"ready":true}`,
		"/v2/models/fraud/ready": `{"name":"fraud","ready":true}`,
		"/v2/models/fraud":       fmt.Sprintf(`{"name":"fraud","versions":["%d"],"platform":"accrete","inputs":[{"name":"amount","datatype":"FP64","shape":[-1]},{"name":"at","datatype":"BYTES","shape":[-1]},{"name":"country","datatype":"BYTES","shape":[-1]},{"name":"paid","datatype":"BOOL","shape":[-1]}],"outputs":[{"name":"prediction","datatype":"BYTES","shape":[-1]},{"name":"probabilities","datatype":"FP64","shape":[-1,2]},{"name":"classes","datatype":"BYTES","shape":[2]}]}`, m.ID.Step),
	} {
		if got := c.ask("GET", path, "", 200); got != text {
			t.Errorf("%s: %s, want %s", path, got, text)
		}
	}
	version := fmt.Sprintf("/v2/models/fraud/versions/%d", m.ID.Step)
	c.ask("GET", version, "", 200)
	c.ask("GET", version+"/ready", "", 200)
	for _, path := range []string{"/v2/models/other", "/v2/models/other/ready", "/v2/models/fraud/versions/1000000", "/v2/models/fraud/versions/x/ready", "/v2/nothing"} {
		c.ask("GET", path, "", 404)
	}
	for _, m := range []*serve.Served{nil, {}} { // no model, and one that has read no row
		none := newClient(t, m)
		none.ask("GET", "/v2/health/live", "", 200)
		none.ask("GET", "/v2/health/ready", "", 400)
		none.ask("GET", "/v2/models/fraud/ready", "", 400)
		none.ask("POST", "/predict", `{"amount":1}`, 503)
	}
	newClient(t, nil).ask("GET", "/v2/models/fraud", "", 503)
}

func TestBadRequestsAreRefused(t *testing.T) {
	m, _ := typed(t)
	c := newClient(t, m)
	for body, reason := range map[string]string{
		`{"amount":"x"}`:                 `"amount" is text "x", want a number`,
		`{"amount":1,"other":2}`:         `unknown field "other"`,
		`[{"amount":1},{"amount":true}]`: `row 1: columns: "amount" is true, want a number`,
		``:                               `the body is empty`,
		`[1,`:                            `the body is not JSON`,
		"\xff":                           `not valid UTF-8`,
		"{\"amount\":1}\n{\"amount\":2}": `the body has more than one object: want one, or a list of objects`,
		`{"amount":1} x`:                 `json: 1 bytes after the end`,
		"amount,paid\n1,true\n":          `the body is "amount,paid\n1,true": want an object, or a list of objects`,
	} {
		if got := in[struct{ Error string }](t, c.ask("POST", "/predict", body, 400)); !strings.Contains(got.Error, reason) {
			t.Errorf("%s: %s, want %s", body, got.Error, reason)
		}
	}
	input := func(name, datatype, shape, data string) string {
		return fmt.Sprintf(`{"inputs":[{"name":%q,"datatype":%q,"shape":%s,"data":%s}]}`, name, datatype, shape, data)
	}
	for body, reason := range map[string]string{
		`{}`: `no inputs`, `[]`: `it is a list, want an object`,
		`{"inputs":{}}`:                                       `"inputs" is an object, want a list`,
		`{"id":7,"inputs":[]}`:                                `"id" is a number, want text`,
		`{"inputs":[{"shape":[1.5]}]}`:                        `"inputs.shape" is 1.5, want an integer`,
		`{"parameters":{"explain":"true"}}`:                   `"parameters.explain" is text, want a boolean`,
		input("amount", "FP65", "[1]", "[1]"):                 `datatype`,
		input("amount", "FP64", "[2]", "[1]"):                 `1 values`,
		input("amount", "FP64", "[-1]", "[1]"):                `a dimension is negative`,
		input("rows", "FP64", "[1,-4]", "[1,2,3,4]"):          `a dimension is negative`,
		input("rows", "FP64", "[-1,-4]", "[1,2,3,4]"):         `a dimension is negative`,
		input("amount", "FP64", "[]", "[1]"):                  `shape`,
		input("amount", "FP64", "[1,1,1]", "[1]"):             `shape`,
		input("amount", "FP64", "[1]", "1"):                   `want a list`,
		input("amount", "FP64", "[1]", `[{"a":1}]`):           `an object is no value`,
		input("amount", "FP64", "[1]", `["1"]`):               `want FP64`,
		input("amount", "INT8", "[1]", `[1.5]`):               `want INT8`,
		input("amount", "UINT8", "[1]", `[-1]`):               `want UINT8`,
		input("paid", "BOOL", "[1]", `[1]`):                   `want BOOL`,
		input("country", "BYTES", "[1]", `[1]`):               `want BYTES`,
		input("amount", "BYTES", "[1]", `["x"]`):              `row 0: columns: "amount" is text "x", want a number`,
		input("rows", "FP64", "[1,2]", `[1,2]`):               `want [rows, 4]`,
		input("rows", "FP64", "[2,2]", `[[1,2,3],[4]]`):       `a list has 3 values, but the shape is [2 2]: want 2 in each list`,
		input("rows", "FP64", "[2,3]", `[[1,2],[3,4],[5,6]]`): `a list has 2 values, but the shape is [2 3]`,
		input("rows", "FP64", "[2,2]", `[[1,2],[],[3,4]]`):    `a list has 0 values`,
		input("rows", "FP64", "[2,2]", `[1,2,[3,4]]`):         `values and lists are mixed`,
		input("rows", "FP64", "[2,2]", `[[1,2],[3,[4]]]`):     `values and lists are mixed`,
		input("amount", "FP64", "[2]", `[[1,2]]`):             `a list has 2 values, but the shape is [2]: want 1 in each list`,
		`{"inputs":[{"name":"amount","datatype":"FP64","shape":[1],"data":[1]},{"name":"amount","datatype":"FP64","shape":[1],"data":[1]}]}`:       `twice`,
		`{"inputs":[{"name":"amount","datatype":"FP64","shape":[1],"data":[1]},{"name":"paid","datatype":"BOOL","shape":[2],"data":[true,true]}]}`: `as input`,
		`{"inputs":[{"name":"amount","datatype":"FP64","shape":[1],"data":[1]}],"outputs":[{"name":"x"}]}`:                                         `unknown output "x": want prediction, probabilities, classes`,
	} {
		if got := in[struct{ Error string }](t, c.ask("POST", "/v2/models/fraud/infer", body, 400)); !strings.Contains(got.Error, reason) {
			t.Errorf("%s: %s, want %s", body, got.Error, reason)
		}
	}
	c.ask("POST", "/v2/models/other/infer", `{}`, 404)
	c.ask("POST", "/predict", strings.Repeat(" ", MaxBytes+1), 413)
	for path, reason := range map[string]string{
		"/predict?explain=yes":                           `explain is "yes": want true or false`,
		"/predict?explain":                               `explain is "": want true or false`,
		"/predict?explian=true":                          `unknown query parameter "explian": want explain`,
		"/predict?explain=true&key=k":                    `unknown query parameter "key": want explain`,
		"/predict?explain=%zz":                           `invalid URL escape`,
		"/v2/models/fraud/infer?explain=true":            `unknown query parameter "explain": there are none, parameters are in the body`,
		"/v2/models/fraud/versions/champion/infer?key=k": `unknown query parameter "key"`,
	} {
		if got := in[struct{ Error string }](t, c.ask("POST", path, `{"amount":1}`, 400)); !strings.Contains(got.Error, reason) {
			t.Errorf("%s: %s, want %s", path, got.Error, reason)
		}
	}
	c.ask("POST", "/v2/models/fraud/infer", input("amount", "FP64", "[1000000,1000000]", "[1]"), 413)
	c.ask("POST", "/predict", "["+strings.Repeat("{},", MaxRows)+"{}]", 413)
}

// A row that settles the type of a column, or a class, does not influence other requests.
func TestRequestsDoNotInfluenceEachOther(t *testing.T) {
	var records []string
	for i := range 100 {
		records = append(records, fmt.Sprintf(`{"a":%d,"b":null,"y":%d}`, i%7, i%5))
	}
	c := newClient(t, fitted(t, learner.Config{}, decode.Config{Label: "y", Infer: true, Missing: "impute"}, records))
	for range 3 {
		c.ask("POST", "/predict", `{"a":1,"b":"text"}`, 200)
		c.ask("POST", "/predict", `{"a":1,"b":2}`, 200)
	}
}

// Requests beyond those in progress wait, and are refused when nothing becomes free.
func TestTooManyRequestsAreRefused(t *testing.T) {
	m, _ := typed(t)
	synctest.Test(t, func(t *testing.T) {
		mux := http.NewServeMux()
		var codes []int
		s := &Server{Name: "fraud", Model: func() *serve.Served { return m }, Observe: func(code, rows int, _ time.Duration) { codes = append(codes, code, rows) }}
		s.Register(mux)
		for range atOnce {
			s.busy <- struct{}{}
		}
		c, start := client{t, mux}, time.Now()
		c.ask("POST", "/predict", `{"amount":1}`, 429)
		if waited := time.Since(start); waited != busyWait {
			t.Errorf("waited for %v", waited)
		}
		time.AfterFunc(busyWait/2, func() { <-s.busy })
		c.ask("POST", "/predict", `{"amount":1}`, 200)
		if fmt.Sprint(codes) != "[429 0 200 1]" {
			t.Errorf("observed %v", codes)
		}
	})
}

// The page describes every path, and nothing else.
func TestOpenAPIDescribesThePaths(t *testing.T) {
	m, _ := typed(t)
	c := newClient(t, m)
	page := in[struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}](t, c.ask("GET", "/openapi.json", "", 200))
	if page.OpenAPI != "3.0.3" || len(page.Paths) != 10 {
		t.Errorf("%s with %d paths", page.OpenAPI, len(page.Paths))
	}
	for path, methods := range page.Paths {
		at := strings.NewReplacer("{model}", "fraud", "{version}", fmt.Sprint(m.ID.Step)).Replace(path)
		for method := range methods {
			if method == "parameters" {
				continue
			}
			if _, pattern := c.mux.Handler(httptest.NewRequest(strings.ToUpper(method), at, nil)); !strings.HasSuffix(pattern, " "+path) {
				t.Errorf("%s %s is answered by %q", method, path, pattern)
			}
		}
	}
}

func FuzzRequests(f *testing.F) {
	m, rows := typed(f)
	for _, s := range []string{rows[0], `[]`, `{"inputs":[{"name":"amount","datatype":"FP64","shape":[1],"data":[1]}]}`, `{"inputs":[{"name":"r","datatype":"FP64","shape":[0,4],"data":[]}],"outputs":[{"name":"prediction"}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		mux := http.NewServeMux()
		(&Server{Name: "fraud", Model: func() *serve.Served { return m }}).Register(mux)
		for _, path := range []string{"/predict", "/v2/models/fraud/infer"} {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
			if !json.Valid(w.Body.Bytes()) || w.Code >= 500 && w.Code != http.StatusServiceUnavailable {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}
