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

// logRequests starts to write requests for predictions to requests.topic. stop ends this, and must
// be called after the HTTP server has stopped. The log is nil if no topic is configured.
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
	// not the context of the program: the last requests end after it is done
	ctx, cancel := context.WithCancel(context.Background())
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

// requestsWriting returns a function that is called with nil when the topic can be written, and
// otherwise with the reason why not. It logs changes and sets the readiness of the scorer: one that
// refuses requests if it cannot log them is not ready, and one that only marks its answers is ready
// with a note.
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
