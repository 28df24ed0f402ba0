package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/broker"
	"github.com/accrete-ml/accrete/internal/synth"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot"
)

type demoCommand struct {
	jsonFlag
	For  time.Duration `default:"30s" placeholder:"DURATION" help:"Duration of the demo (${default})."`
	HTTP string        `name:"http" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address of /metrics, /livez and /readyz, or off (${default})."`
	Seed uint64        `default:"1" help:"Seed of the stream (${default})."`
}

func (demoCommand) Help() string {
	return `Starts a Kafka broker in a temporary directory, a generator of examples, a learner and a scorer, all in one process, and prints their status every second. It removes everything on exit.

The examples have ten inputs. The label is a slowly rotating exclusive or of two of them, and every 50,000 examples two other inputs take over. One label in twenty is wrong, so the lowest possible error is 0.05.`
}

func (demoCommand) Examples() string {
	return `
accrete demo
accrete demo --for 2m --http off --json`
}

const (
	demoExamples = "demo.examples"
	demoRequests = "demo.requests"
	demoAhead    = 4000 // maximum number of records that the generator is ahead of the learner
	demoChunk    = 500  // records per write
	demoAsk      = 10   // every tenth example is also sent to the scorer
)

// demoReport is the demo's status and its final result.
type demoReport struct {
	Examples    int64           `json:"examples"`
	PerSecond   float64         `json:"examples_per_second"`
	Progressive float64         `json:"progressive"` // error over the whole run
	Baselines   watch.Baselines `json:"baselines"`   // over the whole run
	Bayes       float64         `json:"bayes"`       // lowest possible error
	Latest      float64         `json:"latest"`      // error over the last 1,000 examples
	Features    int             `json:"features"`
	Snapshots   int             `json:"snapshots"`
	Predictions int64           `json:"predictions"`
	Scores      int64           `json:"scores"` // predictions written by the scorer
	Lag         int64           `json:"lag"`
	StateHash   *snapshot.Hash  `json:"state_hash"` // of the last snapshot; null before the first
	Changes     []demoChange    `json:"changes"`    // concept changes so far
	Seconds     float64         `json:"seconds"`
}

// demoChange is a change of the concept. Its errors are those over the 10,000
// examples before the change.
type demoChange struct {
	Example int64   `json:"example"`
	Error   float64 `json:"error"`
	Linear  float64 `json:"linear"`
}

// demo is the state of a running demo.
type demo struct {
	log     zerolog.Logger
	watch   *watch.Watch
	learned atomic.Int64
	scores  atomic.Int64

	mu      sync.Mutex
	last    learner.Progress
	changes []demoChange
	start   time.Time
}

func (d *demoCommand) Run(ctx context.Context, e *env) error {
	if d.For <= 0 {
		return exit.Usage("--for %v: want a positive duration, for example 30s", d.For)
	}
	dir, err := os.MkdirTemp("", "accrete-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Dir: dir})
	if err != nil {
		return err
	}
	defer server.Close()
	client, err := ingest.New(ingest.Config{Brokers: []string{server.Addr()}})
	if err != nil {
		return err
	}
	defer client.Close()
	for _, topic := range []string{demoExamples, demoRequests} {
		if err := client.Create(ctx, topic, 1, nil); err != nil {
			return err
		}
	}
	registry, health := newRegistry()
	quiet := e.log.Level(zerolog.WarnLevel)
	m := &demo{log: quiet, watch: watch.New("demo", quiet, registry, health), start: time.Now()}
	stop, err := serveMetrics(ctx, e, d.HTTP, registry, health)
	if metrics.InUse(err) {
		e.log.Warn().Str("address", d.HTTP).Msg("address in use, choosing another port")
		stop, err = serveMetrics(ctx, e, "127.0.0.1:0", registry, health)
	}
	if err != nil {
		return err
	}
	defer stop()

	ctx, cancel := context.WithCancel(ctx) // no deadline, which would also apply to every request in flight
	defer cancel()
	defer time.AfterFunc(d.For, cancel).Stop()
	wait, err := m.launch(ctx, server, client, registry, d.Seed)
	if err != nil {
		return err
	}
	if !d.JSON {
		fmt.Fprintf(e.stdout, "two of %d inputs are relevant, two others after every %s examples; the lowest possible error is %.3f\n", synth.Dim, display.Thousands(synth.Period), synth.Bayes)
	}
	ended := every(time.Second, func() {
		r := m.report()
		e.print(d.JSON, r.line(), r)
	})
	err = wait()
	ended()
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	r := m.report()
	return e.print(d.JSON, r.summary(), r)
}

// launch starts the generator, the learner and the scorer, which run until ctx
// is done. wait returns once all of them have stopped.
func (m *demo) launch(ctx context.Context, server *broker.Broker, client *ingest.Client, registry *prometheus.Registry, seed uint64) (wait func() error, err error) {
	l, err := pipeline.Open(ctx, pipeline.Config{
		Model: "demo", Client: client, Topics: []string{demoExamples},
		Decode:    decode.Config{Format: "json", Label: "label"},
		BatchSize: 1000, Linger: 5 * time.Millisecond,
		SnapshotEvery: 2 * time.Second, ReplayLimit: 10 * time.Second, Keep: 3, History: 256 << 20,
		Report: m.event,
	})
	if err != nil {
		return nil, err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		select {
		case err := <-server.Failed():
			return err
		case <-gctx.Done():
			return nil
		}
	})
	g.Go(func() error { return m.generate(gctx, client, synth.Stream{Seed: seed}) })
	g.Go(func() error { return l.Run(gctx) })
	g.Go(func() error {
		return serve.NewScorer(serve.Config{
			Model: "demo", Client: client, Log: pipeline.LogTopic("demo"),
			Topics: []string{demoRequests}, Output: pipeline.ScoresTopic("demo"), Quarantine: pipeline.QuarantineTopic("demo"),
			Group: "accrete-demo-scorer", Report: m.scorer(metrics.NewScorer(registry)),
		}).Run(gctx)
	})
	return g.Wait, nil
}

