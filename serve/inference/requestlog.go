package inference

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/serve/requests"
)

// RequestLog configures the logging of requests to a topic.
type RequestLog struct {
	Write func(context.Context, *requests.Request) error // requests.Writer.Write
	Mark  bool                                           // if writing fails, answer nevertheless, with a header that says so; otherwise reject the request
}

// Headers of logged requests and their responses, and limits of these.
const (
	idHeader     = "Accrete-Id"
	loggedHeader = "Accrete-Logged" // of a response: yes; with RequestLog.Mark also no or unknown
	maxID        = 128              // bytes
	maxTrace     = 512              // bytes of a header, as in predictions
)

// request returns what to log of a request, without its rows, or nil if requests are not logged.
func (s *Server) request(r *http.Request, list bool) (*requests.Request, *failure) {
	if s.Log == nil {
		return nil, nil
	}
	q := &requests.Request{ID: r.Header.Get(idHeader), List: list, Time: time.Now(), Source: "/accrete/" + s.Name + "/http"}
	if len(q.ID) > maxID {
		return nil, bad("%s has %d bytes, want at most %d", idHeader, len(q.ID), maxID)
	}
	for _, c := range []byte(q.ID) {
		if c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return nil, bad("%s %.200q: want printable ASCII characters without spaces, quotes and backslashes", idHeader, q.ID)
		}
	}
	if q.ID == "" {
		q.ID = rand.Text()
	}
	for _, name := range []string{"traceparent", "tracestate"} { // https://www.w3.org/TR/trace-context/
		if v := r.Header.Get(name); v != "" && len(v) <= maxTrace {
			q.Traces = append(q.Traces, ingest.Header{Key: name, Value: []byte(v)})
		}
	}
	return q, nil
}

// logged writes a request to the log before it is answered, and sets the headers of the response.
func (s *Server) logged(w http.ResponseWriter, r *http.Request, q *requests.Request) *failure {
	if q == nil {
		return nil
	}
	var err error
	if len(q.Rows) > 0 {
		err = s.Log.Write(r.Context(), q)
	}
	state := "yes"
	switch {
	case err == nil:
	case errors.Is(err, requests.ErrTooLarge):
		return status(http.StatusRequestEntityTooLarge, "%v", err)
	case !s.Log.Mark:
		return status(http.StatusServiceUnavailable, "%v", err)
	case errors.Is(err, requests.ErrDropped):
		state = "no"
	default:
		state = "unknown"
	}
	w.Header().Set(idHeader, q.ID)
	w.Header().Set(loggedHeader, state)
	return nil
}
