// Package event defines what a learner reports while it works.
package event

import (
	"time"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/internal/deviation"
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Precision is the precision at which Learned.Figures has the recall.
const Precision = 0.9

// MaxShares bounds Learned.Missing.
const MaxShares = 20

// Event is one of the types below. Events are for logs, metrics and progress lines.
// Config.Report is called from several goroutines and must return quickly.
type Event any

type (
	// Retrying reports a temporary error, after which the operation is retried.
	Retrying struct {
		Err error

		Topic     string // of the input partition that cannot be read; empty: of another operation
		Partition int32
	}

	// Unpublished reports that an output topic does not accept records at the moment.
	// Writing them is retried.
	Unpublished struct{ Err error }

	// Uncommitted reports that positions could not be committed to the consumer group, where only
	// lag tools read them. Of consecutive failures, only the first is reported.
	Uncommitted struct{ Err error }

	// StandingBy reports that this process waits for the owner of the model to end and
	// has read the model log up to Seq. It is reported every Config.Heartbeat.
	StandingBy struct {
		Owner string // host and process; empty if none was heard
		Seq   int64
		Step  int64 // of its model or, while it has none, of the newest snapshot; 0 without any
		Mute  error // of its last heartbeat, without which it cannot take over; nil: it was written
	}

	// FencingLoop reports that this process waits as a standby without Config.Standby,
	// because of the number of fencings in the last minute.
	FencingLoop struct{ Fencings int }

	// StandbyFailed reports that a standby cannot follow the model log and will have to restore a
	// snapshot when it takes over.
	StandbyFailed struct{ Err error }

	// Searching reports how many offsets of a new partition were searched for the record
	// that was decided last in the old one.
	Searching struct {
		Topic     string
		Partition int32
		Done, Of  int64
	}

	// Copying reports the number of records that an import has read.
	Copying struct{ Records int64 }

	// TakingOver reports that the owner of the claim of this epoch has left or is silent
	// and that this standby is about to claim the model. Epoch is 0 if there was no
	// claim.
	TakingOver struct {
		Epoch int64
		Left  bool // otherwise silent
	}

	// Claimed reports that this process is now the writer of the model log.
	Claimed struct{ Epoch int64 }

	// Preparing reports how many rows of a file were learned for the start of a model.
	Preparing struct{ Rows int64 }

	// Began reports that the model log has the complete beginning of a model, which has learned that
	// many examples.
	Began struct {
		Start    *modellog.Start
		Examples int64
	}

	// Restored reports that a snapshot was loaded. The BATCHes after Seq come next.
	Restored struct {
		Seq, Step int64
		Bytes     int
		Took      time.Duration
	}

	// Damaged reports that a snapshot is unusable. An older one is tried next.
	Damaged struct {
		ID  string
		Err error
	}

	// Unreadable reports that a record of the model log is damaged and therefore void.
	Unreadable struct {
		Offset int64
		Why    string
	}

	// Void reports that a record of the model log does not count: it was written by a learner
	// that was fenced, is a copy, or cannot be read.
	Void struct {
		Offset int64
		Type   string // of the record; "?" if it cannot be read
		Why    string
	}

	// Replayed reports that the history in the model log was replayed.
	Replayed struct {
		Batches, Records int
		Released         int // BATCHes whose predictions were published again
		Took             time.Duration
		Progress         learner.Progress // after the replay

		Timeline  *timeline.Timeline   // after the replay
		Snapshots []*modellog.Manifest // complete in the model log, oldest first

		Kept
	}

	// Verifying reports which decisions are about to be replayed for a verification, each
	// followed by a Learned.
	Verifying struct{ FromSeq, ToSeq int64 }

	// Learned reports that a BATCH was learned.
	Learned struct {
		Seq           int64
		Counts        modellog.Counts
		Append, Learn time.Duration
		Progress      learner.Progress
		Figures       *ranking.Figures // recent predictions of classes, with the recall at Precision; nil if there is nothing new

		Classes []string // names of the classes of Figures.Each

		Deviation *deviation.Figures // recent predictions of numbers; nil if the loss has no figures

		Kept

		Missing   []MissingShare // shares over the last 1,000 records, the largest first; nil if there is nothing new
		Estimated *float64       // estimated error of the recent predictions, including those without a label yet; nil if unknown

		Traces []record.Trace // traces of the first records that have one; nil without Config.Traced
	}

	// Kept is what a model keeps of earlier records beside what it has learned from them.
	Kept struct {
		Late    *join.Status          // rows and labels that wait for each other; nil if labels come with their rows
		Windows *learner.WindowStatus // nil without windows
		Tables  []Table               // nil without tables
	}

	// Table is the status of a table after a BATCH.
	Table struct {
		table.Status
		Lag        int64 // offsets of its topic that have not arrived or are not applied
		WithoutRow int64 // records of the BATCH that had no row in it
	}

	// TableRejected reports records of the topic of a table that are not rows. They are skipped.
	TableRejected struct{ enrich.Rejected }

	// TableMissing reports that the topic of a table is missing, or is back.
	TableMissing struct{ enrich.Missing }

	// MissingShare is the share of records without a value of a column.
	MissingShare struct {
		Column string
		Share  float64
	}

	// Quarantining reports, by partition, the records of a BATCH that could not be
	// decoded.
	Quarantining struct{ Bad []Bad }

	// Bad describes the records of a partition that could not be decoded.
	Bad struct {
		Topic       string
		Partition   int32
		First, Last int64 // offsets
		Records     int
		Err         error  // of the first
		Sample      []byte // the beginning of its value
	}

	// Columns reports that columns have vanished from the records, that they are back, or that
	// records had fields that are not columns.
	Columns struct {
		Gone, Back []string // columns without a value in the last 1,000 records; columns that have values again
		Missing    int      // columns that are gone now
		Dropped    int64    // fields of this BATCH that were ignored because they are not columns
		Field      string   // one of the dropped fields
		New        []string // ignored fields that appear for the first time
		Adopted    []string // fields that became columns
	}

	// Misread reports what the first 1,000 records of a new model look like, but are not read as.
	Misread struct {
		Texts    []string // categories that are probably sentences or descriptions
		Classes  int      // number of different labels that are read as values and are probably classes; 0: none
		LongTail int      // percentage of the variance that the largest labels have, if they decide the square loss; 0: they do not
	}

	// NewClasses reports labels of classes that no record had before, after the first 1,000 records. Each
	// is a class of the model for good.
	NewClasses struct {
		Number int      // of new classes
		Names  []string // theirs; nil if values are not to be shown
		Known  int      // classes of the model now
	}

	// Succeeded reports that the model that has learned adopted columns predicts from now on,
	// because its loss was less than that of the model without them.
	Succeeded struct {
		Seq         int64
		Columns     []string
		Rows        int64   // labelled rows that the new model has learned
		Loss, Other float64 // mean losses of the new model and of the one before, on the last half of these rows
	}

	// Renamed reports that the model reads columns by other names from now on, because the renames
	// are declared or because the loss is less with them.
	Renamed struct {
		Seq     int64
		Aliases []schema.Alias
	}

	// Shifted reports that the monitor of the inputs has raised an alarm in a BATCH.
	Shifted struct {
		Inputs  learner.Inputs
		Columns []string // names of Inputs.Moved
	}

	// Published reports that the predictions up to and including Seq are published.
	Published struct {
		Seq     int64
		Records int
	}

	// Lag reports the position in a partition, its end and its first offset.
	Lag struct {
		Topic     string
		Partition int32
		Next, End int64 // End is the high watermark
		Stable    int64 // last stable offset: before End while a transaction is open
		First     int64 // log start offset
		Waiting   bool  // nothing was fetched, so that the event does not show that the partition can be read
	}

	// PartitionsAdded reports that partitions were added to an input topic and are read now.
	PartitionsAdded struct {
		Topic      string
		Partitions int // total number, including the added ones
	}

	// Gap reports that a GAP for these offsets was written to the model log.
	Gap struct {
		Topic     string
		Partition int32
		From, To  int64
	}

	// RolledBack reports that a ROLLBACK was written to the model log: the history
	// continues from an earlier seq.
	RolledBack struct{ Record *modellog.Rollback }

	// Memory reports a new memory limit of the process, in bytes, by the formula at
	// memory.Estimate.
	Memory struct{ Limit int64 }

	// Paused reports that too much of the input was bad, or that its columns have changed. No
	// further input is decided until the model log has a RESUME.
	Paused struct{ Why *modellog.Pause }

	// Resumed reports that the model log has a RESUME for the pause.
	Resumed struct{}

	// Solving reports the progress of a refit.
	Solving struct {
		Score int // the score that is being solved for
		At    optim.Point
	}

	// Refitted reports that a challenger is complete in the model log.
	Refitted struct {
		ID         string
		Seq, Step  int64 // of the model that was refitted
		Bytes      int
		StateHash  snapshot.Hash
		Refit      modellog.Refit
		Read, Took time.Duration // time to read the records again; total time
	}

	// Unfit reports that a refit of the model as of Seq has failed. Learning continues
	// unaffected.
	Unfit struct {
		Seq int64
		Err error
	}

	// Serving reports which snapshot scorers serve according to the model log, and how it was
	// chosen.
	Serving struct{ Choice modellog.Choice }

	// Saved reports that a snapshot is complete in the model log.
	Saved struct {
		ID        string
		Seq, Step int64
		Bytes     int
		StateHash snapshot.Hash
		Gate      *modellog.Gate // nil: it was not compared with another
		Froze     time.Duration  // time that learning was paused
		Took      time.Duration
	}
)
