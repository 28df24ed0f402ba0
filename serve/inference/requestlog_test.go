package inference

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/serve/requests"
)

// logging is a server whose request log fails with err.
func logging(t *testing.T, m *serve.Served, mark bool) (ask func(path, body, id string, code int) *httptest.ResponseRecorder, logged *[]*requests.Request, fail func(error)) {
	var err error
	logged = &[]*requests.Request{}
	mux := http.NewServeMux()
	log := &RequestLog{Mark: mark, Write: func(_ context.Context, r *requests.Request) error {
		*logged = append(*logged, r)
		return err
	}}
	(&Server{Name: "fraud", Model: func() *serve.Served { return m }, Log: log}).Register(mux)
	return func(path, body, id string, code int) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.Header.Set("Accrete-Id", id)
		r.Header.Set("traceparent", "00-1-2-01")
		r.Header.Set("Accrete-Key", "k")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code != code {
			t.Errorf("%s %s: status %d, want %d: %s", path, body, w.Code, code, w.Body)
		}
		return w
	}, logged, func(e error) { err = e }
}

// Every row that is answered is logged first, with the id of the answer, as a record that a
// learner reads as the same row, and with its prediction.
func TestEveryRowIsLoggedWithTheIDOfItsAnswer(t *testing.T) {
	m, rows := typed(t)
	ask, logged, _ := logging(t, m, false)
	list := "[" + strings.Join(rows[:2], ",") + "]"
	tensor := `{"id":"7","inputs":[{"name":"amount","datatype":"FP64","shape":[2],"data":[1.5,2]},{"name":"country","datatype":"BYTES","shape":[2],"data":["c1",null]}]}`
	for _, given := range []string{"", "payment-1"} {
		for _, at := range []struct {
			path, body string
			rows       int
		}{{"/predict", rows[0], 1}, {"/predict", list, 2}, {"/v2/models/fraud/infer", tensor, 2}} {
			*logged = nil
			w := ask(at.path, at.body, given, 200)
			if len(*logged) != 1 || len((*logged)[0].Rows) != at.rows {
				t.Fatalf("%s: logged %+v", at.path, *logged)
			}
			q := (*logged)[0]
			id := w.Header().Get("Accrete-Id")
			if id != q.ID || given != "" && id != given || len(id) < 8 || w.Header().Get("Accrete-Logged") != "yes" || q.Source != "/accrete/fraud/http" || len(q.Traces) != 1 {
				t.Errorf("%s: headers %v, logged %+v", at.path, w.Header(), q)
			}
			if at.path != "/predict" && !strings.Contains(w.Body.String(), fmt.Sprintf(`"request_id":%q`, id)) {
				t.Errorf("%s: no id in %s", at.path, w.Body)
			}
			for i, row := range q.Rows {
				if string(row.Key) != "k" {
					t.Errorf("%s: row %d has the key %q, want that of the header", at.path, i, row.Key)
				}
				if at.path == "/predict" && !strings.Contains(w.Body.String(), strings.TrimSuffix(string(row.Prediction), "}")+fmt.Sprintf(`,"id":%q}`, q.RowID(i))) {
					t.Errorf("row %d: answered %s, logged %s", i, w.Body, row.Prediction)
				}
				d, err := decode.New(m.Decode, m.Schema)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.Decode(row.Value); err != nil {
					t.Errorf("row %d: a learner cannot read %s: %v", i, row.Value, err)
				}
				again := ask("/predict", string(row.Value), given, 200).Body.String()
				if !strings.HasPrefix(again, strings.TrimSuffix(string(row.Prediction), "}")) {
					t.Errorf("row %d: predicted %s, and from the log %s", i, row.Prediction, again)
				}
			}
		}
	}
	*logged = nil
	ask("/v2/models/fraud/infer", `{"parameters":{"key":"own"},`+tensor[1:], "", 200)
	if got := string((*logged)[0].Rows[0].Key); got != "own" {
		t.Errorf("the key is %q, want that of the parameters", got)
	}
	ask("/predict", rows[0], strings.Repeat("x", 129), 400)
	ask("/predict", rows[0], "a b", 400)
	*logged = nil
	ask("/predict", `{"amount":"many"}`, "", 400)
	if len(*logged) > 0 {
		t.Errorf("a request without predictions was logged: %+v", (*logged)[0])
	}
}

// Without its record, a request is refused, or answered and marked.
func TestWithoutItsRecordARequestIsRefusedOrMarked(t *testing.T) {
	m, rows := typed(t)
	for _, mark := range []bool{false, true} {
		ask, _, fail := logging(t, m, mark)
		for _, c := range []struct {
			err    error
			code   int
			marked string
		}{{requests.ErrDropped, 503, "no"}, {requests.ErrLate, 503, "unknown"}, {requests.ErrTooLarge, 413, ""}} {
			fail(fmt.Errorf("%w: away", c.err))
			if mark && c.marked != "" {
				c.code = 200
			}
			w := ask("/predict", rows[0], "", c.code)
			if got := w.Header().Get("Accrete-Logged"); c.code == 200 && got != c.marked {
				t.Errorf("%v: Accrete-Logged is %q, want %q", c.err, got, c.marked)
			}
			if c.code == 503 && (w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "prediction\"")) {
				t.Errorf("%v: %v %s", c.err, w.Header(), w.Body)
			}
		}
	}
}
