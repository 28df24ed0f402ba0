package otlp

import (
	"context"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/serve"
)

// Learned records a span for a BATCH, and below it one for the append to the model log and one for
// learning.
func (t *Telemetry) Learned(ev event.Learned) {
	if !t.Tracing() {
		return
	}
	end := time.Now()
	begin := end.Add(-ev.Append - ev.Learn)
	ctx, batch := t.batch("learn", ev.Traces, begin, attribute.Int64("accrete.seq", ev.Seq), attribute.Int64("accrete.learned", ev.Counts.Learned),
		attribute.Int64("accrete.predicted", ev.Counts.Predicted), attribute.Int64("accrete.quarantined", ev.Counts.Quarantined))
	for _, part := range []struct {
		name     string
		from, to time.Time
	}{{"append to the model log", begin, begin.Add(ev.Append)}, {"predict and learn", begin.Add(ev.Append), end}} {
		_, s := t.tracer.Start(ctx, part.name, trace.WithTimestamp(part.from))
		s.End(trace.WithTimestamp(part.to))
	}
	batch.End(trace.WithTimestamp(end))
	t.records("predict and learn", ev.Traces, batch, begin.Add(ev.Append), end)
}

// Scored records a span for the scores of some records of a partition.
func (t *Telemetry) Scored(ev serve.Scored) {
	if !t.Tracing() || ev.Scored+ev.Quarantined == 0 {
		return
	}
	end := time.Now()
	begin := end.Add(-ev.Took)
	_, batch := t.batch("score", ev.Traces, begin, attribute.String("messaging.destination.name", ev.Topic), attribute.Int("messaging.destination.partition.id", ev.Partition),
		attribute.Int("accrete.scored", ev.Scored), attribute.Int("accrete.quarantined", ev.Quarantined))
	batch.End(trace.WithTimestamp(end))
	t.records("score", ev.Traces, batch, begin, end)
}

// batch begins the span of a batch, which is linked to the spans that its records come from.
func (t *Telemetry) batch(name string, traces []record.Trace, begin time.Time, more ...attribute.KeyValue) (context.Context, trace.Span) {
	options := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(begin),
		trace.WithAttributes(append(more, attribute.String("messaging.system", "kafka"), attribute.String("messaging.operation.type", "process"))...)}
	for _, r := range traces {
		if c := trace.SpanContextFromContext(t.remote(r)); c.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: c}))
		}
	}
	return t.tracer.Start(context.Background(), name, options...)
}

// records adds a span to the trace of each record, linked to the span of the batch. Traces that are
// not sampled get none.
func (t *Telemetry) records(name string, traces []record.Trace, batch trace.Span, begin, end time.Time) {
	for _, r := range traces {
		ctx := t.remote(r)
		if c := trace.SpanContextFromContext(ctx); !c.IsValid() || !c.IsSampled() {
			continue
		}
		_, s := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(begin), trace.WithLinks(trace.Link{SpanContext: batch.SpanContext()}),
			trace.WithAttributes(attribute.String("messaging.system", "kafka"), attribute.String("messaging.destination.name", r.Topic), attribute.Int64("messaging.kafka.offset", r.Offset)))
		s.End(trace.WithTimestamp(end))
	}
}

// remote returns a context with the span that a record comes from.
func (t *Telemetry) remote(r record.Trace) context.Context {
	return t.context.Extract(context.Background(), propagation.MapCarrier{"traceparent": r.Parent, "tracestate": r.State})
}

// Handler records a span for each request for predictions, in the trace of the request.
func (t *Telemetry) Handler(next http.Handler) http.Handler {
	if !t.Tracing() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "" // never a path as the client spells it, which may not even be UTF-8
		switch {
		case r.Method != http.MethodPost:
		case r.URL.Path == "/predict":
			name = "POST /predict"
		case strings.HasPrefix(r.URL.Path, "/v2/"):
			name = "POST /v2"
		}
		if name == "" {
			next.ServeHTTP(w, r)
			return
		}
		ctx := t.context.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, s := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("http.request.method", r.Method)))
		defer s.End()
		out := &status{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(out, r.WithContext(ctx))
		s.SetAttributes(attribute.Int("http.response.status_code", out.code))
		if out.code >= 500 {
			s.SetStatus(codes.Error, http.StatusText(out.code))
		}
	})
}

// status remembers the status code of an answer.
type status struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }
