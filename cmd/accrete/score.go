package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/version"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest/record"
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

// predictions adds the paths for predictions over HTTP.
func predictions(model string, canary serve.Canary, s *serve.Scorer, passed record.Passed, log *inference.RequestLog, observe func(code, rows int, took time.Duration)) func(*http.ServeMux) {
	return (&inference.Server{Name: model, Version: version.String(), Model: s.Model, Past: s.Archive(), Choice: s.Choice, Canary: canary, Second: s.CanaryModel, Passed: passed, Log: log, Observe: observe}).Register
}

// scoreReport is the progress of a scorer.
type scoreReport struct {
	Model           string  `json:"model"`
	Scored          int64   `json:"scored"`
	Quarantined     int64   `json:"quarantined"`
	ScoredPerSecond float64 `json:"scored_per_second"`
	Step            int64   `json:"step"` // of the current model
	Lineage         string  `json:"lineage"`
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
	if c.Score.Predict != "on" || s.ToEnd {
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
	if err := setup.CheckRegistry(ctx, c); err != nil {
		return err
	}
	schemas, err := setup.Schemas(c)
	if err != nil {
		return err
	}
	form, err := scoreForm(ctx, c)
	if err != nil {
		return err
	}
	passed, err := setup.Passed(c)
	if err != nil {
		return err
	}
	board := page.NewBoard(time.Now)
	scorer := serve.NewScorer(serve.Config{
		VerifyKey: key, Schemas: schemas,
		Model: c.Model, Client: client, Log: model.LogTopic(c.Model),
		Canary: canaryOf(c),
		Form:   form, Passed: passed, Traced: sent.Tracing(), Values: record.Values(c.Quarantine.Values),
		Topics: c.Score.Topics, Output: c.Score.Output, Quarantine: model.QuarantineTopic(c.Model),
		Group: "accrete-" + c.Model + "-scorer", ToEnd: s.ToEnd, Report: func(ev serve.Event) {
			t.event(ev)
			board.Scorer(ev)
			if ev, ok := ev.(serve.Scored); ok {
				sent.Scored(ev)
			}
		},
	})
	var answers []func(*http.ServeMux)
	if c.Score.Predict == "on" {
		log, stop := logRequests(e, c, client, collectors, health)
		defer stop()
		answers = append(answers, predictions(c.Model, canaryOf(c), scorer, passed, log, func(code, rows int, took time.Duration) {
			collectors.Request(code, rows, took)
			board.Answered(took)
		}))
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
		run = (&endpoint{scorer: scorer}).await
	}
	if err := run(ctx); err != nil {
		return err
	}
	progress.Done()
	r := t.report()
	return e.Print(s.JSON, r.String(), r)
}

// tally updates metrics, readiness and a report from a scorer's events.
type tally struct {
	e       *env.Env
	metrics *metrics.Scorer
	model   *metrics.Condition
	log     *metrics.Condition
	moving  *metrics.Condition
	input   *metrics.Condition
	blocked *metrics.Condition
	kafka   *metrics.Condition
	output  *metrics.Condition

	mu      sync.Mutex
	failing watch.Failing
	choice  string // why newer snapshots are not served; empty: they are
	refused string // why the newest snapshot is not
	now     scoreReport
	since   time.Time
}

func newTally(e *env.Env, model string, m *metrics.Scorer, h *metrics.Health) *tally {
	return &tally{
		e: e, metrics: m,
		model:   h.Add("model", "there is no complete snapshot yet"),
		log:     h.Add("model log", ""),
		moving:  h.Watch("progress", watch.NoProgress),
		input:   h.Add("input", ""),
		blocked: h.Add("transactions", ""),
		kafka:   h.Watch("kafka", watch.Patience),
		output:  h.Watch("output", watch.Patience),
		now:     scoreReport{Model: model}, since: time.Now(),
	}
}

func (t *tally) event(ev serve.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch ev := ev.(type) {
	case serve.Retrying:
		t.kafka.Trouble(ev.Err.Error())
		t.failing.Log(t.e.Log, ev.Err, time.Now())
	case serve.Unpublished:
		t.output.Trouble(ev.Err.Error())
		t.failing.Log(t.e.Log, ev.Err, time.Now())
	case serve.Waiting:
		t.e.Log.Info().Str("model", t.now.Model).Msg("waiting for a snapshot of the model")
	case serve.Shared:
		t.share(ev)
	case serve.Heartbeat:
		t.kafka.Progress()
	case serve.Switched:
		t.model.Green()
		t.note()
		t.metrics.Step.Set(float64(ev.To.ID.Step))
		t.metrics.ModelTime.SetToCurrentTime()
		t.now.Step, t.now.Lineage = ev.To.ID.Step, ev.To.ID.Lineage.String()
		t.now.Models++
		t.e.Log.Info().Int64("step", ev.To.ID.Step).Stringer("state_hash", ev.To.StateHash).Msg("switched to a snapshot")
	case serve.Damaged:
		t.metrics.Refused("damaged")
		t.refused = fmt.Sprintf("snapshot %s cannot be used: %v; the one before it is served", ev.ID, ev.Err)
		t.note()
		t.e.Log.Error().Str("snapshot", ev.ID).Err(ev.Err).Msg("unusable snapshot, keeping the previous one")
	case serve.Chosen:
		t.chosen(ev.Choice)
	case serve.Judged:
		t.judged(ev)
	case serve.CanarySwitched, serve.CanaryFailed, serve.CanaryScored:
		t.canary(ev)
	case serve.Broken:
		t.metrics.LogBroken.Set(1)
		t.log.Red(ev.Err.Error())
		t.e.Log.Error().Err(ev.Err).Msg("cannot follow the model log, keeping the current model")
	case serve.Repaired:
		t.metrics.LogBroken.Set(0)
		t.log.Green()
		t.e.Log.Info().Msg("the model log is valid again")
	case serve.Gap:
		t.metrics.Gap.Add(float64(ev.To - ev.From))
		t.now.Lost += ev.To - ev.From
		t.input.Note(fmt.Sprintf("%d records were deleted before they were scored, the last of them offsets %d to %d of %s/%d", t.now.Lost, ev.From, ev.To-1, ev.Topic, ev.Partition))
		t.e.Log.Error().Str("topic", ev.Topic).Int("partition", ev.Partition).Int64("from", ev.From).Int64("to", ev.To).Msg("records were deleted before they were scored, continuing after them")
	case serve.Truncated:
		t.input.Note(fmt.Sprintf("%s/%d was read up to offset %d and truncated to offset %d", ev.Topic, ev.Partition, ev.Next, ev.End))
		t.e.Log.Error().Str("topic", ev.Topic).Int("partition", ev.Partition).Int64("next", ev.Next).Int64("end", ev.End).Msg("the partition was truncated, scoring the records that replace the lost ones")
	case serve.Scored:
		t.kafka.Progress()
		t.moving.Progress()
		t.output.Progress()
		t.metrics.Scored.Add(float64(ev.Scored))
		t.metrics.Quarantined.Add(float64(ev.Quarantined))
		t.now.Scored += int64(ev.Scored)
		t.now.Quarantined += int64(ev.Quarantined)
		t.now.Lag = t.metrics.Lag.Set(ev.Topic, ev.Partition, ev.End-ev.Next)
		t.blocked.Red(t.metrics.Blocked.Set(ev.Topic, ev.Partition, ev.Stable, ev.End))
		t.moving.Lag(t.now.Lag)
	}
}

// share drops the partitions that are now assigned to other scorers.
func (t *tally) share(ev serve.Shared) {
	mine := func(topic string, partition int) bool { return slices.Contains(ev.Mine[topic], int32(partition)) }
	t.now.Lag = t.metrics.Lag.Keep(mine)
	t.blocked.Red(t.metrics.Blocked.Keep(mine))
	t.kafka.Progress()
	t.moving.Lag(t.now.Lag)
	t.moving.Progress()
	t.now.Partitions = 0
	for _, ps := range ev.Mine {
		t.now.Partitions += len(ps)
	}
	said := "scoring"
	if t.now.Partitions < ev.Of {
		said += "; other scorers of the model own the other partitions"
	}
	t.e.Log.Info().Int("partitions", t.now.Partitions).Int("of", ev.Of).Msg(said)
}

func (t *tally) report() scoreReport {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.now
	r.Seconds = time.Since(t.since).Seconds()
	r.ScoredPerSecond = float64(r.Scored) / max(r.Seconds, 1e-3)
	return r
}
