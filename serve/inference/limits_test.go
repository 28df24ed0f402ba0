package inference

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/serve"
)

// Bodies whose length is unknown until they are read are limited as well, each by itself and all that are
// being read together. What a request has taken is free again once it is answered.
func TestBodiesOfUnknownLengthAreLimited(t *testing.T) {
	m, _ := typed(t)
	s, mux := &Server{Name: "fraud", Model: func() *serve.Served { return m }}, http.NewServeMux()
	s.Register(mux)
	post := func(body string, want int) {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/predict", io.MultiReader(strings.NewReader(body)))
		if r.ContentLength >= 0 {
			t.Fatal("the length of the body is known")
		}
		if mux.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%d %s, want %d", w.Code, w.Body, want)
		}
	}
	const row = `{"amount":1}`
	post(row+strings.Repeat(" ", MaxBytes), http.StatusRequestEntityTooLarge)
	for range readingBytes/MaxBytes + 1 {
		post(row, http.StatusOK)
	}
	if n := s.reading.Load(); n != 0 {
		t.Errorf("%d bytes of bodies are still being read", n)
	}
	s.reading.Store(readingBytes)
	post(row, http.StatusTooManyRequests)
	w := httptest.NewRecorder()
	if mux.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/predict", strings.NewReader(row))); w.Code != http.StatusOK {
		t.Errorf("a small body: %d %s", w.Code, w.Body)
	}
}

// A request of the Open Inference Protocol has as many rows as one of /predict.
func TestRowsOfTensorsAreLimited(t *testing.T) {
	m, _ := typed(t)
	c := newClient(t, m)
	for rows, code := range map[int]int{MaxRows: http.StatusOK, MaxRows + 1: http.StatusRequestEntityTooLarge} {
		data := strings.TrimSuffix(strings.Repeat("1,", rows), ",")
		c.ask("POST", "/v2/models/fraud/infer", fmt.Sprintf(`{"inputs":[{"name":"amount","datatype":"FP64","shape":[%d],"data":[%s]}]}`, rows, data), code)
	}
}

// A request is read with the columns of the model that answers it, whichever model answered the one before.
func TestRequestsAreReadByTheModelThatAnswers(t *testing.T) {
	other, _ := typed(t)
	model, mux := dense(t), http.NewServeMux()
	current := other
	(&Server{Name: "fraud", Model: func() *serve.Served { return current }}).Register(mux)
	c := client{t, mux}
	for range 4 {
		current = other
		c.ask("POST", "/predict", `{"amount":1,"country":"c1"}`, http.StatusOK)
		current = model
		c.ask("POST", "/predict", `{"x":[1,2]}`, http.StatusOK)
	}
}
