package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/lint"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline/audit"
)

// doctorCommand collects what a bug report needs.
type doctorCommand struct {
	env.ConfigFlags
	env.JSONFlag
	Timeout time.Duration `default:"10s" placeholder:"DURATION" help:"Time that the cluster has to answer (${default})."`
}

func (doctorCommand) Help() string {
	return `Collects what a bug report needs: the build, the processors and limits of the process, and, with a configuration, its problems and the options that differ from their defaults, the topics of the model as lint --online checks them, and the state of the model log. Passwords are printed as ***; the names of topics, brokers and users are not secrets and are printed. What cannot be determined is reported with the reason; problems do not change the exit code, which is 0. It writes nothing.`
}

func (doctorCommand) Examples() string {
	return `
accrete doctor
accrete doctor -c accrete.yaml
accrete doctor -c accrete.yaml --json > report.json`
}

// doctorReport is what a bug report needs.
type doctorReport struct {
	Build     build             `json:"build"`
	CPUs      int               `json:"cpus"`
	Procs     int               `json:"gomaxprocs"`
	Variables map[string]string `json:"variables"` // runtimeVariables that are set

	Problems []config.Problem `json:"problems,omitempty"` // of the configuration
	Warnings []config.Problem `json:"warnings,omitempty"`
	Options  []config.Value   `json:"options,omitempty"` // options that are not taken from the defaults
	Topics   []lint.Finding   `json:"topics,omitempty"`
	Cluster  string           `json:"cluster_error,omitempty"`
	Log      *doctorLog       `json:"log,omitempty"`
	LogError string           `json:"log_error,omitempty"`
	Late     string           `json:"late,omitempty"` // what to do if the time was over
}

// doctorLog is the state of a model log.
type doctorLog struct {
	Topic     string `json:"topic"`
	Bytes     int64  `json:"bytes"`
	Seq       int64  `json:"seq"`
	Released  int64  `json:"released"`
	Snapshots int    `json:"snapshots"`
	Newest    string `json:"newest_snapshot,omitempty"`
	Damage    string `json:"damage,omitempty"`
}

// runtimeVariables change how the program runs, and contain no secrets.
var runtimeVariables = []string{"ACCRETE_ISA", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"}

func (d *doctorCommand) Run(ctx context.Context, e *env.Env) error {
	if d.Timeout <= 0 {
		return exit.Usage("--timeout is %v: want more than 0s", d.Timeout)
	}
	r := doctorReport{Build: thisBuild(), CPUs: runtime.NumCPU(), Procs: runtime.GOMAXPROCS(0), Variables: map[string]string{}}
	for _, name := range runtimeVariables {
		if value := e.Variable(name); value != "" {
			r.Variables[name] = value
		}
	}
	c, err := config.Load(d.Sources(e))
	switch problems := (config.Problems{}); {
	case err == nil:
		r.Warnings = c.Warnings()
		for _, v := range c.Values() {
			if v.Source.Kind != "default" {
				r.Options = append(r.Options, v)
			}
		}
		within, cancel := context.WithTimeout(ctx, d.Timeout)
		r.examine(within, c)
		if within.Err() != nil && ctx.Err() == nil {
			r.Late = fmt.Sprintf("not everything was read within %v: --timeout sets a longer time", d.Timeout)
		}
		cancel()
	case d.Config == "" && len(d.Set) == 0:
		r.Cluster = "no configuration: name one with -c FILE"
	case errors.As(err, &problems):
		r.Problems = problems
	default:
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return e.Print(d.JSON, r.String(), r)
}

// examine adds what the cluster knows: the checks of the topics and the state of the model log.
func (r *doctorReport) examine(ctx context.Context, c *config.Config) {
	client, err := env.Connect(c)
	if err != nil {
		r.Cluster = err.Error()
		return
	}
	defer client.Close()
	if r.Topics, err = lint.CheckTopics(ctx, c, client); err != nil {
		r.Cluster = err.Error()
		return
	}
	p, err := setup.Pipeline(c, client, nil)
	if err != nil {
		r.LogError = err.Error()
		return
	}
	log, err := audit.Inspect(ctx, p, 0)
	if err != nil {
		r.LogError = err.Error()
	}
	if log == nil {
		return
	}
	r.Log = &doctorLog{Topic: log.Topic, Bytes: log.Bytes, Seq: log.Seq, Released: log.Released, Snapshots: len(log.Snapshots), Damage: log.Damage}
	if len(log.Snapshots) > 0 {
		r.Log.Newest = strings.TrimPrefix(log.Snapshots[0].String(), "snapshot ")
	}
}

func (r doctorReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program      %s %s (%s, %s/%s, %s)\n", r.Build.Name, r.Build.Version, r.Build.Go, r.Build.OS, r.Build.Arch, r.Build.ISA)
	fmt.Fprintf(&b, "processors   %d, used %d\n", r.CPUs, r.Procs)
	for _, name := range runtimeVariables {
		if value, set := r.Variables[name]; set {
			fmt.Fprintf(&b, "variable     %s=%s\n", name, value)
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "PROBLEM      %v\n", p)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning      %v\n", w)
	}
	for _, v := range r.Options {
		fmt.Fprintf(&b, "option       %s: %s  (%v)\n", v.Key, v.Text, v.Source)
	}
	for _, f := range r.Topics {
		fmt.Fprintf(&b, "%-12s %s\n", f.Status, f.Text)
	}
	if r.Cluster != "" {
		fmt.Fprintf(&b, "cluster      %s\n", r.Cluster)
	}
	if l := r.Log; l != nil {
		fmt.Fprintf(&b, "model log    %s: %d bytes, seq %d, published to %d, snapshots: %d\n", l.Topic, l.Bytes, l.Seq, l.Released, l.Snapshots)
		if l.Newest != "" {
			fmt.Fprintf(&b, "snapshot     %s\n", l.Newest)
		}
		if l.Damage != "" {
			fmt.Fprintf(&b, "DAMAGED      the newest snapshot: %s\n", l.Damage)
		}
	}
	if r.LogError != "" {
		fmt.Fprintf(&b, "model log    %s\n", r.LogError)
	}
	if r.Late != "" {
		fmt.Fprintf(&b, "time         %s\n", r.Late)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
