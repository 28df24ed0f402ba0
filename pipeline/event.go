package pipeline

import (
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Event is something that a pipeline did, for logs, metrics and progress lines:
// one of the types below. Whoever listens must return soon; events come from
// several goroutines.
type Event any

type (
	// Retrying is a fault that is expected to pass.
	Retrying struct{ Err error }

	// StandingBy: this process waits for the owner of the model to end, and has read
	// the model log up to Seq. It is reported every Config.Heartbeat.
	StandingBy struct {
		Owner string // host and process; empty if none was heard
		Seq   int64
	}

	// Dueling: this process waits as a standby although nobody told it to, because
	// so many learners of the model were fenced in the last minute.
	Dueling struct{ Fencings int }

	// Cold: a standby cannot learn along, and will have to restore a snapshot when
	// it takes over.
	Cold struct{ Err error }

	// TakingOver: the owner of the claim of this epoch has left or is silent, and
	// this standby is about to claim the model; 0 if there was no claim.
	TakingOver struct {
		Epoch int64
		Left  bool // else silent
	}

	// Claimed: this process is the writer of the model log from now on.
	Claimed struct{ Epoch int64 }

	// Restored: a snapshot was loaded; the BATCHes after Seq come next.
	Restored struct {
		Seq, Step int64
		Bytes     int
		Took      time.Duration
	}

	// Damaged: a snapshot could not be used, and an older one will be tried.
	Damaged struct {
		ID  string
		Err error
	}

	// Unreadable: a record of the model log is damaged, and so does not count.
	Unreadable struct {
		Offset int64
		Why    string
	}

	// Replayed: the history in the model log was learned again.
	Replayed struct {
		Batches, Records int
		Released         int // BATCHes whose predictions were written again
		Took             time.Duration
		Progress         learner.Progress // where learning goes on
	}

	// Learned: one BATCH is learned.
	Learned struct {
		Seq           int64
		Counts        modellog.Counts
		Append, Learn time.Duration
		Progress      learner.Progress
	}

	// Quarantining: records of a BATCH could not be decoded, by partition.
	Quarantining struct{ Bad []Bad }

	// Bad is what could not be decoded of a partition.
	Bad struct {
		Topic       string
		Partition   int32
		First, Last int64 // offsets
		Records     int
		Err         error // of the first
	}

	// Released: the predictions of Seq and everything before it are written.
	Released struct {
		Seq     int64
		Records int
	}

	// Lag: how far a partition is decided, how far it reaches, and what it still
	// has.
	Lag struct {
		Topic     string
		Partition int32
		Next, End int64 // End is the high watermark
		Stable    int64 // before End while a transaction is open: nobody can read further
		First     int64
	}

	// Grown: partitions were added to an input, and are learned from.
	Grown struct {
		Topic      string
		Partitions int // from now on
	}

	// Lost: the model log says now that these records were lost.
	Lost struct {
		Topic     string
		Partition int32
		From, To  int64
	}

	// RolledBack: the model log says now that the history goes on from an earlier
	// place.
	RolledBack struct{ Record *modellog.Rollback }

	// Memory: how many bytes the process takes at most from now on, by the formula
	// of this package.
	Memory struct{ Limit int64 }

	// Paused: too much of the input was bad, and nothing more of it is decided
	// until somebody says so.
	Paused struct{ Why *modellog.Pause }

	// Resumed: somebody has.
	Resumed struct{}

	// Refitted: a challenger is complete in the model log.
	Refitted struct {
		ID         string
		Seq, Step  int64 // of the model that was refitted
		Bytes      int
		StateHash  snapshot.Hash
		Refit      modellog.Refit
		Read, Took time.Duration // to read the records again; all of it
	}

	// Unfit: a refit of the model as of Seq has failed, which is no harm.
	Unfit struct {
		Seq int64
		Err error
	}

	// Saved: a snapshot is complete in the model log.
	Saved struct {
		ID        string
		Seq, Step int64
		Bytes     int
		StateHash snapshot.Hash
		Froze     time.Duration // the pause that it meant for learning
		Took      time.Duration
	}
)
