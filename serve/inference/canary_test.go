package inference

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/accrete-ml/accrete/serve"
)

// A canary answers for the keys of its share and for those who name it; a shadow for the
// latter only, and a canary without a model for nobody.
func TestWhoAnswers(t *testing.T) {
	main, canary := &serve.Served{}, &serve.Served{}
	canary.ID.Name = "b"
	s := &Server{Name: "a", Model: func() *serve.Served { return main }, Canary: serve.Canary{Model: "b", Share: 0.5}}
	for _, second := range []*serve.Served{canary, nil} {
		for _, shadow := range []string{"", "shadow"} {
			s.Second, s.Canary.Shadow = func() *serve.Served { return second }, shadow
			chosen := 0
			for i := range 100 {
				key := fmt.Sprint(i)
				r := httptest.NewRequest("POST", "/predict", nil)
				r.Header.Set("Accrete-Key", key)
				want := main
				if second != nil && shadow == "" && s.Canary.Chooses([]byte(key), nil) {
					want = second
					chosen++
				}
				m, err := s.current(r)
				if err != nil || m != want || (s.mode(r) == "canary") != (want == canary) || s.nameOf(m) != map[bool]string{false: "a", true: "b"}[want == canary] {
					t.Fatalf("key %s, shadow %q: %v, %v, %s", key, shadow, m.ID, err, s.mode(r))
				}
			}
			if second != nil && shadow == "" && (chosen < 25 || chosen > 75) {
				t.Errorf("%d of 100 keys are chosen", chosen)
			}
			if m, err := s.current(httptest.NewRequest("POST", "/predict", nil)); m != main || err != nil {
				t.Errorf("without a key: %v, %v", m, err)
			}
			r := httptest.NewRequest("POST", "/v2/models/b/infer", nil)
			r.SetPathValue("model", "b")
			if m, err := s.current(r); m != second || (err == nil) != (second != nil) || err != nil && err.code != http.StatusServiceUnavailable {
				t.Errorf("by name: %v, %v", m, err)
			}
		}
	}
}

// A request of a key of the canary that it refuses is answered by the model; one that names
// the canary, or a version of the model, is not asked twice.
func TestRefusedByTheCanary(t *testing.T) {
	main, canary := &serve.Served{}, &serve.Served{}
	canary.ID.Name = "b"
	s := &Server{
		Name: "a", Model: func() *serve.Served { return main }, Second: func() *serve.Served { return canary },
		Canary: serve.Canary{Model: "b", Share: 1},
	}
	for _, c := range []struct {
		model, version, key string
		serving             string
		asked               string
	}{
		{"", "", "k", "follow", "ba"},
		{"a", "", "k", "follow", "ba"},
		{"", "", "", "follow", "a"},
		{"b", "", "k", "canary", "b"},
		{"a", serve.Champion, "k", "follow", "a"},
	} {
		r := httptest.NewRequest("POST", "/predict", nil)
		r.SetPathValue("model", c.model)
		r.SetPathValue("version", c.version)
		r.Header.Set("Accrete-Key", c.key)
		w, asked := httptest.NewRecorder(), ""
		_, fault := s.byEither(w, r, func(r *http.Request, _, _ []byte) (result, *failure) {
			m, fault := s.current(r)
			if fault != nil {
				return result{}, fault
			}
			asked += s.nameOf(m)
			if m == canary {
				return result{}, bad("there is no column z")
			}
			return result{rows: 1}, nil
		}, nil, nil)
		if asked != c.asked || w.Header().Get("Accrete-Serving") != c.serving || (fault == nil) != (c.asked != "b") {
			t.Errorf("%+v: asked %q, %s, %v", c, asked, w.Header().Get("Accrete-Serving"), fault)
		}
	}
}