// generate writes examples as fast as the learner reads them.
func (m *demo) generate(ctx context.Context, c *ingest.Client, s synth.Stream) error {
	examples, requests := c.Producer(), c.Producer()
	x := make([]float64, synth.Dim)
	var written int64
	for ctx.Err() == nil {
		if written-m.learned.Load() >= demoAhead {
			sleep(ctx, time.Millisecond)
			continue
		}
		var labelled, toScore []ingest.Record
		now := time.Now().UnixMilli()
		for range demoChunk {
			class := s.At(written, x)
			key := strconv.AppendInt(nil, written, 10)
			if written%demoAsk == 0 {
				toScore = append(toScore, ingest.Record{Time: now, Key: key, Value: appendExample(nil, x, "", "")})
			}
			labelled = append(labelled, ingest.Record{Time: now, Key: key, Value: appendExample(nil, x, "label", "ab"[class:class+1])})
			written++
		}
		err := examples.Publish(ctx, demoExamples, 0, labelled)
		if err == nil {
			err = requests.Publish(ctx, demoRequests, 0, toScore)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func (m *demo) event(ev event.Event) {
	m.watch.Event(ev)
	l, ok := ev.(event.Learned)
	if !ok {
		return
	}
	m.learned.Add(l.Counts.Learned)
	m.mu.Lock()
	defer m.mu.Unlock()
	if before, now := m.last.Examples/synth.Period, l.Progress.Examples/synth.Period; now > before {
		at := m.last // the last BATCH that ends before the change
		if l.Progress.Examples%synth.Period == 0 {
			at = l.Progress
		}
		m.changes = append(m.changes, demoChange{now * synth.Period, at.Recent.Model.Error, at.Recent.Linear.Error})
	}
	m.last = l.Progress
}

func (m *demo) scorer(s *metrics.Scorer) func(serve.Event) {
	return func(ev serve.Event) {
		switch ev := ev.(type) {
		case serve.Scored:
			m.scores.Add(int64(ev.Scored))
			s.Scored.Add(float64(ev.Scored))
		case serve.Switched:
			s.Step.Set(float64(ev.To.ID.Step))
			s.ModelTime.SetToCurrentTime()
		case serve.Damaged:
			m.log.Error().Str("snapshot", ev.ID).Err(ev.Err).Msg("unusable snapshot")
		case serve.Retrying:
			m.log.Warn().Err(ev.Err).Msg("scorer: temporary failure, retrying")
		}
	}
}

func (m *demo) report() demoReport {
	w := m.watch.Current()
	m.mu.Lock()
	defer m.mu.Unlock()
	whole := m.last.Whole
	return demoReport{
		Examples: w.Examples, PerSecond: w.ExamplesPerSecond,
		Progressive: whole.Model.Error,
		Baselines:   watch.Baselines{Majority: whole.Majority.Error, NoChange: whole.NoChange.Error, Linear: whole.Linear.Error},
		Bayes:       synth.Bayes, Latest: m.last.Latest.Model.Error,
		Features: w.Features, Snapshots: w.Snapshots, Predictions: w.Predictions, Scores: m.scores.Load(),
		Lag: w.Lag, StateHash: w.StateHash,
		Changes: append([]demoChange{}, m.changes...), Seconds: time.Since(m.start).Seconds(),
	}
}

// line returns the status line.
func (r demoReport) line() string {
	return fmt.Sprintf("%4.0f s  %9s examples  %7s/s  error %.3f of the last 1,000, %.3f of all (linear %.3f, majority %.3f, no change %.3f)  %s  %s  lag %s",
		r.Seconds, display.Thousands(r.Examples), display.Thousands(int64(r.PerSecond)), r.Latest, r.Progressive,
		r.Baselines.Linear, r.Baselines.Majority, r.Baselines.NoChange, display.Count(int64(r.Features), "feature"), display.Count(int64(r.Snapshots), "snapshot"), display.Thousands(r.Lag))
}

// summary returns the final result as text.
func (r demoReport) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s examples predicted, then learned, in %.0f s: %s a second\n", display.Thousands(r.Examples), r.Seconds, display.Thousands(int64(r.PerSecond)))
	fmt.Fprintf(&b, "%s predictions by the learner, %s by a scorer that used %s\n", display.Thousands(r.Predictions), display.Thousands(r.Scores), display.Count(int64(r.Snapshots), "snapshot"))
	fmt.Fprintf(&b, "error over all examples %.4f: linear %.4f, majority %.4f, no change %.4f\n", r.Progressive, r.Baselines.Linear, r.Baselines.Majority, r.Baselines.NoChange)
	if len(r.Changes) > 0 {
		fmt.Fprintf(&b, "error over the 10,000 examples before each change of concept (lowest possible: %.3f):\n", r.Bayes)
	}
	for _, c := range r.Changes {
		fmt.Fprintf(&b, "  %9s  %.4f, linear %.4f\n", display.Thousands(c.Example), c.Error, c.Linear)
	}
	if r.StateHash != nil {
		fmt.Fprintf(&b, "state %v", r.StateHash)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
