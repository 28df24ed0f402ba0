package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Validate refuses what the learner would take for "the default", and what would
// fail only after the whole file was learned. Kong calls it.
func (f *fitCommand) Validate() error {
	switch {
	case f.Minibatch < 1:
		return fmt.Errorf("--minibatch %d: want at least 1", f.Minibatch)
	case f.MaxFeatures < 1:
		return fmt.Errorf("--max-features %d: want at least 1", f.MaxFeatures)
	case !(f.Lambda > 0):
		return fmt.Errorf("--lambda %v: want more than 0", f.Lambda)
	case f.Seed == 0:
		return fmt.Errorf("--seed 0: want at least 1")
	}
	if f.Test != "" {
		if _, err := os.Stat(f.Test); errors.Is(err, fs.ErrNotExist) {
			return noFile(f.Test)
		}
	}
	if f.Save != "" {
		if _, err := os.Stat(filepath.Dir(f.Save)); err != nil {
			return fmt.Errorf("--save: %w", err)
		}
	}
	return nil
}
