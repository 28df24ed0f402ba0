// Package config is the configuration of Accrete: one strict YAML file,
// overridden by environment variables, which are overridden by flags.
//
// Config is the only place where an option is defined. Its keys, environment
// variables, defaults, bounds and the reference (accrete lint --reference and
// docs/configuration.md) are all derived from the fields and comments below:
//
//	key      the option's name in the file, within its section
//	default  the value if none is given
//	example  the value that the reference shows if there is no default
//	required the program needs it
//	oneof    the values that this build accepts, or a key of registries
//	min, max inclusive bounds
//	name     the value is a Kafka topic name, or a part of one
package config

import (
	"errors"
	"fmt"
)

//go:generate go run ./gen

// Config is the effective configuration. Load fills in and validates it.
type Config struct {
	// Name of the model. Its topics are <model>.log, <model>.predictions and
	// <model>.quarantine.
	Model string `key:"model" required:"true" example:"fraud" name:"topic"`

	// Connection to Kafka, with the property names of Kafka's own clients.
	Kafka Kafka `key:"kafka"`

	// Topics to learn from, and how to read their records.
	Input Input `key:"input"`

	// The learner. Every option has a default. Options that influence the
	// arithmetic are fixed when the model is created.
	Learner Learner `key:"learner"`

	// When to write snapshots to the model log, and how much of the log to keep.
	Snapshot Snapshot `key:"snapshot"`

	// Refits in the background: solve for the coefficients on the most recent
	// records, certify how far the live model is from the optimum, and write the
	// solution to the model log as a challenger.
	Refit Refit `key:"refit"`

	// What a new snapshot has to pass before scorers serve it: its progressive predictions
	// are compared with those of the snapshot that is served, on the same records.
	Gate Gate `key:"gate"`

	// How predictions are delivered.
	Output Output `key:"output"`

	// What becomes of invalid records.
	Quarantine Quarantine `key:"quarantine"`

	// The scorer (accrete score), which predicts topics with the newest snapshot.
	Score Score `key:"score"`

	// Where requests for predictions over HTTP are written, with an id that callers get
	// back, so that labels that come later can be joined to them.
	Requests Requests `key:"requests"`

	// The learner's HTTP server: /metrics, /livez and /readyz. The options of TLS and
	// of the token are those of the scorer's HTTP server, too.
	HTTP HTTP `key:"http"`

	// Metrics and traces for an OpenTelemetry collector.
	Telemetry Telemetry `key:"telemetry"`

	sources map[string]Source
	unknown []string  // environment variables with our prefix that name no option
	unused  *Problem  // properties of Kafka's clients with no use here
	loose   []Problem // secrets in files that others may read
}

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
