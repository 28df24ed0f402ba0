// Package model describes a model that a learner keeps on Kafka: its configuration, the
// names of its topics, how it begins, and which of its options are fixed for its life. The
// learner, and everything that reads or changes the history of a model, take this
// configuration.
package model

import (
	"crypto/ed25519"
	"errors"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Config configures a learner, and says of which model the history is to be read or changed. Where
// no default is mentioned, there is none: package config of the program has those of its options.
type Config struct {
	Model   string         // name, from which the names of its topics are derived
	Client  *ingest.Client // required
	Topics  []string       // input topics, with labelled examples
	Decode  decode.Config
	Learner learner.Config
	Renames []decode.Rename // renamed fields of the records; they may change from one start to the next
	Schemas record.Schemas  // schemas that records refer to; nil: none

	// AutoMixture says that Learner.Mixture was chosen automatically, which applies to new models
	// only. An existing model keeps the one that it has.
	AutoMixture bool

	// AutoScores says the same of Learner.NormalScores.
	AutoScores bool

	// AutoForest says the same of Learner.Forest and Learner.ForestTrial.
	AutoForest bool

	Passed record.Passed // what predictions copy from their inputs
	Form   record.Form   // form of new predictions; those that are published again keep their form
	Values record.Values // how much of invalid records may be shown
	Traced bool          // report the traces that records have in their headers

	BatchSize int           // maximum number of records in a BATCH, at least 1 for a learner
	Linger    time.Duration // longest wait for more records after the first

	SnapshotEvery time.Duration // longest time between two snapshots while BATCHes are learned; 0: one after each, if none is being written
	ReplayLimit   time.Duration // learning time after which a snapshot is due earlier; bounds the replay
	Keep          int           // number of snapshots that are never deleted
	History       int64         // bytes of model log beyond which old history is deleted
	ChunkBytes    int           // of snapshot in one record of the model log

	SignKey   ed25519.PrivateKey // signs what is written to the model log; nil: unsigned
	VerifyKey ed25519.PublicKey  // verifies what is read from the model log; nil: unverified

	Group string // consumer group to which positions are committed, for lag tools; empty: none

	Watchdog time.Duration // longest time for one mini-batch; 0: no limit
	Drain    time.Duration // longest wait for the broker after Run is cancelled; 0: 20 s

	// Start says how a new model begins; nil: with the empty state, at the first records of its
	// inputs. Verify learns its file again.
	Start *Start

	Writer   string // version of the program, for information
	NewModel bool   // begin a model in an empty model log even if the output topics have predictions
	Upgrade  bool   // continue a model of another arithmetic or decoder version with the versions of this program

	OnChange string // "stop": pause when columns vanish or fields appear, until a RESUME; otherwise continue

	OnGap string // "record": write a GAP to the model log for lost input and continue; otherwise stop with an error

	Transactional bool // publish each BATCH in a transaction, so that a read-committed reader sees each prediction once

	Refit RefitConfig
	Gate  GateConfig

	Heartbeat time.Duration // interval of heartbeats, usually HeartbeatEvery; 0: none, and standbys do not see this learner
	Standby   bool          // claim the model only after its owner has left or its heartbeats have stopped

	ToEnd bool // stop at the end offsets read at the start

	Report func(event.Event) // is called with what happens, see event.Event; nil: nothing is reported
}

// Quiet returns c with a Report that ignores all events if c has none.
func (c Config) Quiet() Config {
	if c.Report == nil {
		c.Report = func(event.Event) {}
	}
	return c
}

// LogTopic returns the name of the topic with the model log.
func LogTopic(model string) string { return model + ".log" }

// PredictionsTopic returns the name of the topic with the predictions of a learner.
func PredictionsTopic(model string) string { return model + ".predictions" }

// QuarantineTopic returns the name of the topic with the records that could not be decoded.
func QuarantineTopic(model string) string { return model + ".quarantine" }

// ReleasedTopic returns the name of the topic that says, with transactional delivery, up to which
// decision predictions are published.
func ReleasedTopic(model string) string { return model + ".released" }

// ScoresTopic returns the name of the topic with the predictions of scorers.
func ScoresTopic(model string) string { return model + ".scores" }

// ErrVersion means that the model log was written by a program with another version of
// the arithmetic or the decoder.
var ErrVersion = errors.New("another version of the arithmetic")

// Versions returns the versions of this program's arithmetic and decoder for the
// algorithm of c.
func (c Config) Versions() modellog.Versions {
	v := history.Versions
	v.Arithmetic += c.Learner.Arithmetic() - learner.Arithmetic
	return v
}
