package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/internal/config"
)

type lintCommand struct {
	configFlags
	jsonFlag
	Reference bool `help:"Print a configuration file with every option, its default and its description."`
}

func (lintCommand) Help() string {
	return `Prints every effective value and its origin: a flag, the environment (ACCRETE_INPUT_TOPICS for input.topics), the file or the default. If the configuration is invalid, it prints every problem with its position instead. It does not connect to Kafka.`
}

func (lintCommand) Examples() string {
	return `
accrete lint --reference > config.yaml
accrete lint -c config.yaml --set learner.seed=7`
}

func (l *lintCommand) Run(_ context.Context, e *env) error {
	if l.Reference {
		return config.WriteReference(e.stdout)
	}
	c, err := config.Load(l.sources(e))
	if err == nil {
		_, err = kernelMetric(c)
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
		if err := e.print(l.JSON, "warning: "+w.Error(), map[string]config.Problem{"warning": w}); err != nil {
			return err
		}
	}
	return nil
}

func (l *lintCommand) explain(e *env, values []config.Value) error {
	if l.JSON {
		for _, v := range values {
			if err := e.print(true, "", v); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
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
func (l *lintCommand) complain(e *env, problems config.Problems) error {
	for _, p := range problems {
		if err := e.print(l.JSON, p.Error(), map[string]config.Problem{"problem": p}); err != nil {
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
