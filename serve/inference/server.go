package inference

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/serve/requests"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Limits of requests.
const (
	MaxBytes  = 8 << 20   // of a body
	MaxRows   = 10_000    // of a request
	MaxValues = 1_000_000 // of an input

	atOnce     = 32               // requests that are decoded and predicted at the same time
	busyWait   = time.Second      // how long other requests wait before they are rejected
	retryAfter = "1"              // seconds
	loadWithin = 10 * time.Second // time limit for loading a past version

	smallBytes   = 64 << 10  // a body up to this size is always read
	readingBytes = 256 << 20 // total size of the larger bodies that are read at the same time

	// spareBytes is the size of a heap ballast: memory that is allocated and never touched. It
	// is not resident, although GOMEMLIMIT counts it, and the garbage collector lets that much
	// more garbage accumulate between its cycles. A model is often smaller than the garbage of
	// a thousand requests, so that without ballast the collector would run many times a second
	// (docs/performance.md).
	spareBytes = 32 << 20
)

// Server answers requests. Its fields must not be changed after Register.
type Server struct {
	Name    string                                         // of the model
	Version string                                         // of the program
	Model   func() *serve.Served                           // returns the current model, nil while there is none
	Past    *serve.Archive                                 // past models; nil: there are none
	Choice  func() modellog.Choice                         // how Model was chosen; nil: it is always the newest
	Canary  serve.Canary                                   // a second model, for some keys and under its own name; without Canary.Model there is none
	Second  func() *serve.Served                           // returns the current model of Canary, nil while there is none
	Observe func(code, rows int, took time.Duration)       // called after each request for predictions; may be nil
	Untimed func(code int)                                 // called instead of Observe for requests that were refused unread or aborted; may be nil
	NoRow   func(table string, records int64)              // called after each request, with the records that have no row in a table; may be nil
	Passed  record.Passed                                  // what responses of /predict take over from their inputs
	Log     *RequestLog                                    // nil: requests are not logged
	reading atomic.Int64                                   // bytes of large bodies that are being read
	busy    chan struct{}                                  // one element for each request in progress
	pool    func(m *serve.Served) (*worker, func(*worker)) // see workers
	spare   []byte                                         // see spareBytes
}

// Register adds the paths of s to mux, which should have a handler for all other paths
// (metrics.Mux).
func (s *Server) Register(mux *http.ServeMux) {
	s.busy, s.pool, s.spare = make(chan struct{}, atOnce), workers(s.Passed), make([]byte, spareBytes)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, jsonType, openAPI) })
	mux.HandleFunc("GET /v2", s.server)
	mux.HandleFunc("GET /v2/{$}", s.server)
	mux.HandleFunc("GET /v2/health/live", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, map[string]bool{"live": true}) })
	mux.HandleFunc("GET /v2/health/ready", func(w http.ResponseWriter, _ *http.Request) {
		ready := predicts(s.Model())
		reply(w, readyCode(ready), map[string]bool{"ready": ready, "live": ready}) // the protocol's text calls the member "live"
	})
	for _, at := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		mux.HandleFunc("GET "+at, s.named(s.metadata))
		mux.HandleFunc("GET "+at+"/ready", s.ready)
		s.post(mux, at+"/infer", s.infer)
	}
	s.post(mux, "/predict", s.predict)
}

// post adds a path for predictions to mux.
func (s *Server) post(mux *http.ServeMux, path string, f handler) {
	mux.HandleFunc("POST "+path, s.observed(f))
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		fail(w, status(http.StatusMethodNotAllowed, "%.20s is not allowed for %.200s: want POST", r.Method, r.URL.Path))
		s.Refused(r, http.StatusMethodNotAllowed)
	})
}

//go:embed openapi.json
var openAPI []byte

// readyCode returns 200 or, if not ready, 400: the protocol wants a 4xx code in that case.
func readyCode(ready bool) int {
	if ready {
		return http.StatusOK
	}
	return http.StatusBadRequest
}

// predicts reports whether there is a model, and it can read rows: one without columns has only rows of
// tables so far, or labels that came before their features.
func predicts(m *serve.Served) bool { return m != nil && len(m.Schema.Columns) > 0 }

func (s *Server) server(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"name": "accrete", "version": s.Version, "extensions": []string{binaryExtension}})
}

// failure is an error with an HTTP status code.
type failure struct {
	code    int
	text    string
	aborted bool // the client has not sent all of its body
}

func (f *failure) Error() string { return f.text }

func status(code int, format string, args ...any) *failure {
	return &failure{code: code, text: fmt.Sprintf(format, args...)}
}

func bad(format string, args ...any) *failure {
	return status(http.StatusBadRequest, format, args...)
}

