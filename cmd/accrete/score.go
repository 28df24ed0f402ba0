package main

import (
	"context"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/version"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/serve/inference"
)

type scoreCommand struct {
	env.ConfigFlags
	env.JSONFlag
	ToEnd bool `name:"to-end" help:"Stop at the end offsets that the topics have at startup."`
}

func (scoreCommand) Help() string {
	return `Follows the snapshots of a model and predicts the records of score.topics with the newest one. Each prediction names the step and lineage of the model that made it. If there is no model yet, the scorer waits for one. With score.http.predict it answers requests over HTTP, too, and needs no topics. Several scorers share the partitions through the consumer group accrete-<model>-scorer; when one stops, the others take over its partitions.`
}

func (scoreCommand) Examples() string {
	return `
accrete score -c accrete.yaml
accrete score --set model=fraud --set kafka.bootstrap.servers=localhost:9092 --set score.http.predict=on
accrete score -c accrete.yaml --set score.topics=payments --to-end --json`
}

// predictions returns what answers requests for predictions over HTTP, and counts them.
func predictions(model string, canary serve.Canary, s *serve.Scorer, passed record.Passed, log *inference.RequestLog, m *metrics.Scorer) *inference.Server {
	return &inference.Server{
		Name: model, Version: version.String(), Model: s.Model, Past: s.Archive(), Choice: s.Choice, Canary: canary, Second: s.CanaryModel,
		Passed: passed, Log: log, Observe: m.Request, Untimed: m.Untimed, NoRow: m.Tables.Missing,
	}
}

// scoreReport is the progress of a scorer.
type scoreReport struct {
	Model           string  `json:"model"`
	Scored          int64   `json:"scored"`
	Quarantined     int64   `json:"quarantined"`
	ScoredPerSecond float64 `json:"scored_per_second"`
	Step            int64   `json:"step"` // of the current model
	Lineage         string  `json:"lineage"`
	StateHash       string  `json:"state_hash"`
	Models          int     `json:"models"`     // models used in this run
	Partitions      int     `json:"partitions"` // assigned to this scorer
	Lag             int64   `json:"lag"`        // of the assigned partitions
	Lost            int64   `json:"lost"`       // records deleted before they were scored
	Seconds         float64 `json:"seconds"`
}

func (r scoreReport) String() string {
	if r.Models == 0 {
		return "waiting for a snapshot of " + r.Model
	}
	s := fmt.Sprintf("%s scored, %s/s, model at step %s, lag %s", display.Thousands(r.Scored), display.Thousands(int64(r.ScoredPerSecond)), display.Thousands(r.Step), display.Thousands(r.Lag))
	if r.Quarantined > 0 {
		s += fmt.Sprintf(", %s in quarantine", display.Thousands(r.Quarantined))
	}
	if r.Lost > 0 {
		s += fmt.Sprintf(", %s deleted before scoring", display.Thousands(r.Lost))
	}
	return s
}

func (s *scoreCommand) Run(ctx context.Context, e *env.Env) error {
	c, client, err := s.Open(e)
	if err != nil {
		return err
	}
	defer client.Close()
	stopping := announceStop(ctx, e.Log)
	defer stopping()
	if c.Score.Predict != "on" || c.Score.Listen == "off" || s.ToEnd { // it has nothing else to do
		if err := c.Require("score.topics"); err != nil {
			return err
		}
	}
	registry, health := newRegistry()
	sent, err := telemetry(ctx, e, c, "score", registry)
	if err != nil {
		return err
	}
	defer sent.Close()
	collectors := metrics.NewScorer(c.Model, registry)
	t := newTally(e, c.Model, collectors, health)
	_, key, err := setup.Keys(c)
	if err != nil {
		return err
	}
	board := page.NewBoard(time.Now)
	scored, err := s.scored(ctx, c, client, func(ev serve.Event) {
		t.event(ev)
		board.Scorer(ev)
		if ev, ok := ev.(serve.Scored); ok {
			sent.Scored(ev)
		}
	})
	if err != nil {
		return err
	}
	scored.VerifyKey, scored.Traced = key, sent.Tracing()
	scorer := serve.NewScorer(scored)
	var answers *inference.Server
	if c.Score.Predict == "on" {
		log, stop := logRequests(e, c, client, collectors, health)
		defer stop()
		answers = predictions(c.Model, scored.Canary, scorer, scored.Passed, log, collectors)
		answers.Observe = func(code, rows int, took time.Duration) {
			collectors.Request(code, rows, took)
			board.Answered(took)
		}
	}
	live := site{c.Model, c.Values(), access(e, c), board, registry, health, importances(client, c.Model, key), sent, answers}
	_, stop, err := live.serve(ctx, e, c.Score.Listen)
	if err != nil {
		return err
	}
	defer stop()
	defer notifySystemd(e, health)()
	progress := e.Progress(false)
	defer every(time.Second, func() {
		if e.Terminal {
			progress.Update(t.report().String(), nil)
		}
	})()
	run := scorer.Run
	if len(c.Score.Topics) == 0 { // only requests over HTTP
		run = func(ctx context.Context) error { return await(ctx, scorer) }
	}
	if err := run(ctx); err != nil {
		return err
	}
	progress.Done()
	r := t.report()
	if stopping(); ctx.Err() != nil {
		e.Log.Info().Int64("step", r.Step).Str("state_hash", r.StateHash).Msg("stopped")
	}
	return e.Print(s.JSON, r.String(), r)
}

// scored returns the configuration of the scorer, which reports its events to report.
func (s *scoreCommand) scored(ctx context.Context, c *config.Config, client *ingest.Client, report func(serve.Event)) (of serve.Config, err error) {
	if err := setup.CheckRegistry(ctx, c); err != nil {
		return of, err
	}
	of = serve.Config{
		Model: c.Model, Client: client, Log: model.LogTopic(c.Model), Canary: canaryOf(c), Values: record.Values(c.Quarantine.Values),
		Topics: c.Score.Topics, Output: c.Score.Output, Quarantine: model.QuarantineTopic(c.Model),
		Group: "accrete-" + c.Model + "-scorer", ToEnd: s.ToEnd, Report: report,
	}
	if of.Schemas, err = setup.Schemas(c); err != nil {
		return of, err
	}
	if of.Form, err = scoreForm(ctx, c); err != nil {
		return of, err
	}
	of.Passed, err = setup.Passed(c)
	return of, err
}
