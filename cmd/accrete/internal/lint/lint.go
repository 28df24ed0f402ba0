// Package lint is the command that checks a configuration, and its topics on a cluster.
package lint

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/internal/config"
)

// Command is accrete lint.
type Command struct {
	env.ConfigFlags
	env.JSONFlag
	Online    bool `xor:"mode" help:"Also check the topics, their retention and the permissions on the cluster, and how sampled records of the input topics would be read."`
	Sample    int  `default:"1000" help:"Number of records that --online samples (${default})."`
	Reference bool `xor:"mode" help:"Print a configuration file with every option, its default and its description."`
}

func (Command) Help() string {
	return `Prints every effective value and its origin: a flag, the environment (ACCRETE_INPUT_TOPICS for input.topics), the file or the default. If the configuration is invalid, it prints every problem with its position instead. Without --online it does not connect to Kafka.

With --online it then checks every topic of the model (existence, cleanup policy, retention, permissions as far as the cluster tells), and samples records of the input topics: the newest ones, read as the model in the log reads them, or, if there is no model yet, the oldest ones, read as a new model would. It prints the type of each column and what it becomes, as fit does, and how many of the records would go to quarantine and why. It writes nothing.`
}

func (Command) Examples() string {
	return `
accrete lint --reference > config.yaml
accrete lint -c config.yaml --set learner.seed=7
accrete lint -c config.yaml --online`
}

// Validate rejects an empty sample. Kong calls it.
func (l *Command) Validate() error {
	if l.Sample < 1 {
		return fmt.Errorf("--sample is %d: want 1 or more", l.Sample)
	}
	return nil
}

func (l *Command) Run(ctx context.Context, e *env.Env) error {
	if l.Reference {
		return config.WriteReference(e.Stdout)
	}
	c, err := config.Load(l.Sources(e))
	if err == nil {
		err = setup.Check(c)
	}
	var problems config.Problems
	if errors.As(err, &problems) {
		return l.complain(e, problems)
	}
	if err != nil {
		return err
	}
	if err := l.explain(e, c.Values()); err != nil {
		return err
	}
	for _, w := range c.Warnings() {
		if err := e.Print(l.JSON, "warning: "+w.Error(), map[string]config.Problem{"warning": w}); err != nil {
			return err
		}
	}
	if l.Online {
		return l.online(ctx, e, c)
	}
	return nil
}

// online checks the topics of the model on the cluster and, if these have no problems, samples
// records.
func (l *Command) online(ctx context.Context, e *env.Env, c *config.Config) error {
	client, err := env.Connect(c)
	if err != nil {
		return err
	}
	defer client.Close()
	if !l.JSON {
		fmt.Fprintln(e.Stdout)
	}
	o := cluster{e: e, asJSON: l.JSON, c: c, client: client}
	if err := o.topics(ctx); err != nil {
		return err
	}
	if o.problems == 0 {
		if err := o.model(ctx); err != nil {
			return err
		}
	}
	if o.problems == 0 {
		if err := o.sample(ctx, l.Sample); err != nil {
			return err
		}
	}
	switch o.problems {
	case 0:
		return nil
	case 1:
		return exit.Refuse(errors.New("the cluster has 1 problem"))
	}
	return exit.Refuse(fmt.Errorf("the cluster has %d problems", o.problems))
}

func (l *Command) explain(e *env.Env, values []config.Value) error {
	if l.JSON {
		for _, v := range values {
			if err := e.Print(true, "", v); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tVALUE\tFROM")
	for _, v := range values {
		text := v.Text
		if text == "" {
			text = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%v\n", v.Key, text, v.Source)
	}
	return w.Flush()
}

// complain prints every problem and returns their number as an error.
func (l *Command) complain(e *env.Env, problems config.Problems) error {
	for _, p := range problems {
		if err := e.Print(l.JSON, p.Error(), map[string]config.Problem{"problem": p}); err != nil {
			return err
		}
	}
	name := l.Config
	if name == "" {
		name = "the configuration"
	}
	if len(problems) == 1 {
		return exit.Refuse(fmt.Errorf("%s has 1 problem", name))
	}
	return exit.Refuse(fmt.Errorf("%s has %d problems", name, len(problems)))
}
