package main

import (
	"io"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/serve"
)

// Once another scorer has taken over a partition, its lag is no longer reported
// here.
func TestScorerForgetsTheLagOfWhatItGivesAway(t *testing.T) {
	r := prometheus.NewRegistry()
	h := metrics.NewHealth(time.Now)
	c := newTally(newEnv(nil, nil, io.Discard, io.Discard), "m", metrics.NewScorer(r), h)
	c.event(serve.Shared{Mine: ingest.Share{"a": {0, 1}}, Of: 2})
	c.event(serve.Scored{Topic: "a", Partition: 0, Scored: 3, Next: 3, End: 10})
	c.event(serve.Scored{Topic: "a", Partition: 1, Scored: 3, Next: 3, End: 5})
	if got := c.report(); got.Lag != 9 || got.Partitions != 2 || got.Scored != 6 {
		t.Errorf("with both partitions: %+v", got)
	}
	c.event(serve.Shared{Mine: ingest.Share{"a": {1}}, Of: 2})
	if got := c.report(); got.Lag != 2 || got.Partitions != 1 {
		t.Errorf("with one of them: %+v", got)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "accrete_lag_records" && len(f.GetMetric()) != 1 {
			t.Errorf("lag of %d partitions, want one", len(f.GetMetric()))
		}
	}
	c.event(serve.Shared{Mine: ingest.Share{}, Of: 2})
	if got := c.report(); got.Lag != 0 || got.Partitions != 0 {
		t.Errorf("with none: %+v", got)
	}
}
