package inference

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
)

// statusAborted is the status that nginx logs for requests that their client aborted. No response has
// it: nobody is left to read one.
const statusAborted = 499

func (s *Server) untimed(code int) {
	if s.Untimed != nil {
		s.Untimed(code)
	}
}

// Refused counts a request that was refused before it reached s, if it was one for predictions. It is
// for metrics.Access.
func (s *Server) Refused(r *http.Request, code int) {
	if path := r.URL.Path; path == "/predict" || strings.HasPrefix(path, "/v2/models/") && strings.HasSuffix(path, "/infer") {
		s.untimed(code)
	}
}

// aborted reports whether err, from reading the body of r, means that the client has gone.
func aborted(r *http.Request, err error) bool {
	var broken *net.OpError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &broken) || r.Context().Err() != nil
}
