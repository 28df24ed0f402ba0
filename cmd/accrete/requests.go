package main

import (
	"context"
	"errors"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/serve/inference"
	"github.com/accrete-ml/accrete/serve/requests"
)

// logRequests writes the requests for predictions to requests.topic until stop is called,
// which has to be after the HTTP server has ended. The log is nil without a topic.
func logRequests(e *env.Env, c *config.Config, client *ingest.Client, m *metrics.Scorer, h *metrics.Health) (log *inference.RequestLog, stop func()) {
	if c.Requests.Topic == "" {
		return nil, func() {}
	}
	for _, outcome := range []string{"acknowledged", "dropped", "late"} {
		m.Logged(outcome, 0)
	}
	mark := c.Requests.OnFailure == "mark"
	w := requests.New(requests.Config{
		Client: client, Topic: c.Requests.Topic, Wait: time.Duration(c.Requests.Timeout),
		Outcome: func(rows int, err error) {
			switch {
			case err == nil:
				m.Logged("acknowledged", rows)
			case errors.Is(err, requests.ErrDropped):
				m.Logged("dropped", rows)
			default:
				m.Logged("late", rows)
			}
		},
		Writing: requestsWriting(e, c, h.Watch("requests", watch.Patience), mark),
	})
	ctx, cancel := context.WithCancel(context.Background()) // requests end after the program has been told to
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	return &inference.RequestLog{Write: w.Write, Mark: mark}, func() {
		cancel()
		<-done
	}
}

// requestsWriting returns what is called with whether the topic can be written: it logs
// changes, and is the reason why a scorer is not ready that refuses requests for it.
func requestsWriting(e *env.Env, c *config.Config, ready *metrics.Condition, mark bool) func(error) {
	fails := false
	return func(err error) {
		switch {
		case err == nil:
			ready.Progress()
			ready.Note("")
			e.Log.Info().Str("topic", c.Requests.Topic).Msg("writing requests for predictions")
		case mark:
			ready.Note("the topic of requests cannot be written: " + err.Error())
		default:
			ready.Trouble("the topic of requests cannot be written: " + err.Error())
		}
		if err != nil && !fails {
			e.Log.Error().Err(err).Str("topic", c.Requests.Topic).Bool("answering", mark).Msg("the topic of requests cannot be written")
		}
		fails = err != nil
	}
}
