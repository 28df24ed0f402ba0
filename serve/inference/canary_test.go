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
