// Package setup derives from a configuration what the commands need: the options of a learner, its
// keys and its newest model.
package setup

import (
	"errors"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/version"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// Pipeline returns the pipeline configuration of a learner. report may be nil.
func Pipeline(c *config.Config, client *ingest.Client, report func(event.Event)) (model.Config, error) {
	if report == nil {
		report = func(event.Event) {}
	}
	d, err := Decode(c)
	if err != nil {
		return model.Config{}, err
	}
	schemas, err := Schemas(c)
	if err != nil {
		return model.Config{}, err
	}
	sign, verify, err := Keys(c)
	if err != nil {
		return model.Config{}, err
	}
	passed, err := Passed(c)
	if err != nil {
		return model.Config{}, err
	}
	of, err := learnerOf(c, &d)
	if err != nil {
		return model.Config{}, err
	}
	if err := check(model.Config{Decode: d, Learner: of, Refit: refit(c), Gate: gate(c)}); err != nil {
		return model.Config{}, err
	}
	return model.Config{
		SignKey: sign, VerifyKey: verify, Writer: version.String(),

		Model:         c.Model,
		Client:        client,
		Topics:        c.Input.LearnedTopics(),
		Decode:        d,
		Renames:       c.Input.Renames.Of(),
		Learner:       of,
		Schemas:       schemas,
		AutoMixture:   c.Learner.Mixture == "auto",
		AutoScores:    of.NormalScores,
		AutoForest:    c.Learner.Forest == "auto",
		Passed:        passed,
		BatchSize:     c.Input.Batch.Size,
		Linger:        time.Duration(c.Input.Batch.Linger),
		SnapshotEvery: time.Duration(c.Snapshot.Every),
		ReplayLimit:   time.Duration(c.Snapshot.Replay),
		Keep:          c.Snapshot.Keep,
		History:       int64(c.Snapshot.History),
		ChunkBytes:    int(c.Snapshot.Chunk),
		OnGap:         c.Input.OnGap,
		OnChange:      c.Input.OnChange,
		Group:         c.Input.CommitGroup(),
		Watchdog:      time.Duration(c.Learner.Watchdog),
		Transactional: c.Output.Delivery == "transactional",
		Values:        record.Values(c.Quarantine.Values),
		Refit:         refit(c),
		Gate:          gate(c),
		Heartbeat:     pipeline.HeartbeatEvery,
		Report:        report,
	}, nil
}

func refit(c *config.Config) model.RefitConfig {
	return model.RefitConfig{Every: time.Duration(c.Refit.Every), Window: c.Refit.Window, Tolerance: c.Refit.Tolerance, Prune: c.Refit.Prune}
}

// gate returns the rule for new snapshots.
func gate(c *config.Config) model.GateConfig {
	if c.Gate.Metric == "none" {
		return model.GateConfig{}
	}
	return model.GateConfig{Metric: c.Gate.Metric, WorseThan: c.Gate.WorseThan, Over: c.Gate.Over}
}

// OpenWriter connects a command that writes records to the model log without learning. The
// caller closes the client of the pipeline configuration.
func OpenWriter(flags env.ConfigFlags, e *env.Env, required ...string) (*config.Config, model.Config, error) {
	c, client, err := flags.Open(e, required...)
	if err != nil {
		return nil, model.Config{}, err
	}
	sign, verify, err := Keys(c)
	if err != nil {
		client.Close()
		return nil, model.Config{}, err
	}
	return c, model.Config{
		Model: c.Model, Client: client, Topics: c.Input.LearnedTopics(), SignKey: sign, VerifyKey: verify, Writer: version.String(),
		Keep: c.Snapshot.Keep, History: int64(c.Snapshot.History),
		Report: e.WarnOfRetries,
	}, nil
}

// Decode returns the configuration with which a learner reads records.
func Decode(c *config.Config) (decode.Config, error) {
	task, err := learner.ParseTask(c.Learner.Task)
	if err != nil {
		return decode.Config{}, exit.Refuse(err)
	}
	// the loss, the costs, the balance and the intervals determine the task
	l, err := learner.Config{Task: task, Loss: c.Learner.Loss, Targets: len(c.Input.Label), Costs: string(c.Learner.Costs), Balance: string(c.Learner.Balance), Intervals: c.Learner.Intervals, Variance: c.Learner.Variance == "on"}.Effective()
	if err != nil {
		return decode.Config{}, exit.Refuse(named(err))
	}
	reader, err := reader(c)
	if err != nil {
		return decode.Config{}, err
	}
	d := decode.Config{
		Format:     c.Input.Format,
		Reader:     reader,
		Framed:     !c.Input.Registry.Of().Empty(),
		Labels:     c.Input.Label,
		Key:        c.Input.Key,
		Weight:     c.Input.Weight,
		Time:       c.Input.Time,
		Columns:    c.Input.Columns.Names(),
		Types:      c.Input.Columns.Types(),
		Windows:    c.Input.Windows.Of(),
		Tables:     c.Input.Tables.Of(),
		Sparse:     c.Input.Sparse > 0,
		Infer:      c.Learner.KernelMetric == "" && learner.Config{Kernel: c.Learner.Kernel}.Above() == 0,
		Depth:      decode.MaxDepth,
		Grams:      l.Task != learner.Novelty,
		Zones:      true,
		Missing:    c.Input.Missing,
		Unknown:    c.Input.Unknown,
		Adopt:      c.Input.OnChange == "adopt",
		Renames:    c.Input.OnChange == "adopt",
		ByTime:     c.Input.Order == "time",
		Task:       l.Task,
		MaxClasses: c.Input.MaxClasses,
		Late:       c.Input.Labels.Late(),
		Above:      learner.Config{Kernel: c.Learner.Kernel}.Above(),
		Counts:     l.Counts(),
	}
	if _, err := decode.New(d, decode.Schema{}); err != nil {
		return decode.Config{}, exit.Refuse(err)
	}
	return d, nil
}

// Check returns an error if a learner would refuse the options of c when it starts.
func Check(c *config.Config) error {
	d, err := Decode(c)
	if err != nil {
		return err
	}
	l, err := learnerOf(c, &d)
	if err != nil {
		return err
	}
	return check(model.Config{Decode: d, Learner: l, Refit: refit(c), Gate: gate(c)})
}

// check returns an error if the options of p are invalid, or exclude each other.
func check(p model.Config) error {
	if _, err := p.Learner.Effective(); err != nil {
		return exit.Refuse(named(err))
	}
	if _, err := p.Options(); err != nil {
		return exit.Refuse(err)
	}
	if err := p.ValidateRefit(); err != nil {
		return exit.Refuse(err)
	}
	if p.Gate.Metric == "" {
		return nil
	}
	if err := p.Gate.Validate(p.Learner); err != nil {
		return exit.Refuse(err)
	}
	return nil
}

// named returns err, an error of the options of a learner, with the name of the option in the
// configuration if the text begins with another one.
func named(err error) error {
	first, rest, _ := strings.Cut(err.Error(), " ")
	if name := model.OptionName("learner." + first); name != "learner."+first || strings.HasPrefix(rest, "is ") {
		return errors.New(name + " " + rest)
	}
	return err
}
