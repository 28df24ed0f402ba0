package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collecttraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/otlp"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// collector receives OTLP over HTTP.
type collector struct {
	mu      sync.Mutex
	metrics map[string]float64 // by name and the values of labels
	spans   map[string][]*traces.Span
	of      map[string]string // attributes of the resource
	wrong   []string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	b, err := io.ReadAll(body)
	var m collectmetrics.ExportMetricsServiceRequest
	var s collecttraces.ExportTraceServiceRequest
	switch {
	case err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Tenant") != "a":
		c.wrong = append(c.wrong, r.URL.Path+": headers")
	case r.URL.Path == "/base/v1/metrics" && proto.Unmarshal(b, &m) == nil:
		for _, of := range m.ResourceMetrics {
			for _, a := range of.Resource.Attributes {
				c.of[a.Key] = a.Value.GetStringValue()
			}
			for _, scope := range of.ScopeMetrics {
				for _, x := range scope.Metrics {
					for _, p := range append(x.GetGauge().GetDataPoints(), x.GetSum().GetDataPoints()...) {
						name := x.Name
						for _, a := range p.Attributes {
							name += " " + a.Value.GetStringValue()
						}
						c.metrics[name] = p.GetAsDouble()
					}
					for _, p := range x.GetHistogram().GetDataPoints() {
						c.metrics[x.Name] = float64(p.Count)
					}
				}
			}
		}
	case r.URL.Path == "/base/v1/traces" && proto.Unmarshal(b, &s) == nil:
		for _, of := range s.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, x := range scope.Spans {
					c.spans[x.Name] = append(c.spans[x.Name], x)
				}
			}
		}
	default:
		c.wrong = append(c.wrong, r.URL.Path)
	}
}

const (
	sampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ignored = "00-1bf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
)

// What arrives at a collector are the metrics of the registry, and spans that are linked to
// the traces of the records in both directions.
func TestMetricsAndSpansArriveAtACollector(t *testing.T) {
	c := &collector{metrics: map[string]float64{}, spans: map[string][]*traces.Span{}, of: map[string]string{}}
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Tenant=a")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=fraud-learner,team=risk")
	registry := prometheus.NewRegistry()
	m := metrics.NewLearner("fraud", registry)
	m.Learned.Add(42)
	m.Learn.Observe(0.5)
	m.Lag.Set("in", 3, 7)
	tel, err := otlp.Start(t.Context(), otlp.Config{URL: server.URL + "/base", Model: "fraud", Version: "v1", Command: "learn", Metrics: registry, Log: zerolog.Nop()})
	if err != nil || !tel.Tracing() {
		t.Fatal(err)
	}
	from := []record.Trace{{Topic: "in", Offset: 5, Parent: sampled, State: "k=v"}, {Topic: "in", Parent: ignored}, {Topic: "in", Parent: "garbage"}}
	tel.Learned(event.Learned{Seq: 9, Counts: modellog.Counts{Learned: 3}, Append: 2 * time.Millisecond, Learn: 5 * time.Millisecond, Traces: from})
	tel.Scored(serve.Scored{Topic: "in", Partition: 1, Scored: 3, Took: time.Millisecond, Traces: from})
	tel.Scored(serve.Scored{Topic: "in"}) // nothing
	asked := httptest.NewRequest(http.MethodPost, "/predict", strings.NewReader("{}"))
	asked.Header.Set("traceparent", sampled)
	tel.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })).ServeHTTP(httptest.NewRecorder(), asked)
	hostile := httptest.NewRequest(http.MethodPost, "/predict%ff", strings.NewReader("{}"))
	tel.Handler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), hostile)
	tel.Close()

	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.wrong) > 0 || c.of["service.name"] != "fraud-learner" || c.of["team"] != "risk" || c.of["accrete.model"] != "fraud" {
		t.Errorf("%v, resource %v", c.wrong, c.of)
	}
	for name, want := range map[string]float64{"accrete_examples_total fraud learned": 42, "accrete_learn_seconds": 1, "accrete_lag_records fraud 3 in": 7} {
		if got := c.metrics[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	trace := strings.Split(sampled, "-")
	for _, name := range []string{"learn", "score"} {
		if len(c.spans[name]) == 0 {
			t.Fatalf("no span %q", name)
		}
	}
	batch := c.spans["learn"][0]
	if took := batch.EndTimeUnixNano - batch.StartTimeUnixNano; len(batch.Links) != 2 || hex.EncodeToString(batch.Links[0].TraceId) != trace[1] || took != 7e6 {
		t.Errorf("the span of the batch: %v", batch)
	}
	of, below := 0, 0
	for _, s := range c.spans["predict and learn"] {
		switch {
		case hex.EncodeToString(s.TraceId) == trace[1]:
			of++
			if hex.EncodeToString(s.ParentSpanId) != trace[2] || len(s.Links) != 1 || !bytes.Equal(s.Links[0].SpanId, batch.SpanId) {
				t.Errorf("the span of a record: %v", s)
			}
		case bytes.Equal(s.ParentSpanId, batch.SpanId):
			below++
		}
	}
	if of != 1 || below != 1 || len(c.spans["predict and learn"]) != 2 || len(c.spans["append to the model log"]) != 1 || len(c.spans["score"]) != 2 {
		t.Errorf("%d spans of records, %d of the batch: %v", of, below, c.spans)
	}
	if s := c.spans["POST /predict"]; len(s) != 1 || hex.EncodeToString(s[0].TraceId) != trace[1] {
		t.Errorf("the span of a request: %v", s)
	}
}

func TestTelemetryIsOffByDefault(t *testing.T) {
	for _, c := range []struct {
		url, name, value string
		metrics, traces  bool
		fails            bool
	}{
		{},
		{name: "OTEL_EXPORTER_OTLP_ENDPOINT", value: "http://127.0.0.1:9", metrics: true, traces: true},
		{name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", value: "http://127.0.0.1:9/v1/traces", traces: true},
		{url: "http://127.0.0.1:9", name: "OTEL_TRACES_EXPORTER", value: "none", metrics: true},
		{url: "http://127.0.0.1:9", name: "OTEL_SDK_DISABLED", value: "true"},
		{url: "http://127.0.0.1:9", name: "OTEL_EXPORTER_OTLP_PROTOCOL", value: "grpc", fails: true},
		{url: "localhost:4318", fails: true},
	} {
		t.Run(c.url+c.name, func(t *testing.T) {
			for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
				t.Setenv(name, "")
			}
			if c.name != "" {
				t.Setenv(c.name, c.value)
			}
			tel, err := otlp.Start(t.Context(), otlp.Config{URL: c.url, Metrics: prometheus.NewRegistry(), Log: zerolog.Nop()})
			if err != nil != c.fails || tel.Tracing() != c.traces || tel.Metering() != c.metrics {
				t.Errorf("%+v, %v", tel, err)
			}
			tel.Learned(event.Learned{})
		})
	}
}
