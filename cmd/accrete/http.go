package main

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/version"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/metrics"
)

func newRegistry() (*prometheus.Registry, *metrics.Health) {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics.Build(r, version.String())
	return r, metrics.NewHealth(time.Now)
}

// access returns who may use the HTTP servers.
func access(e *env.Env, c *config.Config) metrics.Access {
	return metrics.Access{Cert: c.HTTP.Cert, Key: c.HTTP.Key, ClientCA: c.HTTP.ClientCA, Token: c.HTTP.Token, Trouble: func(err error) {
		e.Log.Error().Err(err).Msg("HTTP server")
	}}
}

// serveMetrics listens on addr, unless addr is "off". more adds further paths.
func serveMetrics(ctx context.Context, e *env.Env, addr string, a metrics.Access, r *prometheus.Registry, h *metrics.Health, more ...func(*http.ServeMux)) (stop func() error, err error) {
	if addr == "off" {
		return func() error { return nil }, nil
	}
	mux := metrics.Mux(r, h)
	for _, add := range more {
		add(mux)
	}
	s, err := metrics.Serve(ctx, addr, mux, a)
	if err != nil {
		return nil, err
	}
	e.Log.Info().Str("address", s.Addr()).Msg("serving /metrics, /livez and /readyz")
	return s.Close, nil
}

// every calls f periodically until the returned function is called.
func every(d time.Duration, f func()) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(d)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				f()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}
