package main

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
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

// serveMetrics listens on addr, unless addr is "off". more adds further paths.
func serveMetrics(ctx context.Context, e *env.Env, addr string, r *prometheus.Registry, h *metrics.Health, more ...func(*http.ServeMux)) (s *metrics.Server, err error) {
	if addr == "off" {
		return nil, nil
	}
	mux := metrics.Mux(r, h)
	for _, add := range more {
		add(mux)
	}
	if s, err = metrics.Serve(ctx, addr, mux); err != nil {
		return nil, err
	}
	e.Log.Info().Str("address", s.Addr()).Str("page", "http://"+s.Addr()+"/").Msg("serving the live page, /metrics, /livez and /readyz")
	return s, nil
}

// servePage is serveMetrics with the page of a board. stop closes both.
func servePage(ctx context.Context, e *env.Env, addr, model string, options []config.Value, b *page.Board, r *prometheus.Registry, h *metrics.Health, more ...func(*http.ServeMux)) (url string, stop func(), err error) {
	p := page.New(page.Info{Model: model, Version: version.String(), Options: options, Health: h}, b, r)
	s, err := serveMetrics(ctx, e, addr, r, h, append(more, p.Register)...)
	if err != nil || s == nil {
		return "", func() {}, err
	}
	ticks := every(time.Second, b.Tick)
	return "http://" + s.Addr() + "/", func() {
		ticks()
		p.Close() // or the server would wait for the streams
		s.Close()
	}, nil
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
