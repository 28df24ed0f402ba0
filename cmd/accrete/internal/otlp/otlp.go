// Package otlp sends metrics and traces to an OpenTelemetry collector, by OTLP over HTTP.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config is what Start needs beside the standard environment variables OTEL_*.
type Config struct {
	URL            string // URL of the collector, without /v1/metrics; empty: the one in the environment
	Model, Version string
	Command        string // such as learn
	Metrics        prometheus.Gatherer
	Log            zerolog.Logger
}

// Telemetry sends what a process reports. Nil sends nothing.
type Telemetry struct {
	metrics *metric.MeterProvider // nil: no metrics are sent
	traces  *sdktrace.TracerProvider
	tracer  trace.Tracer // nil: no traces are sent
	context propagation.TraceContext
}

// flushLimit is how long Close may take to send what is left.
const flushLimit = 3 * time.Second

// Start begins to send the metrics of c.Metrics, and traces. It returns nil if no collector is
// configured.
func Start(ctx context.Context, c Config) (*Telemetry, error) {
	metricsURL, err := endpoint(c.URL, "metrics")
	if err != nil {
		return nil, err
	}
	tracesURL, err := endpoint(c.URL, "traces")
	if err != nil {
		return nil, err
	}
	if metricsURL == off && tracesURL == off {
		return nil, nil
	}
	if p := os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: want http/protobuf, usually at port 4318", p)
	}
	host, _ := os.Hostname()
	of, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "accrete-"+c.Command), attribute.String("service.version", c.Version),
		attribute.String("service.instance.id", fmt.Sprintf("%s:%d", host, os.Getpid())), attribute.String("accrete.model", c.Model),
	), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, err
	}
	otel.SetErrorHandler(&failures{log: c.Log})
	t := &Telemetry{}
	if metricsURL != off {
		var options []otlpmetrichttp.Option
		if c.URL != "" {
			options = append(options, otlpmetrichttp.WithEndpointURL(metricsURL))
		}
		exporter, err := otlpmetrichttp.New(ctx, options...)
		if err != nil {
			return nil, fmt.Errorf("telemetry.otlp: %w", err)
		}
		t.metrics = metric.NewMeterProvider(metric.WithResource(of), metric.WithReader(
			metric.NewPeriodicReader(exporter, metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(c.Metrics))))))
	}
	if tracesURL != off {
		var options []otlptracehttp.Option
		if c.URL != "" {
			options = append(options, otlptracehttp.WithEndpointURL(tracesURL))
		}
		exporter, err := otlptracehttp.New(ctx, options...)
		if err != nil {
			return nil, fmt.Errorf("telemetry.otlp: %w", err)
		}
		t.traces = sdktrace.NewTracerProvider(sdktrace.WithResource(of), sdktrace.WithBatcher(exporter))
		t.tracer = t.traces.Tracer("github.com/accrete-ml/accrete", trace.WithInstrumentationVersion(c.Version))
	}
	c.Log.Info().Bool("metrics", t.metrics != nil).Bool("traces", t.traces != nil).Msg("sending telemetry by OTLP")
	return t, nil
}

// off is the endpoint of a signal that is not sent.
const off = "off"

// endpoint returns the URL that a signal, metrics or traces, is sent to: base with the path of the
// signal. Without a base, it is empty if the environment names an endpoint, and off if not. It is
// also off if the environment switches the signal off.
func endpoint(base, signal string) (string, error) {
	upper := strings.ToUpper(signal)
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_"+upper+"_EXPORTER") == "none" {
		return off, nil
	}
	if base == "" {
		if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_"+upper+"_ENDPOINT") == "" {
			return off, nil
		}
		return "", nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
		return "", fmt.Errorf("telemetry.otlp: %q: want a URL such as http://localhost:4318", base)
	}
	return u.JoinPath("v1", signal).String(), nil
}

// Tracing reports whether traces are sent.
func (t *Telemetry) Tracing() bool { return t != nil && t.tracer != nil }

// Metering reports whether metrics are sent.
func (t *Telemetry) Metering() bool { return t != nil && t.metrics != nil }

// Close sends what is left, for a few seconds at most.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	var wg sync.WaitGroup
	if t.traces != nil {
		wg.Go(func() { report(t.traces.Shutdown(ctx)) })
	}
	if t.metrics != nil {
		wg.Go(func() { report(t.metrics.Shutdown(ctx)) })
	}
	wg.Wait()
}

func report(err error) {
	if err != nil {
		otel.Handle(err)
	}
}

// failures logs errors of the exporters, at most one a minute.
type failures struct {
	log  zerolog.Logger
	mu   sync.Mutex
	last time.Time
	more int // number of errors since last
}

// Handle implements otel.ErrorHandler.
func (f *failures) Handle(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.last) > time.Minute {
		f.log.Warn().Err(err).Int("more", f.more).Msg("telemetry could not be sent (OTLP)")
		f.last, f.more = now, 0
		return
	}
	f.more++
}
