package serve

import (
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Event is one of the events of a Scorer: Retrying, Unpublished, Waiting, Shared, Heartbeat,
// Switched, Damaged, Chosen, Judged, TableRejected, TableMissing, Enriched, WithoutRow, CanarySwitched,
// CanaryFailed, CanaryScored, Broken, Repaired, Gap, Truncated or Scored.
type Event any

type (
	// Retrying reports a temporary error. The operation is tried again.
	Retrying struct {
		Err error

		Topic     string // of the partition that cannot be read; empty: of another operation
		Partition int
	}

	// Unpublished reports that an output topic does not accept records at the moment.
	// Writing them is retried.
	Unpublished struct{ Err error }

	// Waiting reports that there is no model yet, so that nothing is scored.
	Waiting struct{}

	// Shared reports the assignment of partitions. This scorer scores those in Mine
	// from now on, and other scorers of the group score the rest. Of is the number of
	// all partitions.
	Shared struct {
		Mine ingest.Share
		Of   int
	}

	// Heartbeat reports a successful heartbeat, also if this scorer has no partitions. A
	// scorer without topics sends it each time that it has read the model log.
	Heartbeat struct{}

	// Switched reports that another model scores from now on.
	Switched struct{ To *Served }

	// Damaged reports a snapshot that cannot be used. The previous model stays in
	// use.
	Damaged struct {
		ID  string
		Err error
	}

	// Chosen reports that the model log names another snapshot to serve, or the same one for
	// another reason.
	Chosen struct{ Choice modellog.Choice }

	// Judged reports the verdict of the gate on the newest snapshot, which is of Step.
	Judged struct {
		Step int64
		Gate modellog.Gate
	}

	// TableRejected reports records in the topic of a table (input.tables) that are not valid
	// rows.
	TableRejected struct{ enrich.Rejected }

	// TableMissing reports that the topic of a table is missing, or is back.
	TableMissing struct{ enrich.Missing }

	// Enriched reports the state of the tables after changes. Lags has the number of offsets
	// of each table that are not applied yet.
	Enriched struct {
		Of     *enrich.Rows // distinguishes tables of the model from those of a canary with the same name
		Tables []table.Status
		Lags   []int64
	}

	// WithoutRow reports, for each table by name, the number of records that have no row in
	// it.
	WithoutRow struct {
		Tables  []string
		Records []int64
	}

	// CanarySwitched reports that another snapshot of the canary predicts from now on.
	CanarySwitched struct{ To *Served }

	// CanaryFailed reports that the newest snapshot of the canary cannot be used. The previous
	// one stays in use. Without one, the model predicts for all keys.
	CanaryFailed struct{ Err error }

	// CanaryScored reports the number of records that the canary has predicted, and of those
	// among its keys that it could not decode, so that they are left to the model.
	CanaryScored struct{ Scored, Refused int }

	// Broken reports that the model log is damaged, truncated or replaced. The current
	// model stays in use until the log is repaired.
	Broken struct{ Err error }

	// Repaired reports that a broken model log is valid again.
	Repaired struct{}

	// Gap reports that records From to To-1 were deleted before they were scored.
	// Scoring continues at To.
	Gap struct {
		Topic     string
		Partition int
		From, To  int64
	}

	// Truncated reports that the partition has lost records that had been read, from End
	// to Next-1. Records written in their place are scored. If the topic was deleted and
	// created again, End is 0.
	Truncated struct {
		Topic     string
		Partition int
		Next, End int64
		Recreated bool
	}

	// Scored reports that the scores for some records of a partition are written, or
	// that there were no records to score.
	Scored struct {
		Topic               string
		Partition           int
		Scored, Quarantined int
		Next, End           int64 // End is the high watermark
		Stable              int64 // last stable offset: less than End while a transaction is open

		Traces []record.Trace // of the first records that have a trace; nil without Config.Traced
		Took   time.Duration  // from decoding to the acknowledgement of the scores
	}
)
