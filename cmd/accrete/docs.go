package main

import (
	"context"
	"io"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/reference"
	"github.com/accrete-ml/accrete/internal/config"
)

// docsCommand writes the reference pages in docs/. They are generated so that
// they always agree with the program.
type docsCommand struct {
	Page string `arg:"" enum:"configuration,cli" help:"Page to write: configuration or cli."`
}

func (docsCommand) Help() string {
	return `Writes docs/configuration.md or docs/cli.md to standard output. The pages are committed, and a test holds them against this output.`
}

func (docsCommand) Examples() string {
	return `
accrete docs configuration > docs/configuration.md
accrete docs cli > docs/cli.md`
}

func (d *docsCommand) Run(_ context.Context, e *env.Env) error {
	if d.Page == "configuration" {
		return config.WriteMarkdown(e.Stdout)
	}
	parser, _, err := newParser(&commands{}, env.New(nil, nil, io.Discard, io.Discard))
	if err != nil {
		return err
	}
	return reference.WriteCommands(e.Stdout, parser.Model)
}
