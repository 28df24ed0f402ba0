package inference

import (
	"net/http"

	"github.com/accrete-ml/accrete/serve"
)

// forCanary reports whether the canary answers a request that does not name it: those with the
// header Accrete-Key of the keys that it predicts in topics.
func (s *Server) forCanary(r *http.Request) bool {
	key := r.Header.Get(keyHeader)
	return s.Canary.Model != "" && s.Canary.Shadow == "" && key != "" && s.Canary.Chooses([]byte(key), nil)
}

// second returns the model of the canary for a request that names it.
func (s *Server) second(r *http.Request) (*serve.Served, *failure) {
	m := s.Second()
	if m == nil {
		return nil, status(http.StatusServiceUnavailable, "there is no complete snapshot of %q yet", s.Canary.Model)
	}
	if v := r.PathValue("version"); v != "" && v != serve.Champion && v != version(m) {
		return nil, status(http.StatusNotFound, "unknown version %.100q of %q: a canary has its current one only, which is %s", v, s.Canary.Model, version(m))
	}
	return m, nil
}

// nameOf returns the name of a model in answers.
func (s *Server) nameOf(m *serve.Served) string {
	if s.Canary.Model != "" && m.ID.Name == s.Canary.Model {
		return s.Canary.Model
	}
	return s.Name
}
