package inference

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// Whatever a request is refused for, the answer is a JSON error, and one for another method says
// which there are.
func TestOtherMethodsAndPathsAreRefusedAsJSON(t *testing.T) {
	m, _ := typed(t)
	c := newClient(t, m)
	version := fmt.Sprintf("/v2/models/fraud/versions/%d", m.ID.Step)
	for path, allow := range map[string][]string{
		"/predict":                {"POST"},
		"/v2/models/fraud/infer":  {"POST"},
		version + "/infer":        {"POST"},
		"/v2":                     {"GET", "HEAD"},
		"/v2/":                    {"GET", "HEAD"},
		"/v2/health/live":         {"GET", "HEAD"},
		"/v2/health/ready":        {"GET", "HEAD"},
		"/v2/models/fraud":        {"GET", "HEAD"},
		version:                   {"GET", "HEAD"},
		version + "/ready":        {"GET", "HEAD"},
		"/openapi.json":           {"GET", "HEAD"},
		"/metrics":                {"GET", "HEAD"},
		"/livez":                  {"GET", "HEAD"},
		"/nothing":                nil,
		"/v2/models":              nil,
		"/v2/models/fraud/nope":   nil,
		"/predict/":               nil,
		"/v2/repository/index":    nil,
		"/v2/models/a%2Fb/infer2": nil,
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			if slices.Contains(allow, method) {
				continue
			}
			w := httptest.NewRecorder()
			c.mux.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(`{"amount":1}`)))
			code := http.StatusNotFound
			if allow != nil {
				code = http.StatusMethodNotAllowed
			}
			e := in[struct{ Error string }](t, w.Body.String())
			if w.Code != code || e.Error == "" || w.Header().Get("Allow") != strings.Join(allow, ", ") || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s %s: %d %v %s, want %d that allows %v", method, path, w.Code, w.Header(), w.Body, code, allow)
			}
		}
	}
	for header, want := range map[[2]string]int{
		{"Content-Encoding", "gzip"}:                      http.StatusUnsupportedMediaType,
		{"Content-Encoding", "identity"}:                  http.StatusOK,
		{"Content-Type", "text/plain"}:                    http.StatusOK,
		{"Inference-Header-Content-Length", "-1"}:         http.StatusBadRequest,
		{"Inference-Header-Content-Length", "x"}:          http.StatusBadRequest,
		{"Inference-Header-Content-Length", "9999999999"}: http.StatusBadRequest,
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/predict", strings.NewReader(`{"amount":1,"country":"c1","paid":true,"at":null}`))
		r.Header.Set(header[0], header[1])
		c.mux.ServeHTTP(w, r)
		if e := in[struct{ Error string }](t, w.Body.String()); w.Code != want || (want >= 400) != (e.Error != "") {
			t.Errorf("%v: %d %s, want %d", header, w.Code, w.Body, want)
		}
	}
}

// A body that is too large is refused before it is sent, and one that stalls for what it is.
func TestBodiesThatDoNotArrive(t *testing.T) {
	m, _ := typed(t)
	c := newClient(t, m)
	ask := func(length int64, err error) (int, string) {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/predict", io.MultiReader(strings.NewReader(`{"amount":`), iotest.ErrReader(err)))
		r.ContentLength = length
		c.mux.ServeHTTP(w, r)
		return w.Code, in[struct{ Error string }](t, w.Body.String()).Error
	}
	if code, text := ask(MaxBytes+1, errors.New("it was read")); code != http.StatusRequestEntityTooLarge || !strings.Contains(text, "exceeds 8388608 bytes") {
		t.Errorf("a body of 8 MiB and a byte: %d %s, want 413", code, text)
	}
	timeout := &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	if code, text := ask(100, timeout); code != http.StatusRequestTimeout || text != "the body did not arrive in time: 10 bytes of it did" {
		t.Errorf("a body that stalls: %d %s, want 408", code, text)
	}
	if code, text := ask(100, io.ErrUnexpectedEOF); code != http.StatusBadRequest {
		t.Errorf("a body that ends early: %d %s, want 400", code, text)
	}
}

// FuzzPaths asks for anything by any method: the answer is JSON, or text where /metrics has it.
func FuzzPaths(f *testing.F) {
	m, rows := typed(f)
	c := newClient(f, m)
	for _, s := range [][4]string{
		{"PUT", "/predict", "", rows[0]},
		{"POST", "/predict?explain=true", "3", rows[1]},
		{"POST", "/v2/models/fraud/infer", "0", `{"inputs":[{"name":"amount","datatype":"FP64","shape":[-1],"data":[1]}]}`},
		{"POST", "/v2/models/fraud/versions/champion/infer", "105", `{"inputs":[{"name":"amount","datatype":"FP64","shape":[1],"parameters":{"binary_data_size":8}}]}` + "            \x00\x00"},
		{"OPTIONS", "/v2/models/%2e%2e/versions/-1/ready", "", ""},
	} {
		f.Add(s[0], s[1], s[2], s[3])
	}
	f.Fuzz(func(t *testing.T, method, path, length, body string) {
		r, err := http.NewRequest(method, "http://h/"+strings.TrimPrefix(path, "/"), strings.NewReader(body))
		if err != nil {
			t.Skip() // net/http refuses it before
		}
		r.Header.Set(headerLength, length)
		w := httptest.NewRecorder()
		c.mux.ServeHTTP(w, r)
		switch kind := w.Header().Get("Content-Type"); {
		case w.Code >= 500 && w.Code != http.StatusServiceUnavailable:
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		case w.Code/100 == 3 || w.Code == http.StatusBadRequest && w.Body.Len() == 0: // net/http's: to a clean path
		case w.Code >= 400 && kind != jsonType || kind == jsonType && !json.Valid(w.Body.Bytes()):
			t.Errorf("%s %s: %d %s %s", method, path, w.Code, kind, w.Body)
		}
	})
}
