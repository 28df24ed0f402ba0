package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
)

type learnCommand struct {
	configFlags
	jsonFlag
	Standby bool `help:"Run as a standby while another learner of the model runs: learn the same batches, and take over when it stops or fails."`
	ToEnd   bool `name:"to-end" help:"Stop at the end offsets that the input topics have at startup."`

	NewModel bool `name:"new-model" help:"Start a new model although there are predictions of an earlier one. The model log must be empty."`
	Upgrade  bool `help:"Continue a model of another version of the arithmetic or the decoder. The model log and the lineage record the upgrade."`
}

func (learnCommand) Help() string {
	return `Reads the input topics, predicts each record and then learns from it, and writes predictions, snapshots and the model log to Kafka. It claims the model: another running learner of the same model is fenced and exits with code 76. With --standby it waits instead, and takes over within about a second when that learner exits, is killed or no longer reaches Kafka. It is crash-safe: after a kill at any instant, the next start recovers a bit-identical state.`
}

func (learnCommand) Examples() string {
	return `
accrete learn -c accrete.yaml
accrete learn -c accrete.yaml --standby
accrete learn -c accrete.yaml --to-end --json
accrete learn --set model=fraud --set kafka.bootstrap.servers=localhost:9092 --set input.topics=payments --set input.label=is_fraud`
}

func (l *learnCommand) Run(ctx context.Context, e *env) error {
	c, client, err := l.open(e, "input.topics", "input.label")
	if err != nil {
		return err
	}
	defer client.Close()
	registry, health := newRegistry()
	w := watch.New(c.Model, e.log, registry, health)
	if os.Getenv("GOMEMLIMIT") == "" {
		w.Limit = func(bytes int64) { debug.SetMemoryLimit(bytes) }
	}
	stop, err := serveMetrics(ctx, e, c.HTTP.Listen, registry, health)
	if err != nil {
		return err
	}
	defer stop()
	p, err := pipelineConfig(c, client, w.Event)
	if err != nil {
		return err
	}
	p.ToEnd, p.Standby, p.NewModel, p.Upgrade = l.ToEnd, l.Standby, l.NewModel, l.Upgrade
	pl, err := pipeline.Open(ctx, p)
	if ctx.Err() != nil && l.Standby {
		return nil
	}
	if ctx.Err() != nil {
		return exit.TryAgain(errors.New("stopped before it owned the model"))
	}
	if err != nil {
		return w.Ended(err)
	}
	progress := e.progress(false)
	defer every(time.Second, func() {
		if e.terminal {
			progress.update(w.Current().String(), nil)
		}
	})()
	if err := pl.Run(ctx); err != nil {
		return w.Ended(err)
	}
	progress.done()
	r := w.Current()
	return e.print(l.JSON, r.String()+stateLine(r), r)
}

func stateLine(r watch.Report) string {
	if r.StateHash == nil {
		return ""
	}
	return fmt.Sprintf("\nstate %v at step %d", r.StateHash, r.Step)
}

// every calls f periodically until the returned function is called.
func every(d time.Duration, f func()) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(d)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				f()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

func newRegistry() (*prometheus.Registry, *metrics.Health) {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics.Build(r, versionString())
	return r, metrics.NewHealth(time.Now)
}

// serveMetrics listens on addr, unless addr is "off". more adds further paths.
func serveMetrics(ctx context.Context, e *env, addr string, r *prometheus.Registry, h *metrics.Health, more ...func(*http.ServeMux)) (stop func() error, err error) {
	if addr == "off" {
		return func() error { return nil }, nil
	}
	mux := metrics.Mux(r, h)
	for _, add := range more {
		add(mux)
	}
	s, err := metrics.Serve(ctx, addr, mux)
	if err != nil {
		return nil, err
	}
	e.log.Info().Str("address", s.Addr()).Msg("serving /metrics, /livez and /readyz")
	return s.Close, nil
}

