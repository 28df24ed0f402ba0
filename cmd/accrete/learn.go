package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/serve/inference"
	"github.com/accrete-ml/accrete/serve/requests"
)

type learnCommand struct {
	env.ConfigFlags
	env.JSONFlag
	env.ProfileFlags
	Standby bool `help:"Run as a standby while another learner of the model runs: learn the same batches, and take over when it stops or fails."`
	ToEnd   bool `name:"to-end" help:"Stop at the end offsets that the input topics have at startup."`

	From        string `placeholder:"FILE" help:"Start a new model from a snapshot file, such as one of fit --save, or by learning the rows of a file: CSV with a header, LIBSVM, Vowpal Wabbit, .npy, JSON lines, plain or .gz, Parquet or Avro. A model that began with the same file continues."`
	FromOffsets string `name:"from-offsets" placeholder:"WHERE" help:"Where a new model begins to read the input topics: earliest, latest, a time such as 2026-03-01T00:00:00Z, or TOPIC/PARTITION:OFFSET,… (default: earliest)."`
	Predict     bool   `name:"http.predict" help:"Also answer requests for predictions over HTTP, with the newest snapshot (as --set http.predict=on)."`

	NewModel bool `name:"new-model" help:"Start a new model although there are predictions of an earlier one. A model that is in the log continues: the flag may stay for later starts."`
	Upgrade  bool `help:"Continue a model of another version of the arithmetic or the decoder. The model log and the lineage record the upgrade."`
}

func (learnCommand) Help() string {
	return `Reads the input topics, predicts each record and then learns from it, and writes predictions, snapshots and the model log to Kafka. It claims the model: another running learner of the same model is fenced and exits with code 76. With --standby it waits instead, and takes over within about a second when that learner exits, is killed or no longer reaches Kafka. It is crash-safe: after a kill at any instant, the next start recovers a bit-identical state. With --json, progressive is a number: the error, nMSE or share of flagged rows over the last 10,000 examples; accrete fit --json has an object of that name, over all rows.`
}

func (learnCommand) Examples() string {
	return `
accrete learn -c accrete.yaml
accrete learn -c accrete.yaml --standby
accrete learn -c accrete.yaml --http.predict
accrete learn -c accrete.yaml --to-end --json
accrete learn -c accrete.yaml --from history.csv.gz --from-offsets 2026-03-01T00:00:00Z
accrete learn --set model=fraud --set kafka.bootstrap.servers=localhost:9092 --set input.topics=payments --set input.label=is_fraud`
}

// Files returns the files that are read and written.
func (l *learnCommand) Files() env.Files {
	return env.Files{Inputs: append(l.ConfigFlags.Inputs(), env.Named{Name: "--from", Path: l.From}), Outputs: l.ProfileFlags.Outputs()}
}

// mapped is the part of the executable that a learner may have in memory, in bytes. Watch.Limit
// gets a limit for the process, from which it is subtracted because Go's memory limit does not
// count it. Code and constants are 46 MB (readelf -l); learners were seen to have 35 to 41 MB of
// them in memory.
const mapped = 46 << 20

func (l *learnCommand) Run(ctx context.Context, e *env.Env) error {
	c, client, err := l.Open(e, "input.topics", "input.label")
	if err != nil {
		return err
	}
	defer client.Close()
	stopping := announceStop(ctx, e.Log)
	defer stopping()
	registry, health := newRegistry()
	w := watch.New(c.Model, e.Log, registry, health)
	if os.Getenv("GOMEMLIMIT") == "" {
		w.Limit = func(bytes int64) { debug.SetMemoryLimit(bytes - mapped) }
	}
	endpoint, err := l.endpoint(c, client, e, registry)
	if err != nil {
		return err
	}
	sent, err := telemetry(ctx, e, c, "learn", registry)
	if err != nil {
		return err
	}
	defer sent.Close()
	_, key, err := setup.Keys(c)
	if err != nil {
		return err
	}
	var answers *inference.Server
	if endpoint != nil {
		defer endpoint.close()
		answers = endpoint.answers
	}
	board := page.NewBoard(time.Now)
	live := site{c.Model, c.Values(), access(e, c), board, registry, health, importances(client, c.Model, key), sent, answers}
	_, stop, err := live.serve(ctx, e, c.HTTP.Listen)
	if err != nil {
		return err
	}
	defer stop()
	defer notifySystemd(e, health)()
	if endpoint != nil {
		defer endpoint.follow(ctx)()
	}
	p, err := l.pipeline(ctx, e, c, client, func(ev event.Event) {
		w.Event(ev)
		board.Learner(ev)
		if ev, ok := ev.(event.Learned); ok {
			sent.Learned(ev)
		}
	})
	if err != nil {
		return err
	}
	p.Traced = sent.Tracing()
	w.Cap(p.Learner.Cap())
	board.Cap(p.Learner.Cap())
	pl, err := pipeline.Open(ctx, p)
	switch {
	case err != nil && ctx.Err() != nil: // stopped before it owned the model
		logStopped(stopping, e.Log, w.Current())
		return nil
	case err != nil:
		return w.Ended(err)
	}
	progress := e.Progress(false)
	defer every(time.Second, func() {
		if e.Terminal {
			progress.Update(board.Spark(sparkWidth)+" "+w.Current().String(), nil)
		}
	})()
	if err := pl.Run(ctx); err != nil {
		return w.Ended(err)
	}
	progress.Done()
	w.Stopped()
	r := w.Current()
	if ctx.Err() != nil {
		logStopped(stopping, e.Log, r)
	}
	return e.Print(l.JSON, r.String()+stateLine(r), r)
}

