package config

import (
	"errors"
	"fmt"
)

// ErrInvalid matches every error about a configuration.
var ErrInvalid = errors.New("invalid configuration")

// Problem is one error in a configuration.
type Problem struct {
	Where string `json:"at,omitempty"` // "config.yaml:7:3", an environment variable, a flag; may be empty
	Text  string `json:"text"`         // one line
}

func (p Problem) Error() string {
	if p.Where == "" {
		return p.Text
	}
	return p.Where + ": " + p.Text
}

// Is makes errors.Is(p, ErrInvalid) true.
func (p Problem) Is(target error) bool { return target == ErrInvalid }

// Problems are all errors in a configuration, in the order of the file, the
// environment and the flags. There is at least one.
type Problems []Problem

func (p Problems) Error() string {
	if len(p) == 1 {
		return p[0].Error()
	}
	return fmt.Sprintf("%v (and %d more: see accrete lint)", p[0], len(p)-1)
}

// Is makes errors.Is(p, ErrInvalid) true.
func (p Problems) Is(target error) bool { return target == ErrInvalid }
