package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/broker"
	"github.com/accrete-ml/accrete/internal/synth"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/snapshot"
)

type demoCommand struct {
	env.JSONFlag
	For  time.Duration `default:"30s" placeholder:"DURATION" help:"Duration of the demo (${default})."`
	HTTP string        `name:"http" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address of the live page, /metrics, /livez, /readyz and predictions, or off (${default})."`
	Seed uint64        `default:"1" help:"Seed of the stream (${default})."`

	Mixture bool `default:"true" negatable:"" help:"Mix the model with simple members, as learner.mixture does; the live page shows their weights. --no-mixture: the algorithm alone."`
}

func (demoCommand) Help() string {
	return `Starts a Kafka broker in a temporary directory, a generator of examples, a learner and a scorer, all in one process, and prints their status every second. It removes everything on exit.

The examples have ten inputs. The label is a slowly rotating exclusive or of two of them, and every 50,000 examples two other inputs take over. One label in twenty is wrong, so the lowest possible error is 0.05.`
}

func (demoCommand) Examples() string {
	return `
accrete demo
accrete demo --no-mixture
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

// demoChange is a change of the concept. Error and Linear are the errors of the model and of the
// linear baseline over the 10,000 examples before the change.
type demoChange struct {
	Example int64   `json:"example"`
	Error   float64 `json:"error"`
	Linear  float64 `json:"linear"`
}

func (d *demoCommand) Run(ctx context.Context, e *env.Env) error {
	if d.For <= 0 {
		return exit.Usage("--for is %v: want more than 0s, for example 30s", d.For)
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
	quiet := e.Log.Level(zerolog.WarnLevel)
	m := &demo{log: quiet, watch: watch.New("demo", quiet, registry, health), board: page.NewBoard(time.Now), start: time.Now()}
	asked := m.newScorer(client, metrics.NewScorer("demo", registry))
	live := site{model: "demo", board: m.board, registry: registry, health: health, columns: importances(client, "demo", nil), answers: asked.answers}
	url, stop, err := live.serve(ctx, e, d.HTTP)
	if metrics.InUse(err) {
		e.Log.Warn().Str("address", d.HTTP).Msg("address in use, choosing another port")
		url, stop, err = live.serve(ctx, e, "127.0.0.1:0")
	}
	if err != nil {
		return err
	}
	defer stop()
	if !d.JSON && url != "" {
		fmt.Fprintf(e.Stdout, "live page: %s\n", url)
	}

	ctx, cancel := context.WithCancel(ctx) // no deadline, which would also apply to every request in flight
	defer cancel()
	defer time.AfterFunc(d.For, cancel).Stop()
	wait, err := m.launch(ctx, server, client, asked.scorer, d)
	if err != nil {
		return err
	}
	if !d.JSON {
		fmt.Fprintf(e.Stdout, "two of %d inputs are relevant, two others after every %s examples; the lowest possible error is %.3f\n", synth.Dim, display.Thousands(synth.Period), synth.Bayes)
	}
	progress := e.Progress(false)
	ended := every(time.Second, func() {
		r := m.report()
		if !d.JSON && e.Interactive {
			progress.Update(m.board.Spark(sparkWidth)+" "+r.status(), nil)
			return
		}
		e.Print(d.JSON, r.line(), r)
	})
	err = wait()
	ended()
	progress.Done()
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	r := m.report()
	return e.Print(d.JSON, r.summary(), r)
}

// status returns the status for an interactive terminal, where each line overwrites the one before.
// The most important values come first.
func (r demoReport) status() string {
	return fmt.Sprintf("error %.3f (linear %.3f), %s/s, lag %s, %s, %s, %.0f s", r.Latest, r.Baselines.Linear, display.Thousands(int64(r.PerSecond)), display.Thousands(r.Lag),
		display.Count(r.Examples, "example"), display.Count(int64(r.Snapshots), "snapshot"), r.Seconds)
}

// line returns the status for other output, where the lines follow each other.
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