// pipeline returns the configuration of the pipeline, which reports its events to report.
func (l *learnCommand) pipeline(ctx context.Context, e *env.Env, c *config.Config, client *ingest.Client, report func(event.Event)) (p model.Config, err error) {
	if p, err = setup.Pipeline(c, client, report); err != nil {
		return p, err
	}
	if err := setup.CheckRegistry(ctx, c); err != nil {
		return p, err
	}
	if p.Form, err = setup.Form(ctx, c, model.PredictionsTopic(c.Model)); err != nil {
		return p, err
	}
	if topic := c.Requests.Topic; l.answers(c) && slices.Contains(c.Input.LearnedTopics(), topic) { // before there are any requests
		if err := requests.Create(ctx, client, topic); err != nil {
			return p, fmt.Errorf("requests.topic: %w", err)
		}
	}
	if p.Start, err = setup.Start(ctx, e, c, l.From, l.FromOffsets); err != nil {
		return p, err
	}
	p.ToEnd, p.Standby, p.NewModel, p.Upgrade = l.ToEnd, l.Standby, l.NewModel, l.Upgrade
	return p, nil
}

// logStopped logs the end of a learner that was stopped by a signal, with what it had then. It calls
// stopping first.
func logStopped(stopping func(), log zerolog.Logger, r watch.Report) {
	stopping()
	line := log.Info().Int64("step", r.Step)
	if r.StateHash != nil {
		line = line.Stringer("state_hash", r.StateHash)
	}
	line.Msg("stopped")
}

// sparkWidth is the width of the error curve on a terminal, in characters.
const sparkWidth = 12

func stateLine(r watch.Report) string {
	if r.StateHash == nil {
		return ""
	}
	return fmt.Sprintf("\nstate %v at step %d", r.StateHash, r.Step)
}

// endpoint is where a process answers requests for predictions over HTTP.
type endpoint struct {
	scorer  *serve.Scorer
	answers *inference.Server
	close   func() // to be called once the server has stopped
}

// answers reports whether the learner answers requests for predictions.
func (l *learnCommand) answers(c *config.Config) bool { return l.Predict || c.HTTP.Predict == "on" }

// endpoint returns nil unless predictions over HTTP are configured.
func (l *learnCommand) endpoint(c *config.Config, client *ingest.Client, e *env.Env, r *prometheus.Registry) (*endpoint, error) {
	if !l.answers(c) {
		return nil, nil
	}
	_, key, err := setup.Keys(c)
	if err != nil {
		return nil, err
	}
	collectors := metrics.NewScorer(c.Model, r)
	// not the Health of the process: its readiness is that of the learner
	tally := newTally(e, c.Model, collectors, metrics.NewHealth(time.Now))
	s := serve.NewScorer(serve.Config{
		Model: c.Model, Client: client, Log: model.LogTopic(c.Model), VerifyKey: key,
		Report: func(ev serve.Event) {
			if r, ok := ev.(serve.Retrying); ok && errors.Is(r.Err, ingest.ErrUnknownTopic) {
				return // this process, or the one that it stands by for, is about to create the log
			}
			tally.event(ev)
		},
	})
	passed, err := setup.Passed(c)
	if err != nil {
		return nil, err
	}
	log, stop := logRequests(e, c, client, collectors, metrics.NewHealth(time.Now))
	return &endpoint{s, predictions(c.Model, serve.Canary{}, s, passed, log, collectors), stop}, nil
}

// await has s switch to each new snapshot until ctx is done. It waits while the model log does not
// exist: a new learner is about to create it, and a standby or a scorer may be started before it.
func await(ctx context.Context, s *serve.Scorer) error {
	for {
		err := s.Follow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(err, ingest.ErrUnknownTopic) {
			return err
		}
		sleep(ctx, time.Second)
	}
}

// follow is await in the background, until the returned function is called.
func (a *endpoint) follow(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		await(ctx, a.scorer) // an error of the log ends the learner, which reads it as well
	}()
	return func() {
		cancel()
		<-done
	}
}