// current returns the model that answers a request.
func (s *Server) current(r *http.Request) (*serve.Served, *failure) {
	name := r.PathValue("model")
	if s.Canary.Model != "" && name == s.Canary.Model {
		return s.second(r)
	}
	if name != "" && name != s.Name {
		return nil, status(http.StatusNotFound, "unknown model %.100q: this is a scorer of %q", name, s.Name)
	}
	m := s.Model()
	if m == nil {
		return nil, noSnapshot(s.Name)
	}
	v := r.PathValue("version")
	if s.forCanary(r) {
		if second := s.Second(); second != nil {
			return second, nil
		}
	}
	follows := s.Choice == nil || s.Choice().Mode == modellog.Follow // otherwise m may not be the newest of its step
	if v == "" || v == serve.Champion || v == version(m) && (follows || s.Past == nil) {
		return m, nil
	}
	if s.Past == nil {
		return nil, status(http.StatusNotFound, "unknown version %.100q of %q: the current one is %s", v, s.Name, version(m))
	}
	ctx, cancel := context.WithTimeout(r.Context(), loadWithin)
	defer cancel()
	m, err := s.Past.Version(ctx, v)
	switch {
	case errors.Is(err, serve.ErrNoVersion):
		return nil, status(http.StatusNotFound, "%v", err)
	case err != nil && ctx.Err() != nil:
		return nil, status(http.StatusServiceUnavailable, "version %.100q of %q could not be read from the model log within %v", v, s.Name, loadWithin)
	case err != nil && ingest.Temporary(err):
		return nil, status(http.StatusServiceUnavailable, "version %.100q of %q cannot be read now: %v", v, s.Name, err)
	case err != nil:
		return nil, status(http.StatusNotFound, "version %.100q of %q cannot be used: %v", v, s.Name, err)
	}
	return m, nil
}

func noSnapshot(model string) *failure {
	return status(http.StatusServiceUnavailable, "there is no complete snapshot of %q yet: its learner writes the first one after 1,000 examples, or within snapshot.every after the first record", model)
}

// version returns the version of a model, its step.
func version(m *serve.Served) string { return strconv.FormatInt(m.ID.Step, 10) }

func (s *Server) named(f func(http.ResponseWriter, *http.Request, *serve.Served)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m, err := s.current(r)
		if err != nil {
			fail(w, err)
			return
		}
		f(w, r, m)
	}
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	m, err := s.current(r)
	if err != nil && err.code == http.StatusNotFound {
		fail(w, err)
		return
	}
	reply(w, readyCode(predicts(m)), map[string]any{"name": cmp.Or(r.PathValue("model"), s.Name), "ready": predicts(m)})
}

// result is the answer to a request for predictions.
type result struct {
	body []byte
	json int // length of the JSON before the binary data; 0 if there is none
	rows int
	log  *requests.Request // what to write to the request log; nil: nothing
}

// handler answers a request. object is the JSON in its body, and rest the binary data after it.
type handler func(r *http.Request, object, rest []byte) (result, *failure)

// servingHeader is the response header that says how the model was chosen.
const servingHeader = "Accrete-Serving"

// observed returns a handler that limits the number of requests in progress, and calls Observe
// or Untimed after each request.
func (s *Server) observed(f handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		w.Header().Set(servingHeader, string(s.mode(r)))
		a, err := s.limited(r, func(r *http.Request, object, rest []byte) (result, *failure) {
			return s.byEither(w, r, f, object, rest)
		})
		if err == nil {
			err = s.logged(w, r, a.log)
		}
		code := http.StatusOK
		switch {
		case err != nil:
			code, a.rows = err.code, 0
			fail(w, err)
		case a.json > 0:
			w.Header().Set(headerLength, strconv.Itoa(a.json))
			write(w, code, "application/octet-stream", a.body)
		default:
			write(w, code, jsonType, a.body)
		}
		switch {
		case err != nil && (err.aborted || r.Context().Err() != nil && code != http.StatusRequestTimeout): // which ends the context as well
			s.untimed(statusAborted)
		case s.Observe != nil:
			s.Observe(code, a.rows, time.Since(start))
		}
	}
}

// mode returns how the model that a request asks for is chosen.
func (s *Server) mode(r *http.Request) modellog.Mode {
	if v := r.PathValue("version"); v != "" && v != serve.Champion {
		return "version"
	}
	if s.Canary.Model != "" && (r.PathValue("model") == s.Canary.Model || s.forCanary(r)) && s.Second() != nil {
		return "canary"
	}
	if s.Choice == nil {
		return modellog.Follow
	}
	return s.Choice().Mode
}

// limited reads the body and calls f. Only f counts towards the limit of requests in progress,
// so that clients which send their body slowly do not block others. At the limit, limited waits
// up to busyWait for a request to end.
func (s *Server) limited(r *http.Request, f handler) (result, *failure) {
	size := int64(MaxBytes)
	if r.ContentLength >= 0 {
		size = min(size, r.ContentLength)
	}
	if size > smallBytes {
		defer s.reading.Add(-size)
		if s.reading.Add(size) > readingBytes {
			return result{}, status(http.StatusTooManyRequests, "large requests of %d bytes are being read: try again", readingBytes)
		}
	}
	object, rest, fault := content(r)
	if fault != nil {
		return result{}, fault
	}
	late := time.NewTimer(busyWait)
	defer late.Stop()
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
		return f(r, object, rest)
	case <-late.C:
	case <-r.Context().Done():
	}
	return result{}, status(http.StatusTooManyRequests, "%d requests are in progress: try again", atOnce)
}

func fail(w http.ResponseWriter, err *failure) {
	if err.code == http.StatusTooManyRequests || err.code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	reply(w, err.code, map[string]string{"error": err.text})
}

func reply(w http.ResponseWriter, code int, v any) {
	b, err := json.Marshal(v)
	if err != nil { // a number that is not finite
		code, b = http.StatusInternalServerError, []byte(`{"error":"the answer is not JSON"}`)
	}
	write(w, code, jsonType, b)
}

const jsonType = "application/json"

func write(w http.ResponseWriter, code int, typ string, b []byte) {
	h := w.Header()
	h.Set("Content-Type", typ)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write(b) // an error means that the client has gone
}
