package pipeline

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/heartbeat"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// Config configures a pipeline.
type Config struct {
	Model   string // name, from which the names of its topics are derived
	Client  *ingest.Client
	Topics  []string // input topics, with labelled examples
	Decode  decode.Config
	Learner learner.Config
	Schemas record.Schemas // of Decode, if records name them; nil: none

	// AutoMixture says that Learner.Mixture is the choice for a new model: an existing one
	// keeps what it has.
	AutoMixture bool

	BatchSize int           // maximum number of records in a BATCH
	Linger    time.Duration // longest wait for more records after the first

	SnapshotEvery time.Duration // longest time between two snapshots while BATCHes are learned
	ReplayLimit   time.Duration // learning time after which a snapshot is due earlier; bounds the replay
	Keep          int           // number of snapshots that are never deleted
	History       int64         // bytes of model log beyond which old history is deleted
	ChunkBytes    int           // of snapshot in one record of the model log

	SignKey   ed25519.PrivateKey // signs what is written to the model log; nil: unsigned
	VerifyKey ed25519.PublicKey  // verifies what is read from the model log; nil: unverified

	Group string // consumer group to which positions are committed, for lag tools; empty: none

	Watchdog time.Duration // longest time for one mini-batch; 0: no limit
	Drain    time.Duration // longest wait for the broker after Run is cancelled; 0: 20 s

	Start *Start // how a new model begins; nil: with the empty state at the first records of its inputs. Verify learns its file again

	Writer   string // version of the program, for information
	NewModel bool   // begin a model in an empty model log even if there are predictions
	Upgrade  bool   // continue a model of other arithmetic or decoder versions with those of this program
	tolerant bool   // continue reading a broken log

	OnGap string // "record": write a GAP to the model log for lost input and continue; otherwise stop with an error

	Transactional bool // publish each BATCH in a transaction, so that a read-committed reader sees each prediction once

	Refit RefitConfig
	Gate  GateConfig

	Heartbeat time.Duration // interval of heartbeats, usually HeartbeatEvery; 0: none, and standbys do not see this learner
	Standby   bool          // claim the model only after its owner has left or its heartbeats have stopped

	ToEnd  bool // stop at the end offsets read at the start
	Report func(event.Event)
}

// The names of the topics of a model.
func LogTopic(model string) string         { return model + ".log" }
func PredictionsTopic(model string) string { return model + ".predictions" }
func QuarantineTopic(model string) string  { return model + ".quarantine" }
func ReleasedTopic(model string) string    { return model + ".released" } // with transactional delivery only
func ScoresTopic(model string) string      { return model + ".scores" }

// commitInterval is the interval at which positions are committed to Config.Group,
// that of Kafka's own consumers.
const commitInterval = 5 * time.Second

// HeartbeatEvery is the usual interval of heartbeats.
const HeartbeatEvery = heartbeat.Every

var (
	// ErrFenced means that another learner has claimed the same model and is its
	// writer now.
	ErrFenced = errors.New("fenced")

	// ErrHistory means that the records in the topics are not those that the model
	// log says were learned.
	ErrHistory = input.ErrHistory

	// ErrGap means that records were lost before they were learned.
	ErrGap = input.ErrGap

	// ErrTopic means that a topic does not exist or its configuration is unsuitable.
	ErrTopic = input.ErrTopic

	// ErrLog means that the model log has lost records, or is configured to delete
	// them.
	ErrLog = kafkalog.ErrLog

	// ErrOptions means that the configuration describes another model than the one
	// in the log.
	ErrOptions = errors.New("options differ from the model's")

	// ErrHung means that the learner has not finished a mini-batch for longer than
	// Config.Watchdog. The process should exit, because the learner still holds
	// memory and a processor. Another process can continue the model.
	ErrHung = errors.New("the learner is hung")

	// ErrUndrained means that Run was cancelled and the broker did not acknowledge
	// everything in time. No data is lost: the next start publishes the rest.
	ErrUndrained = errors.New("stopped before the broker acknowledged everything")
)

// logConfig is the configuration that the model log is created with. The log is
// not compacted: compaction would keep a half-written snapshot and delete the
// complete one before it.
var logConfig = map[string]string{
	"cleanup.policy":  "delete",
	"retention.ms":    "-1",
	"retention.bytes": "-1",
	"segment.bytes":   "67108864",
	ingest.AfterMax:   "9223372036854775807", // so that a broker with a slow clock accepts appends
}

// create creates the topics that a learner writes to, unless they exist.
func create(ctx context.Context, c Config, partitions int) error {
	if err := c.Client.CreateDurable(ctx, LogTopic(c.Model), 1, logConfig); err != nil {
		return fmt.Errorf("create topic %q: %w", LogTopic(c.Model), err)
	}
	if c.Transactional {
		if err := c.Client.CreateDurable(ctx, ReleasedTopic(c.Model), 1, logConfig); err != nil {
			return fmt.Errorf("create topic %q: %w", ReleasedTopic(c.Model), err)
		}
	}
	if err := record.CreateOutputTopic(ctx, c.Client, PredictionsTopic(c.Model), partitions, c.Topics); err != nil {
		return err
	}
	return record.CreateOutputTopic(ctx, c.Client, QuarantineTopic(c.Model), 1, c.Topics)
}

// host returns host name and process id, which identify this process in a CLAIM for
// information.
func host() string {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return fmt.Sprintf("%s:%d", name, os.Getpid())
}
