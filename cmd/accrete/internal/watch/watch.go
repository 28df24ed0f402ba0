// Package watch turns the events of a learner into metrics, readiness, log lines and
// progress.
package watch

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Watch updates metrics, readiness, logs and progress lines from a learner's
// events.
type Watch struct {
	log     zerolog.Logger
	metrics *metrics.Learner
	claimed *metrics.Condition
	moving  *metrics.Condition
	input   *metrics.Condition
	blocked *metrics.Condition
	kafka   *metrics.Condition
	output  *metrics.Condition
	labels  *metrics.Condition
	tables  *Tables
	failing Failing

	Limit func(int64) // sets the memory limit of the garbage collector

	mu   sync.Mutex
	now  Report
	from startPoint // where the measurement of the rate starts

	owner string // current owner of the model, while this process is a standby

	drifts   learner.Drifts // number of alarms up to the last batch
	outliers int64          // number of labels that were not learned, up to the last batch
	shifts   int64          // number of alarms of the input monitor, up to the last batch

	windows *learner.WindowStatus // state at the last BATCH
	shift   lastShift

	labelled labelled
	never    never
}

// startPoint is a point in time and the number of examples learned by then.
type startPoint struct {
	at       time.Time
	examples int64
}

// Patience is how long a broker may be unreachable before the process is not
// ready.
const Patience = 10 * time.Second

// NoProgress is how long there may be a lag without progress before the process is
// not ready.
const NoProgress = 25 * time.Second

// New returns a Watch of a model, with its metrics in r and its conditions in h.
func New(model string, log zerolog.Logger, r prometheus.Registerer, h *metrics.Health) *Watch {
	return &Watch{
		log:     log,
		Limit:   func(int64) {},
		metrics: metrics.NewLearner(model, r),
		claimed: h.Add("claim", "the model log has not been read yet"),
		moving:  h.Watch("progress", NoProgress),
		input:   h.Add("input", ""),
		blocked: h.Add("transactions", ""),
		kafka:   h.Watch("kafka", Patience),
		output:  h.Watch("output", Patience),
		labels:  h.Add("labels", ""),
		tables:  NewTables(h),
		now:     Report{Model: model},
	}
}

// Cap sets the metric of the maximum number of random features.
func (w *Watch) Cap(c learner.Cap) { w.metrics.Cap(c.MaxFeatures, c.AtCap) }

// Ended returns err, which has ended the pipeline. If the model log is broken, it updates metrics
// and readiness.
func (w *Watch) Ended(err error) error {
	if errors.Is(err, pipeline.ErrLog) {
		w.metrics.LogBroken.Set(1)
		w.claimed.Red(err.Error())
	}
	return err
}

