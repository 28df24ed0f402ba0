package main

import (
	"context"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/reference"
	"github.com/accrete-ml/accrete/internal/config"
)

// completionCommand prints the completion script of a shell.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return `Prints a script that completes commands, flags, values and the keys of --set. Load it in the current shell as the examples show, or save it where the shell finds completions: /etc/bash_completion.d/accrete, a file _accrete in a folder of zsh's $fpath, or ~/.config/fish/completions/accrete.fish.`
}

func (completionCommand) Examples() string {
	return `
source <(accrete completion bash)
accrete completion zsh > ~/.zfunc/_accrete
accrete completion fish | source`
}

func (c *completionCommand) Run(_ context.Context, e *env.Env) error {
	return reference.WriteCompletion(e.Stdout, c.Shell)
}

// completeCommand prints completion candidates for the scripts of completionCommand, one per line:
// a word, a tab and its help.
type completeCommand struct {
	Words []string `arg:"" optional:"" help:"Words after the name of the program, up to the one to complete."`
}

func (completeCommand) Examples() string { return `accrete complete -- fit --algorithm new` }

func (c *completeCommand) Run(_ context.Context, e *env.Env) error {
	app, err := commandModel()
	if err != nil {
		return err
	}
	keys := []reference.Candidate{}
	for _, key := range config.Keys() {
		keys = append(keys, reference.Candidate{Word: key + "="})
	}
	for _, candidate := range reference.Complete(app, c.Words, map[string][]reference.Candidate{"set": keys}) {
		fmt.Fprintf(e.Stdout, "%s\t%s\n", candidate.Word, candidate.Help)
	}
	return nil
}

// commandModel returns the commands and their flags.
func commandModel() (*kong.Application, error) {
	parser, _, err := newParser(&commands{}, env.New(nil, nil, io.Discard, io.Discard))
	if err != nil {
		return nil, err
	}
	return parser.Model, nil
}
