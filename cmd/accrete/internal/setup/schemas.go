package setup

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/ingest/registry"
	"github.com/accrete-ml/accrete/internal/config"
)

// Registry returns a client of the schema registry of the input; nil if there is none.
func Registry(c *config.Config) (*registry.Client, error) {
	of := c.Input.Registry.Of()
	if of.Empty() {
		return nil, nil
	}
	client, err := registry.New(of)
	if err != nil {
		return nil, exit.Refuse(err)
	}
	return client, nil
}

// Schemas returns the source of the schemas that records refer to; nil if there is no registry.
func Schemas(c *config.Config) (record.Schemas, error) {
	client, err := Registry(c)
	if client == nil {
		return nil, err
	}
	return client, nil
}

// CheckRegistry returns an error if the schema registry of the input or that of the output cannot
// be used now.
func CheckRegistry(ctx context.Context, c *config.Config) error {
	for _, of := range []registry.Config{c.Input.Registry.Of(), c.Output.Registry.Of()} {
		if of.Empty() {
			continue
		}
		client, err := registry.New(of)
		if err != nil {
			return exit.Refuse(err)
		}
		if err := client.Check(ctx); err != nil {
			return answered(err)
		}
	}
	return nil
}

// answered returns err with its exit code: a refusal by the registry is permanent, any other error
// temporary.
func answered(err error) error {
	switch {
	case errors.Is(err, registry.ErrRefused):
		return exit.Refuse(err)
	case err != nil:
		return exit.TryAgain(err)
	}
	return nil
}

// Form registers the schema of predictions for a topic, and returns the form in which they
// are written.
func Form(ctx context.Context, c *config.Config, topic string) (record.Form, error) {
	typ, text := record.Schema(c.Output.Format)
	if text == "" {
		return record.Form{}, nil
	}
	client, err := registry.New(c.OutputRegistry())
	if err != nil {
		return record.Form{}, exit.Refuse(err)
	}
	id, err := client.Register(ctx, topic+"-value", typ, text)
	if err != nil {
		return record.Form{}, answered(fmt.Errorf("register the schema of %s: %w", topic, err))
	}
	return record.Form{Format: c.Output.Format, ID: id}, nil
}

// reader returns the schema that input.schema declares; empty if there is none.
func reader(c *config.Config) (string, error) {
	if c.Input.Schema == "" {
		return "", nil
	}
	text, err := os.ReadFile(c.Input.Schema)
	if err != nil {
		return "", exit.Refuse(c.At("input.schema", err))
	}
	if c.Input.Format == "protobuf" {
		set, err := registry.Proto(context.Background(), string(text), nil)
		if err != nil {
			return "", exit.Refuse(c.At("input.schema", err))
		}
		return set, nil
	}
	return string(text), nil
}
