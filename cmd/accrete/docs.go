package main

import (
	"context"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/reference"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/version"
	"github.com/accrete-ml/accrete/internal/config"
)

// docsCommand writes the reference pages in docs/. They are generated so that
// they always agree with the program.
type docsCommand struct {
	Page string `arg:"" enum:"configuration,cli,man" help:"Page to write: configuration, cli, or man for a manual page."`
}

func (docsCommand) Help() string {
	return `Writes a generated page to standard output: docs/configuration.md and docs/cli.md, which are committed and held against this output by a test, or the manual page accrete(1).`
}

func (docsCommand) Examples() string {
	return `
accrete docs configuration > docs/configuration.md
accrete docs cli > docs/cli.md
accrete docs man > accrete.1`
}

func (d *docsCommand) Run(_ context.Context, e *env.Env) error {
	if d.Page == "configuration" {
		return config.WriteMarkdown(e.Stdout)
	}
	app, err := commandModel()
	if err != nil {
		return err
	}
	if d.Page == "man" {
		return reference.WriteMan(e.Stdout, app, version.String())
	}
	return reference.WriteCommands(e.Stdout, app)
}
