package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/otlp"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/version"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/serve/inference"
)

func newRegistry() (*prometheus.Registry, *metrics.Health) {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics.Build(r, version.String())
	return r, metrics.NewHealth(time.Now)
}

// access returns who may use the HTTP servers.
func access(e *env.Env, c *config.Config) metrics.Access {
	return metrics.Access{Cert: c.HTTP.Cert, Key: c.HTTP.Key, ClientCA: c.HTTP.ClientCA, Token: c.HTTP.Token, Hosts: c.HTTP.Hosts, Trouble: func(err error) {
		e.Log.Error().Err(err).Msg("HTTP server")
	}}
}

// telemetry starts to send metrics and traces, if a collector is configured.
func telemetry(ctx context.Context, e *env.Env, c *config.Config, command string, r prometheus.Gatherer) (*otlp.Telemetry, error) {
	t, err := otlp.Start(ctx, otlp.Config{URL: c.Telemetry.OTLP, Model: c.Model, Version: version.String(), Command: command, Metrics: r, Log: e.Log})
	if err != nil {
		return nil, exit.Refuse(err)
	}
	return t, nil
}

// site is what a process serves over HTTP: its live page, /metrics, /livez, /readyz and
// predictions.
type site struct {
	model    string
	options  []config.Value
	access   metrics.Access
	board    *page.Board
	registry *prometheus.Registry
	health   *metrics.Health
	columns  page.Importances
	sent     *otlp.Telemetry   // nil: none
	answers  *inference.Server // of requests for predictions; nil: there are none
}

// serve listens on addr, unless addr is "off", and returns the address of the page.
func (s site) serve(ctx context.Context, e *env.Env, addr string) (url string, stop func(), err error) {
	if addr == "off" {
		return "", func() {}, nil
	}
	mux := metrics.Mux(s.registry, s.health)
	live := page.New(page.Info{Model: s.model, Version: version.String(), Options: s.options, Health: s.health, Importances: s.columns}, s.board, s.registry)
	live.Register(mux)
	if s.answers != nil {
		s.answers.Register(mux)
		s.access.Refused = s.answers.Refused
	}
	server, err := metrics.Serve(ctx, addr, s.sent.Handler(mux), s.access)
	if metrics.InUse(err) { // by the process before this one, which has not ended yet, or until another address is chosen
		return "", nil, exit.TryAgain(err)
	}
	if unusable := (metrics.AccessError{}); errors.As(err, &unusable) {
		return "", nil, exit.Refuse(err)
	}
	if err != nil {
		return "", nil, err
	}
	url = "http://" + server.Addr() + "/"
	if s.access.Cert != "" {
		url = "https://" + server.Addr() + "/"
	}
	e.Log.Info().Str("address", server.Addr()).Str("page", url).Msg("serving the live page, /metrics, /livez and /readyz")
	ticks := every(time.Second, s.board.Tick)
	stopping := s.unready(ctx)
	return url, func() {
		left := stopping()
		ticks()
		live.Close() // otherwise the server would wait for the open streams
		cut, err := server.Drain(left)
		if cut > 0 {
			e.Log.Warn().Int("requests", cut).Msg("requests over HTTP that had not been answered were cut off")
		}
		if err != nil {
			e.Log.Error().Err(err).Msg("HTTP server")
		}
	}, nil
}

// leastDrain is how long a server waits for requests under way if the learner has taken the whole
// time of a stop.
const leastDrain = 2 * time.Second

// unready makes the process unready once ctx is done, so that no new requests are sent to it. The
// returned function returns the time that is left for requests under way.
func (s site) unready(ctx context.Context) (left func() time.Duration) {
	signal := make(chan time.Time, 1)
	cancel := context.AfterFunc(ctx, func() {
		s.health.Add("running", "the process is stopping")
		signal <- time.Now()
	})
	return func() time.Duration {
		if cancel() {
			return metrics.DrainLimit
		}
		return max(leastDrain, metrics.DrainLimit-time.Since(<-signal))
	}
}

// announceStop logs that the process is stopping once ctx is done. The returned function ends this;
// when it returns, nothing will be logged, or has been.
func announceStop(ctx context.Context, log zerolog.Logger) func() {
	said := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(said)
		log.Info().Str("signal", strings.TrimSuffix(context.Cause(ctx).Error(), " signal received")).Msg("stopping")
	})
	return sync.OnceFunc(func() {
		if !cancel() {
			<-said
		}
	})
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
