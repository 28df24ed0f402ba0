package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

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
	tables  *watch.Tables

	mu      sync.Mutex
	failing watch.Failing
	choice  string // why newer snapshots are not served; empty: they are
	refused string // why the newest snapshot is not served; empty: it is
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
		tables:  watch.NewTables(h),
		now:     scoreReport{Model: model}, since: time.Now(),
	}
}

func (t *tally) event(ev serve.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch ev := ev.(type) {
	case serve.Retrying:
		t.kafka.TroubleOf(watch.Part(ev.Topic, ev.Partition), ev.Err.Error())
		t.failing.Log(t.e.Log, ev.Err, time.Now())
	case serve.Unpublished:
		t.output.Trouble(ev.Err.Error())
		t.failing.Log(t.e.Log, ev.Err, time.Now())
	case serve.Waiting:
		t.e.Log.Info().Str("model", t.now.Model).Msg("waiting for a snapshot of the model")
	case serve.Shared:
		t.share(ev)
	case serve.Heartbeat:
		if t.now.Partitions == 0 { // otherwise a partition has to be read: its topic may be missing
			t.kafka.Progress()
		}
	case serve.Switched:
		t.model.Green()
		t.note()
		t.metrics.Model(ev.To.ID.Step, ev.To.Written)
		t.now.Step, t.now.Lineage, t.now.StateHash = ev.To.ID.Step, ev.To.ID.Lineage.String(), ev.To.StateHash.String()
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
	case serve.Enriched:
		for i := range ev.Tables {
			t.metrics.Tables.Add(ev.Of, &ev.Tables[i], ev.Lags[i], 0)
		}
	case serve.WithoutRow:
		for i, name := range ev.Tables {
			t.metrics.Tables.Missing(name, ev.Records[i])
		}
	case serve.TableRejected:
		t.e.Log.Warn().Str("topic", ev.Topic).Int32("partition", ev.Partition).Int64("offset", ev.Offset).Int64("records", ev.Records).Err(ev.Err).Msg("a record of a table's topic is no row, and is left out")
	case serve.TableMissing:
		t.tables.Missing(ev.Missing)
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
		t.truncated(ev)
	case serve.Scored:
		t.kafka.ProgressOf(watch.Part(ev.Topic, ev.Partition))
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

// truncated reports that the end of a partition is before what was read.
func (t *tally) truncated(ev serve.Truncated) {
	if ev.Recreated {
		t.input.Note(fmt.Sprintf("%s was deleted and created again: %s/%d is scored from its beginning", ev.Topic, ev.Topic, ev.Partition))
		t.e.Log.Error().Str("topic", ev.Topic).Int("partition", ev.Partition).Int64("next", ev.Next).Msg("the topic was deleted and created again, scoring it from its beginning")
		return
	}
	t.input.Note(fmt.Sprintf("%s/%d was read up to offset %d and truncated to offset %d", ev.Topic, ev.Partition, ev.Next, ev.End))
	t.e.Log.Error().Str("topic", ev.Topic).Int("partition", ev.Partition).Int64("next", ev.Next).Int64("end", ev.End).Msg("the partition was truncated, scoring the records that replace the lost ones")
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

// chosen reports which snapshot the model log names.
func (t *tally) chosen(c modellog.Choice) {
	t.metrics.Mode(string(c.Mode))
	t.choice = ""
	if c.Mode != modellog.Follow {
		t.choice = fmt.Sprintf("%s: step %d is served until accrete promote, not the newest snapshot", c.Mode, c.Snapshot.Step)
		if c.Reason != "" {
			t.choice += " (" + c.Reason + ")"
		}
	}
	t.note()
	line := t.e.Log.Info().Str("mode", string(c.Mode)).Int64("step", c.Snapshot.Step).Int64("seq", c.Snapshot.Seq).Stringer("snapshot", c.Snapshot.Snapshot)
	if c.Reason != "" {
		line.Str("reason", c.Reason)
	}
	if c.By != "" {
		line.Str("by", c.By)
	}
	line.Msg("snapshot to serve")
}

// judged reports the verdict of the gate.
func (t *tally) judged(ev serve.Judged) {
	g := ev.Gate
	t.metrics.Challenge(g.Loss, g.Served)
	t.refused = ""
	if !g.Passed {
		t.metrics.Refused("gate")
		t.refused = fmt.Sprintf("the snapshot of step %d is %s", ev.Step, &g)
		t.e.Log.Warn().Int64("step", ev.Step).Int64("served", g.Champion.Step).Float64(g.Metric, g.Loss).Float64(g.Metric+"_served", g.Served).Int64("rows", g.Rows).Msg("the gate has refused a snapshot")
	}
	t.note()
}

// canary reports the events of the canary, the second model.
func (t *tally) canary(ev serve.Event) {
	switch ev := ev.(type) {
	case serve.CanarySwitched:
		t.metrics.CanaryStep.Set(float64(ev.To.ID.Step))
		t.e.Log.Info().Str("canary", ev.To.ID.Name).Int64("step", ev.To.ID.Step).Stringer("state_hash", ev.To.StateHash).Msg("the canary switched to a snapshot")
	case serve.CanaryFailed:
		t.failing.Log(t.e.Log, fmt.Errorf("canary: %w", ev.Err), time.Now())
	case serve.CanaryScored:
		t.metrics.Canary("predicted", ev.Scored)
		t.metrics.Canary("refused", ev.Refused)
	}
}

// note says in /readyz why the newest snapshot is not served.
func (t *tally) note() {
	switch {
	case t.choice != "" && t.refused != "":
		t.model.Note(t.choice + "; " + t.refused)
	default:
		t.model.Note(t.choice + t.refused)
	}
}

// canaryOf returns the second model that the configuration names.
func canaryOf(c *config.Config) serve.Canary {
	if c.Score.Canary == "" {
		return serve.Canary{}
	}
	return serve.Canary{Model: c.Score.Canary, Log: model.LogTopic(c.Score.Canary), Share: c.Score.CanaryShare, Shadow: c.Score.CanaryOutput}
}

// scoreForm returns the form in which scores are written, and registers its schema for each
// topic that they are written to. Answers over HTTP are always JSON.
func scoreForm(ctx context.Context, c *config.Config) (form record.Form, err error) {
	if len(c.Score.Topics) == 0 {
		return form, nil
	}
	if topic := c.Score.CanaryOutput; topic != "" {
		if _, err := setup.Form(ctx, c, topic); err != nil {
			return form, err
		}
	}
	return setup.Form(ctx, c, c.Score.Output)
}
