package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/serve/inference"
)

// A process counts requests for predictions that it refuses before they are read.
func TestRefusedRequestsAreCounted(t *testing.T) {
	registry, health := prometheus.NewRegistry(), metrics.NewHealth(time.Now)
	collectors := metrics.NewScorer("m", registry)
	s := site{
		model: "m", registry: registry, health: health, board: page.NewBoard(time.Now),
		access:  metrics.Access{Hosts: []string{"scores.example"}},
		answers: &inference.Server{Name: "m", Observe: collectors.Request, Untimed: collectors.Untimed},
	}
	url, stop, err := s.serve(t.Context(), &env.Env{Log: zerolog.Nop()}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"predict", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "other.example"
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("status %d, want 421", resp.StatusCode)
	}
	all, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := ""
	for _, family := range all {
		if family.GetName() == "accrete_scorer_http_requests_total" {
			counted = family.String()
		}
	}
	if !strings.Contains(counted, `"421"`) {
		t.Errorf("the count has %s", counted)
	}
}
