package inference

import (
	"context"
	"net/http"

	"github.com/accrete-ml/accrete/serve"
)

// forCanary reports whether the canary answers a request that names neither the canary nor a
// version. It answers if the header Accrete-Key has a key that it also predicts in topics.
func (s *Server) forCanary(r *http.Request) bool {
	if s.Canary.Model == "" || s.Canary.Shadow != "" || r.PathValue("version") != "" || r.PathValue("model") == s.Canary.Model {
		return false
	}
	key := r.Header.Get(keyHeader)
	return key != "" && r.Context().Value(refused{}) == nil && s.Canary.Chooses([]byte(key), nil)
}

// refused is the context key that marks a request which the canary could not answer.
type refused struct{}

// byEither calls f. If the canary fails to answer a request that does not name it, byEither calls
// f again for the model. This corresponds to topics, where the model predicts records that the
// canary cannot decode.
func (s *Server) byEither(w http.ResponseWriter, r *http.Request, f handler, object, rest []byte) (result, *failure) {
	w.Header().Set(servingHeader, string(s.mode(r)))
	a, fault := f(r, object, rest)
	if fault == nil || !s.forCanary(r) || s.Second() == nil {
		return a, fault
	}
	r = r.WithContext(context.WithValue(r.Context(), refused{}, true))
	w.Header().Set(servingHeader, string(s.mode(r)))
	return f(r, object, rest)
}

// second returns the model of the canary for a request that names it.
func (s *Server) second(r *http.Request) (*serve.Served, *failure) {
	m := s.Second()
	if m == nil {
		return nil, noSnapshot(s.Canary.Model)
	}
	if v := r.PathValue("version"); v != "" && v != serve.Champion && v != version(m) {
		return nil, status(http.StatusNotFound, "unknown version %.100q of %q: a canary has its current one only, which is %s", v, s.Canary.Model, version(m))
	}
	return m, nil
}

// nameOf returns the name of a model as responses give it.
func (s *Server) nameOf(m *serve.Served) string {
	if s.Canary.Model != "" && m.ID.Name == s.Canary.Model {
		return s.Canary.Model
	}
	return s.Name
}