// Event handles the events of the pipeline: it is the pipeline's Report
// function.
func (w *Watch) Event(ev event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.metrics
	switch ev := ev.(type) {
	case event.Retrying:
		w.kafka.TroubleOf(Part(ev.Topic, int(ev.Partition)), ev.Err.Error())
		w.failing.Log(w.log, ev.Err, time.Now())
	case event.Unpublished:
		w.output.Trouble(ev.Err.Error())
		w.failing.Log(w.log, ev.Err, time.Now())
	case event.Uncommitted:
		w.log.Warn().Err(ev.Err).Msg("the lag is not visible to tools for consumer groups: input.group, which nothing else uses, cannot be committed to")
	case event.StandingBy, event.FencingLoop, event.StandbyFailed, event.TakingOver, event.Claimed:
		w.owned(ev)
	case event.Preparing, event.Began, event.Restored, event.Damaged, event.Unreadable, event.Void, event.RolledBack, event.Replayed:
		w.restored(ev)
	case event.Quarantining:
		w.quarantining(ev)
	case event.Columns:
		w.columns(ev)
	case event.Misread:
		w.misread(ev)
	case event.NewClasses:
		w.newClasses(ev)
	case event.TableRejected, event.TableMissing:
		w.table(ev)
	case event.Renamed:
		if !ev.Aliases[0].Declared {
			m.RenamedColumns.Add(float64(len(ev.Aliases)))
		}
		for _, a := range ev.Aliases[:min(len(ev.Aliases), mostNames)] {
			if a.Declared {
				w.log.Info().Str("column", a.Column).Str("field", a.Field).Int64("batch", ev.Seq).Msg("a column is read by another name from now on (input.renames)")
				continue
			}
			w.log.Warn().Str("column", a.Column).Str("field", a.Field).Int64("step", a.Step).Msg("a column has another name in the records, by which it is read from now on (input.on_change: adopt)")
		}
	case event.Succeeded:
		m.Successions.Inc()
		w.log.Info().Strs("columns", ev.Columns[:min(len(ev.Columns), mostNames)]).Int64("rows", ev.Rows).Float64("loss", ev.Loss).Float64("other", ev.Other).Msg("the model with the adopted columns predicts from now on")
	case event.Learned:
		w.learned(ev)
	case event.Shifted:
		w.shifted(ev, time.Now())
	case event.Published:
		w.output.Progress()
		m.Predictions.Add(float64(ev.Records))
		w.now.Predictions += int64(ev.Records)
	case event.Lag:
		w.lag(ev)
	case event.Memory:
		m.MemoryLimit.Set(float64(ev.Limit))
		w.Limit(ev.Limit)
	case event.PartitionsAdded:
		w.log.Warn().Str("topic", ev.Topic).Int("partitions", ev.Partitions).Msg("partitions were added to an input topic, learning from them")
	case event.Gap:
		m.Gap.Add(float64(ev.To - ev.From))
		w.log.Error().Str("topic", ev.Topic).Int32("partition", ev.Partition).Int64("from", ev.From).Int64("to", ev.To).Msg("gap: input was deleted before it was learned, continuing after it")
	case event.Paused:
		if ev.Why.Columns != nil {
			w.input.Red("paused: " + ev.Why.Why() + "; run accrete resume to learn without them")
			w.log.Error().Strs("fields", ev.Why.Columns.New).Strs("gone", ev.Why.Columns.Gone).Msg("paused because the columns of the records have changed (input.on_change): run accrete resume to learn without them, or start a model with other columns beside this one")
			break
		}
		w.input.Red("paused: " + ev.Why.Why() + "; fix the cause, then run accrete resume")
		w.log.Error().Int64("bad", ev.Why.Bad).Int64("of", ev.Why.Of).Str("reason", ev.Why.Reason).Msg("paused because too much of the input is invalid: inspect the quarantine topic, fix the cause, then run accrete resume")
	case event.Resumed:
		w.input.Green()
		w.moving.Progress()
		w.log.Info().Msg("resumed")
	case event.Refitted:
		w.refitted(ev)
	case event.Unfit:
		m.RefitFailed.Inc()
		w.log.Warn().Int64("seq", ev.Seq).Err(ev.Err).Msg("refit failed")
	case event.Saved:
		w.saved(ev)
	}
}

func (w *Watch) saved(ev event.Saved) {
	m := w.metrics
	m.Snapshots.Inc()
	m.SnapshotTime.SetToCurrentTime()
	m.SnapshotBytes.Set(float64(ev.Bytes))
	w.now.Snapshots++
	w.now.StateHash = &ev.StateHash
	w.log.Info().Str("snapshot", ev.ID).Int64("seq", ev.Seq).Int64("step", ev.Step).Int("bytes", ev.Bytes).
		Dur("froze_ms", ev.Froze).Dur("took_ms", ev.Took).Stringer("state_hash", ev.StateHash).Msg("snapshot")
}

// Current returns the current progress of the learner.
func (w *Watch) Current() Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.now
	if !w.from.at.IsZero() {
		r.Seconds = time.Since(w.from.at).Seconds()
		r.ExamplesPerSecond = float64(r.Examples-w.from.examples) / max(r.Seconds, 1e-3)
	}
	return r
}
