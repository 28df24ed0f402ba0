package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/serve"
)

// A scorer without topics and without a server has nothing to do.
func TestAScorerHasSomethingToDo(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	var stderr bytes.Buffer
	code := run(ended, []string{"score", "--set", "model=m", "--set", "kafka.bootstrap.servers=127.0.0.1:1", "--set", "score.http.predict=on", "--set", "score.http.listen=off"}, nil, strings.NewReader(""), io.Discard, &stderr)
	if code != exit.Refused || !strings.Contains(stderr.String(), "score.topics: is missing") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}

// Once another scorer has taken over a partition, its lag is no longer reported
// here.
func TestScorerForgetsTheLagOfWhatItGivesAway(t *testing.T) {
	r := prometheus.NewRegistry()
	h := metrics.NewHealth(time.Now)
	c := newTally(env.New(nil, nil, io.Discard, io.Discard), "m", metrics.NewScorer("m", r), h)
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

// gauge returns the value of a metric without labels.
func gauge(t *testing.T, r *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// A broken model log shows in the metrics and in the readiness until it is whole.
func TestScorerShowsABrokenLog(t *testing.T) {
	r, h := prometheus.NewRegistry(), metrics.NewHealth(time.Now)
	c := newTally(env.New(nil, nil, io.Discard, io.Discard), "m", metrics.NewScorer("m", r), h)
	shown := func(want float64, reason string) {
		t.Helper()
		states, _ := h.States()
		i := slices.IndexFunc(states, func(s metrics.State) bool { return s.Name == "model log" })
		if got := gauge(t, r, "accrete_scorer_log_broken"); got != want || states[i].Reason != reason || states[i].Ready != (want == 0) {
			t.Errorf("metric %v, readiness %+v; want %v and %q", got, states[i], want, reason)
		}
	}
	shown(0, "")
	c.event(serve.Broken{Err: errors.New("its tail is gone")})
	shown(1, "its tail is gone")
	c.event(serve.Repaired{})
	shown(0, "")
}

// A learner shows that it ends because of a broken model log, and only then.
func TestLearnerShowsABrokenLog(t *testing.T) {
	r := prometheus.NewRegistry()
	w := watch.New("m", zerolog.Nop(), r, metrics.NewHealth(time.Now))
	for _, c := range []struct {
		err  error
		want float64
	}{{pipeline.ErrFenced, 0}, {fmt.Errorf("%w: its tail is gone", pipeline.ErrLog), 1}} {
		err := w.Ended(c.err)
		if got := gauge(t, r, "accrete_log_broken"); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v: metric %v, want %v; returned %v", c.err, got, c.want, err)
		}
	}
}

// A scorer is not ready while the topic of a table of its model is missing.
func TestScorersAreNotReadyWithoutTheTopicOfATable(t *testing.T) {
	now := time.Unix(1e9, 0)
	h := metrics.NewHealth(func() time.Time { return now })
	c := newTally(env.New(nil, nil, io.Discard, io.Discard), "m", metrics.NewScorer("m", prometheus.NewRegistry()), h)
	c.model.Green()
	for _, missing := range []bool{true, false} {
		c.event(serve.TableMissing{Missing: enrich.Missing{Topic: "a", Yes: missing}})
		now = now.Add(watch.Patience + time.Second)
		if states, ready := h.States(); ready == missing {
			t.Errorf("missing is %v: %+v", missing, states)
		}
	}
}

// A scorer is not ready while no partition of its own can be read, although its group answers.
func TestScorersAreNotReadyWithoutTheirTopic(t *testing.T) {
	now := time.Unix(1e9, 0)
	h := metrics.NewHealth(func() time.Time { return now })
	c := newTally(env.New(nil, nil, io.Discard, io.Discard), "m", metrics.NewScorer("m", prometheus.NewRegistry()), h)
	c.model.Green()
	check := func(when string, want bool) {
		t.Helper()
		for range 2 {
			now = now.Add(watch.Patience/2 + time.Second)
			c.event(serve.Heartbeat{})
		}
		if states, ready := h.States(); ready != want {
			t.Errorf("%s: %+v", when, states)
		}
	}
	missing := serve.Retrying{Err: ingest.ErrUnknownTopic}
	c.event(missing)
	check("without partitions", true)
	c.event(serve.Shared{Mine: ingest.Share{"new": {0}}, Of: 1})
	c.event(missing)
	check("while the topic is missing", false)
	c.event(serve.Scored{Topic: "new"})
	check("when it is there again", true)
	c.event(serve.Retrying{Err: ingest.ErrUnreachable, Topic: "new", Partition: 1})
	c.event(serve.Scored{Topic: "new"})
	check("while one of two partitions has no leader", false)
	c.event(serve.Scored{Topic: "new", Partition: 1})
	check("when it has one", true)
}
