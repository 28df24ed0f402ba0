package main

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/broker"
	"github.com/accrete-ml/accrete/internal/synth"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
)

// demo is the state of a running demo.
type demo struct {
	log     zerolog.Logger
	watch   *watch.Watch
	board   *page.Board
	learned atomic.Int64
	scores  atomic.Int64

	mu      sync.Mutex
	last    learner.Progress
	changes []demoChange
	start   time.Time
}

// launch starts the generator, the learner and the scorer, which run until ctx
// is done. wait returns once all of them have stopped.
func (m *demo) launch(ctx context.Context, server *broker.Broker, client *ingest.Client, scorer *serve.Scorer, d *demoCommand) (wait func() error, err error) {
	l, err := pipeline.Open(ctx, model.Config{
		Model: "demo", Client: client, Topics: []string{demoExamples},
		Decode:    decode.Config{Format: "json", Label: "label"},
		Learner:   learner.Config{Mixture: d.Mixture},
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
	g.Go(func() error { return m.generate(gctx, client, synth.Stream{Seed: d.Seed}) })
	g.Go(func() error { return l.Run(gctx) })
	g.Go(func() error { return scorer.Run(gctx) })
	return g.Wait, nil
}

// newScorer returns the scorer, which also answers requests for predictions.
func (m *demo) newScorer(client *ingest.Client, collectors *metrics.Scorer) *endpoint {
	s := serve.NewScorer(serve.Config{
		Model: "demo", Client: client, Log: model.LogTopic("demo"),
		Topics: []string{demoRequests}, Output: model.ScoresTopic("demo"), Quarantine: model.QuarantineTopic("demo"),
		Group: "accrete-demo-scorer", Report: m.scorer(collectors),
	})
	return &endpoint{scorer: s, answers: predictions("demo", serve.Canary{}, s, record.Passed{}, nil, collectors)}
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
	if _, ok := ev.(event.Memory); ok {
		return // a limit for a learner, and this process has a broker and a scorer as well
	}
	m.watch.Event(ev)
	m.board.Learner(ev)
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
		m.board.Scorer(ev)
		switch ev := ev.(type) {
		case serve.Scored:
			m.scores.Add(int64(ev.Scored))
			s.Scored.Add(float64(ev.Scored))
		case serve.Switched:
			s.Model(ev.To.ID.Step, ev.To.Written)
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