// pipelineConfig returns the pipeline configuration of a learner.
func pipelineConfig(c *config.Config, client *ingest.Client, report func(event.Event)) (pipeline.Config, error) {
	d, err := decodeConfig(c)
	if err != nil {
		return pipeline.Config{}, err
	}
	sign, verify, err := signatureKeys(c)
	if err != nil {
		return pipeline.Config{}, err
	}
	metric, err := kernelMetric(c)
	if err != nil {
		return pipeline.Config{}, err
	}
	nu := 0.0
	if d.Task == learner.Novelty {
		nu = c.Learner.Nu
	}
	return pipeline.Config{
		SignKey: sign, VerifyKey: verify, Writer: versionString(),

		Model:  c.Model,
		Client: client,
		Topics: c.Input.Topics,
		Decode: d,
		Learner: learner.Config{
			Algorithm:   c.Learner.Algorithm,
			Direction:   c.Learner.Direction,
			Loss:        c.Learner.Loss,
			OnDrift:     c.Learner.OnDrift,
			Lags:        c.Input.Lags,
			Costs:       string(c.Learner.Costs),
			Intervals:   c.Learner.Intervals,
			Kernel:      c.Learner.Kernel,
			Metric:      metric,
			Sampling:    c.Learner.Sampling,
			Task:        d.Task,
			MaxFeatures: c.Learner.MaxFeatures,
			BlockSize:   c.Learner.BlockSize,
			Minibatch:   c.Learner.Minibatch,
			Steps:       steps(c.Learner.Step),
			MaxClasses:  c.Input.MaxClasses,
			Targets:     d.Targets(),
			Lambda:      c.Learner.Lambda,
			Seed:        c.Learner.Seed,
			Nu:          nu,
		},
		BatchSize:     c.Input.Batch.Size,
		Linger:        time.Duration(c.Input.Batch.Linger),
		SnapshotEvery: time.Duration(c.Snapshot.Every),
		ReplayLimit:   time.Duration(c.Snapshot.Replay),
		Keep:          c.Snapshot.Keep,
		History:       int64(c.Snapshot.History),
		ChunkBytes:    int(c.Snapshot.Chunk),
		OnGap:         c.Input.OnGap,
		Watchdog:      time.Duration(c.Learner.Watchdog),
		Transactional: c.Output.Delivery == "transactional",
		Refit:         pipeline.RefitConfig{Every: time.Duration(c.Refit.Every), Window: c.Refit.Window, Tolerance: c.Refit.Tolerance},
		Heartbeat:     pipeline.HeartbeatEvery,
		Report:        report,
	}, nil
}

// kernelMetric returns the metric that the configuration names, or nil.
func kernelMetric(c *config.Config) (*learner.Metric, error) {
	path := c.Learner.KernelMetric
	if path == "" {
		return nil, nil
	}
	m, err := readMetric(path)
	if err == nil && c.Input.Columns.Names() != nil {
		err = learner.Config{Metric: m}.Check(c.Input.Columns.Names())
	}
	if err != nil {
		return nil, c.At("learner.kernel.metric", err)
	}
	return m, nil
}

// signatureKeys returns the keys that the configuration names.
func signatureKeys(c *config.Config) (sign ed25519.PrivateKey, verify ed25519.PublicKey, err error) {
	if path := c.Snapshot.SignKey; path != "" {
		if sign, err = config.ReadSigningKey(path); err != nil {
			return nil, nil, c.At("snapshot.sign_key_file", err)
		}
	}
	if path := c.Snapshot.VerifyKey; path != "" {
		if verify, err = config.ReadVerifyingKey(path); err != nil {
			return nil, nil, c.At("snapshot.verify_key_file", err)
		}
	}
	return sign, verify, nil
}

func decodeConfig(c *config.Config) (decode.Config, error) {
	task, err := learner.ParseTask(c.Learner.Task)
	if err != nil {
		return decode.Config{}, exit.Refuse(err)
	}
	l, err := learner.Config{Task: task, Loss: c.Learner.Loss, Targets: len(c.Input.Label), Costs: string(c.Learner.Costs), Intervals: c.Learner.Intervals}.Effective() // the loss, the costs and the intervals determine the task
	if err != nil {
		return decode.Config{}, exit.Refuse(err)
	}
	return decode.Config{
		Format:     c.Input.Format,
		Labels:     c.Input.Label,
		Key:        c.Input.Key,
		Weight:     c.Input.Weight,
		Columns:    c.Input.Columns.Names(),
		Types:      c.Input.Columns.Types(),
		Infer:      c.Learner.KernelMetric == "" && learner.Config{Kernel: c.Learner.Kernel}.Above() == 0,
		Depth:      decode.MaxDepth,
		Missing:    c.Input.Missing,
		Unknown:    c.Input.Unknown,
		Task:       l.Task,
		MaxClasses: c.Input.MaxClasses,
		Above:      learner.Config{Kernel: c.Learner.Kernel}.Above(),
	}, nil
}
