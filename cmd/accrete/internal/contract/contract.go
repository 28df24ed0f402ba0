// Package contract is the command that prints what others can rely on: the schemas of what a
// model reads and writes.
package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Command is accrete contract.
type Command struct {
	env.ConfigFlags
	Input    bool `xor:"what" help:"Print the JSON Schema of input records instead."`
	AsyncAPI bool `name:"asyncapi" xor:"what" help:"Print an AsyncAPI 3.0 document in YAML instead: servers, topics and messages."`
	Avro     bool `xor:"what" help:"Print the Avro schema of predictions instead (output.format avro)."`
	Protobuf bool `xor:"what" help:"Print the Protocol Buffers schema of predictions instead (output.format protobuf)."`
	JSON     bool `name:"json" help:"Print the AsyncAPI document in JSON."`
	Online   bool `help:"Connect, and take the columns, the classes and the task from the newest snapshot of the model."`
}

func (Command) Help() string {
	return `Prints the contract of a model: the JSON Schema (2020-12) of its predictions, or what a flag chooses. It follows from the configuration alone, so that it can be published and reviewed before the model runs. The columns of input records are those that input.columns declares; with --online, those that the model has learned.

A later version may add members to predictions, and fields with a default to the schemas of Avro and Protocol Buffers, which are registered with the compatibility BACKWARD. It removes and changes none.`
}

func (Command) Examples() string {
	return `
accrete contract -c accrete.yaml
accrete contract -c accrete.yaml --asyncapi > asyncapi.yaml
accrete contract -c accrete.yaml --avro > prediction.avsc
accrete contract -c accrete.yaml --input --online`
}

func (c *Command) Run(ctx context.Context, e *env.Env) error {
	options, err := c.Load(e)
	if err != nil {
		return err
	}
	if c.Avro || c.Protobuf {
		text := record.AvroSchema
		if c.Protobuf {
			text = record.ProtobufSchema
		}
		return e.Print(false, strings.TrimSuffix(text, "\n"), nil)
	}
	m, in, err := c.read(ctx, e, options)
	if err != nil {
		return err
	}
	out := m.prediction()
	switch {
	case c.Input && in == nil:
		return exit.Refuse(fmt.Errorf("records of the format %s have no JSON Schema: theirs is input.schema, or in the registry", options.Input.Format))
	case c.Input:
		out = in
	case c.AsyncAPI:
		out = asyncAPI(options, m, in)
	}
	text, err := out.text(c.AsyncAPI && !c.JSON)
	if err != nil {
		return err
	}
	return e.Print(false, text, nil)
}

// read returns what is known of the model, and the schema of its input records. The schema is nil
// if the records are not JSON.
func (c *Command) read(ctx context.Context, e *env.Env, options *config.Config) (*predictions, object, error) {
	d, err := setup.Decode(options)
	if err != nil {
		return nil, nil, err
	}
	m := &predictions{name: options.Model, task: d.Task, targets: d.Targets(), fields: options.Output.Fields, canary: options.Score.Canary}
	if l, err := loss.Parse(options.Learner.Loss); err == nil {
		if q, ok := l.(loss.Quantiles); ok {
			m.taus = q.Taus()
		}
	}
	fields := declared(d)
	if c.Online {
		client, err := env.Connect(options)
		if err != nil {
			return nil, nil, err
		}
		defer client.Close()
		s, err := setup.NewestModel(ctx, e, options, client)
		if err != nil {
			return nil, nil, err
		}
		if m.task, err = learner.ParseTask(s.Schema.Task); err != nil {
			return nil, nil, err
		}
		m.classes, fields = s.Schema.Classes, s.Schema.Fields()
	}
	switch options.Input.Format {
	case "json", "json-schema":
		return m, input(m.name, d, fields, options.Input.Renames.Of(), m.task), nil
	}
	return m, nil, nil
}

// declared returns the columns of a configuration with their types.
func declared(d decode.Config) (all []schema.Field) {
	for _, name := range d.Columns {
		all = append(all, schema.Field{Name: name, Type: d.Types[name], Pair: d.Types[name] == schema.Pair})
	}
	return all
}

// raw returns the text of a schema that is JSON.
func raw(text string) json.RawMessage { return json.RawMessage(text) }
