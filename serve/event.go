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
// Switched, Damaged, Chosen, Judged, TableRejected, Enriched, WithoutRow, CanarySwitched, CanaryFailed, CanaryScored, Broken,
// Repaired, Gap, Truncated or Scored.
type Event any

type (
	// Retrying reports a temporary error. The operation is tried again.
	Retrying struct{ Err error }

	// Unpublished reports that an output topic does not accept records at the moment.
	// Writing them is retried.
	Unpublished struct{ Err error }

	// Waiting reports that there is no model yet, so that nothing is scored.
	Waiting struct{}

	// Shared reports the assignment of partitions: those in Mine are scored here
	// from now on, and the rest by other scorers of the group. Of is the number of
	// all partitions.
	Shared struct {
		Mine ingest.Share
		Of   int
	}

	// Heartbeat reports a successful heartbeat. It is also sent if the share is empty, and of
	// a scorer without topics each time that it has read the model log.
	Heartbeat struct{}

	// Switched reports that another model scores from now on.
	Switched struct{ To *Served }

	// Damaged reports a snapshot that cannot be used. The previous model stays in
	// use.
	Damaged struct {
		ID  string
		Err error
	}

	// Chosen reports that the model log names another snapshot to serve, or another reason
	// to serve it.
	Chosen struct{ Choice modellog.Choice }

	// Judged reports the verdict of the gate about the newest snapshot, of a step.
	Judged struct {
		Step int64
		Gate modellog.Gate
	}

	// TableRejected reports records of the topic of a table (input.tables) that are no rows.
	TableRejected struct{ enrich.Rejected }

	// Enriched reports how the tables are after changes, with the number of offsets of each
	// that are not applied yet.
	Enriched struct {
		Of     *enrich.Rows // which tells tables of one name apart: those of the model and of a canary
		Tables []table.Status
		Lags   []int64
	}

	// WithoutRow reports records that have no row in each of the tables of Enriched.
	WithoutRow struct {
		Tables  []string
		Records []int64
	}

	// CanarySwitched reports that another snapshot of the canary predicts from now on.
	CanarySwitched struct{ To *Served }

	// CanaryFailed reports that the newest snapshot of the canary cannot be read. The one
	// before stays in use or, if there is none, the model predicts for all keys.
	CanaryFailed struct{ Err error }

	// CanaryScored reports the records of some keys that the canary has predicted, and those
	// that it refused, so that only the model could predict them.
	CanaryScored struct{ Scored, Refused int }

	// Broken reports that the model log is no longer the same, whole and monotone.
	// The current model stays in use until it is.
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

	// Truncated reports that the partition has lost the records from End on, which
	// had been read up to Next. Records written in their place are scored.
	Truncated struct {
		Topic     string
		Partition int
		Next, End int64
	}

	// Scored reports that the scores for some records of a partition are written,
	// or that there were none to score.
	Scored struct {
		Topic               string
		Partition           int
		Scored, Quarantined int
		Next, End           int64 // End is the high watermark
		Stable              int64 // last stable offset: less than End while a transaction is open

		Traces []record.Trace // of the first records that have one; nil without Config.Traced
		Took   time.Duration  // from decoding to the acknowledgement of the scores
	}
)
