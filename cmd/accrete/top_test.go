package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// topServer returns the address of the page of a learner.
func topServer(t *testing.T, model, trouble string) string {
	t.Helper()
	health := metrics.NewHealth(time.Now)
	health.Add("kafka", trouble)
	board := page.NewBoard(time.Now)
	for i := range int64(9) {
		s := learner.Scores{Rows: 100, Model: learner.Score{Error: 0.125}, Linear: learner.Score{Error: 0.25}}
		board.Learner(event.Learned{Progress: learner.Progress{Task: learner.Classification, Examples: 12345 + 100*i, Recent: s, Latest: s}})
	}
	mux := http.NewServeMux()
	page.New(page.Info{Model: model, Health: health}, board, prometheus.NewRegistry()).Register(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestTopShowsProcesses(t *testing.T) {
	well, ill, gone := topServer(t, "fraud\x1b[2J", ""), topServer(t, "churn", "no broker"), "http://127.0.0.1:1"
	top := func(args ...string) (code int, out string) {
		var stdout, stderr bytes.Buffer
		code = run(t.Context(), append([]string{"top", "--once"}, args...), nil, strings.NewReader(""), &stdout, &stderr)
		return code, stdout.String()
	}
	code, out := top(well)
	if code != exit.Done || strings.Contains(out, "\x1b") {
		t.Errorf("exits with %d and prints %q", code, out)
	}
	for _, want := range []string{"fraud·[2J", "ready", "0.1250", "0.2500", "13,145", "█"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q does not show %q", out, want)
		}
	}
	code, out = top(well, ill, strings.TrimPrefix(gone, "http://"))
	if code != 75 || !strings.Contains(out, "NOT READY") || !strings.Contains(out, "kafka: no broker") || !strings.Contains(out, "refused") {
		t.Errorf("exits with %d and prints %q", code, out)
	}
	_, out = top("--json", well, gone)
	rows, err := objects[topRow](out)
	if err != nil || len(rows) != 2 || rows[0].Status == nil || rows[0].Status.Examples != 13145 || rows[1].Status != nil || rows[1].Error == "" {
		t.Errorf("%q, %v", out, err)
	}
}
