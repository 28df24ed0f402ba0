// Package draft is the command that writes a first configuration, from what a
// cluster and the records of a topic show.
package draft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/lint"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/config"
)

// Command is accrete init.
type Command struct {
	Servers string `name:"bootstrap-servers" short:"b" placeholder:"HOST:PORT" help:"Brokers of the cluster, separated by commas; also from --kafka-config."`
	Kafka   string `name:"kafka-config" placeholder:"FILE" help:"Properties file of Kafka's own clients (client.properties)."`
	Topic   string `short:"t" placeholder:"TOPIC" help:"Input topic. Without it, the topics of the cluster are listed."`
	Label   string `short:"l" placeholder:"FIELD" help:"Field of the label. Without it, the only field with the name of a label."`
	Model   string `short:"m" placeholder:"NAME" help:"Name of the model (default: the topic's, up to its first dot)."`
	Sample  int    `default:"1000" help:"Number of records to sample (${default})."`
	Output  string `short:"o" default:"accrete.yaml" placeholder:"FILE" help:"File to write (${default}), which must not exist; - for standard output."`
}

func (Command) Help() string {
	return `Connects to the cluster, samples the oldest records of the topic, and writes a configuration with a comment for each column: its type, how often it is missing, and what the model sees of it. It creates no topics and writes nothing to the cluster. Edit the file, check it with accrete lint --online -c FILE, then start accrete learn -c FILE.

A SASL password is taken from the environment (ACCRETE_KAFKA_SASL_PASSWORD) or from --kafka-config, and is not written to the file.`
}

func (Command) Examples() string {
	return `
accrete init -b localhost:9092
accrete init -b localhost:9092 -t payments -l is_fraud
accrete init --kafka-config client.properties -t payments -l is_fraud -o fraud.yaml`
}

// Validate rejects an empty sample, and names that no model and no topic can have. Kong calls it.
func (c *Command) Validate() error {
	if c.Sample < 1 {
		return fmt.Errorf("--sample is %d: want 1 or more", c.Sample)
	}
	if err := config.CheckModel(c.Model); err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	if err := config.CheckTopic(c.Topic); err != nil {
		return fmt.Errorf("--topic: %w", err)
	}
	return nil
}

func (c *Command) Run(ctx context.Context, e *env.Env) error {
	if c.Topic != "" { // otherwise it only lists topics
		if err := c.free(); err != nil {
			return err
		}
	}
	if err := c.choose(ctx, e); err != nil {
		return err
	}
	cfg, client, err := c.connect(e, c.Model, c.Topic, c.Label)
	if err != nil {
		return err
	}
	defer client.Close()
	s, err := lint.Sample(ctx, e, cfg, client, c.Sample)
	if err != nil {
		return err
	}
	if s.Report.Records == 0 {
		return exit.Refuse(fmt.Errorf("topic %s has no records to sample yet", c.Topic))
	}
	if s.Report.Labelled == 0 {
		return exit.Refuse(fmt.Errorf("none of %d records of %s has a label in %s: choose another field with --label", s.Report.Records, c.Topic, c.Label))
	}
	return c.write(e, cfg, s)
}

// free returns an error if the file to write exists.
func (c *Command) free() error {
	if _, err := os.Stat(c.Output); err == nil && c.Output != "-" {
		return exit.Refuse(fmt.Errorf("%s exists already: remove it, or choose another file with -o", c.Output))
	}
	return nil
}

// choose sets the options that were not given: the model is named after the topic, and the label is
// the field with the name of a label.
func (c *Command) choose(ctx context.Context, e *env.Env) error {
	_, client, err := c.connect(e, "draft", "draft", "label")
	if err != nil {
		return err
	}
	defer client.Close()
	if c.Topic == "" {
		return c.list(ctx, client)
	}
	if c.Model == "" {
		c.Model, _, _ = strings.Cut(c.Topic, ".")
	}
	records, err := oldest(ctx, e, client, c.Topic)
	if err != nil {
		return err
	}
	if err := plain(c.Topic, records); err != nil || c.Label != "" {
		return err
	}
	names, err := fields(c.Topic, records)
	if err != nil {
		return err
	}
	c.Label, err = guess(names)
	return err
}

// connect returns a client, and the configuration that it was made from.
func (c *Command) connect(e *env.Env, model, topic, label string) (*config.Config, *ingest.Client, error) {
	set := []string{"model=" + model, "input.topics=" + topic, "input.label=" + label, fmt.Sprintf("input.max_classes=%d", mostClasses)}
	if c.Servers != "" {
		set = append(set, "kafka.bootstrap.servers="+c.Servers)
	}
	sources := env.ConfigFlags{Kafka: c.Kafka, Set: set}.Sources(e)
	cfg, err := config.Load(sources)
	if err != nil && c.Servers == "" && c.Kafka == "" {
		return nil, nil, exit.Refuse(errors.New("which cluster? Name its brokers with --bootstrap-servers, as localhost:9092, or with --kafka-config"))
	}
	if err != nil {
		return nil, nil, err
	}
	client, err := env.Connect(cfg)
	return cfg, client, err
}

// list returns an error that names the topics to choose from.
func (c *Command) list(ctx context.Context, client *ingest.Client) error {
	names, err := client.Topics(ctx)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return exit.Refuse(errors.New("the cluster has no topics that this client may see"))
	}
	return exit.Refuse(fmt.Errorf("which topic? Choose one with --topic: %s", some(names, 30)))
}

// some joins at most n names.
func some(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:n], ", "), len(names)-n)
}
