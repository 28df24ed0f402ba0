package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
)

// An empty learner.Config and a configuration file that sets no learner option
// give the same learner.
func TestTheLearnersDefaultsAreTheConfigurations(t *testing.T) {
	inDir(t, least)
	c, err := config.Load(config.Sources{File: "config.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := learner.Config{}.Effective()
	if err != nil {
		t.Fatal(err)
	}
	got := want
	got.Direction, got.Loss = c.Learner.Direction, c.Learner.Loss
	got.Sampling = c.Learner.Sampling
	got.OnDrift, got.Lags = c.Learner.OnDrift, c.Input.Lags
	got.Algorithm, got.Kernel, got.MaxFeatures = c.Learner.Algorithm, c.Learner.Kernel, c.Learner.MaxFeatures
	got.Minibatch, got.Lambda, got.Seed, got.MaxClasses = c.Learner.Minibatch, c.Learner.Lambda, c.Learner.Seed, c.Input.MaxClasses
	if got.Task, err = learner.ParseTask(c.Learner.Task); err != nil {
		t.Fatal(err)
	}
	if got, err = got.Effective(); err != nil || got != want {
		t.Errorf("the configuration has %+v, the learner %+v, %v", got, want, err)
	}
}

func TestTheDeployedConfigurationsAreValid(t *testing.T) {
	files, err := filepath.Glob("../../deploy/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if code, stdout, _ := call(t, os.Environ(), "lint", "-c", file); code != exit.Done {
			t.Errorf("%s:\n%s", file, stdout)
		}
	}
}
