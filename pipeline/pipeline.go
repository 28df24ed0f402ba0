package pipeline

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// Config is what a pipeline is told.
type Config struct {
	Model   string // names the model log, predictions and quarantine topics
	Client  *ingest.Client
	Topics  []string // labelled examples
	Decode  decode.Config
	Learner learner.Config

	BatchSize int           // most records in a BATCH
	Linger    time.Duration // longest wait for more records after the first

	SnapshotEvery time.Duration // at the latest, while there is anything new
	ReplayLimit   time.Duration // or when learning again would take this long
	Keep          int           // snapshots never deleted
	History       int64         // bytes of model log beyond which old history is deleted
	ChunkBytes    int           // of snapshot in one record of the model log

	SignKey   ed25519.PrivateKey // nil, or what snapshots are signed with
	VerifyKey ed25519.PublicKey  // nil, or what snapshots have to be signed with

	Watchdog time.Duration // longest that learning may take for a mini-batch; 0: for ever
	Drain    time.Duration // longest wait for the broker once Run was told to stop; 20 s

	Writer   string // version of the program, for people
	NewModel bool   // an empty model log begins a model although there are predictions
	Upgrade  bool   // a model of other versions of arithmetic or decoder becomes one of this program's
	tolerant bool   // read a broken log on

	OnGap string // "record": go on behind input that is lost, and say so in the model log; else stop

	Transactional bool // release each BATCH in a transaction, so that a read-committed reader sees each prediction once

	Refit RefitConfig

	Heartbeat time.Duration // pause between two heartbeats, usually HeartbeatEvery; 0: none, and no standby sees this learner
	Standby   bool          // claim the model only once its owner has left or its heartbeats have stopped

	ToEnd  bool // stop at the end offsets seen at the start
	Report func(Event)
}

// The topics of a model.
func LogTopic(model string) string         { return model + ".log" }
func PredictionsTopic(model string) string { return model + ".predictions" }
func QuarantineTopic(model string) string  { return model + ".quarantine" }
func ReleasedTopic(model string) string    { return model + ".released" } // with transactional delivery only
func ScoresTopic(model string) string      { return model + ".scores" }

var (
	// ErrFenced: another learner of the same model has started since, and is
	// its writer now.
	ErrFenced = errors.New("fenced")

	// ErrHistory: what the topics hold is not what the model log says was
	// learned from them.
	ErrHistory = errors.New("history does not match")

	// ErrLog: the model log has lost records that it had, or does not keep them.
	ErrLog = kafkalog.ErrLog

	// ErrOptions: the configuration asks for another model than the log has.
	ErrOptions = errors.New("options differ from the model's")

	// ErrHung: the learner has not come to the end of a mini-batch for longer
	// than Config.Watchdog. The process should end, as it still holds memory and
	// a processor; the model is for whoever starts next.
	ErrHung = errors.New("the learner hangs")

	// ErrUndrained: Run was told to stop, and the broker did not take what was
	// decided in time. Nothing is lost: the next start finishes it.
	ErrUndrained = errors.New("stopped before the broker had taken everything")

	// ErrTopic: a topic cannot be used as it is.
	ErrTopic = errors.New("topic cannot be used")
)

// logConfig is how the model log is created. It is not compacted: a cleaner
// would leave a half-written snapshot and delete the whole one before it.
var logConfig = map[string]string{
	"cleanup.policy":  "delete",
	"retention.ms":    "-1",
	"retention.bytes": "-1",
	"segment.bytes":   "67108864",
	ingest.AfterMax:   "9223372036854775807", // a broker whose clock is behind takes appends all the same
}

// openInputs looks up the partitions of the input topics.
func openInputs(ctx context.Context, c *ingest.Client, topics []string) (inputs, error) {
	var ins inputs
	for _, name := range topics {
		t, err := c.Topic(ctx, name)
		if errors.Is(err, ingest.ErrUnknownTopic) {
			return nil, fmt.Errorf("%w: input topic %q does not exist: create it, or correct input.topics", ErrTopic, name)
		}
		if err != nil {
			return nil, err
		}
		if t.Hidden != nil {
			return nil, fmt.Errorf("%w: whether input topic %q is compacted cannot be seen: %w", ErrTopic, name, t.Hidden)
		}
		if strings.Contains(t.CleanupPolicy, "compact") {
			return nil, fmt.Errorf("%w: input topic %q is compacted (cleanup.policy=%s), so the broker deletes what was learned and no replay could be exact: use a topic with cleanup.policy=delete", ErrTopic, name, t.CleanupPolicy)
		}
		for p := range t.Partitions {
			ins = append(ins, &input{topic: name, id: t.ID, partition: int32(p)})
		}
	}
	slices.SortFunc(ins, compareInputs)
	return ins, nil
}

// ends is where each input ends now.
func (ins inputs) ends(ctx context.Context, c *ingest.Client) ([]int64, error) {
	ends := make([]int64, len(ins))
	var end []int64
	for i, in := range ins {
		if i == 0 || in.topic != ins[i-1].topic {
			var err error
			if _, end, err = c.Offsets(ctx, in.topic); err != nil {
				return nil, err
			}
		}
		ends[i] = end[in.partition]
	}
	return ends, nil
}

// create makes the topics that a learner writes to, where they do not exist.
func create(ctx context.Context, c Config, partitions int) error {
	if err := c.Client.CreateDurable(ctx, LogTopic(c.Model), 1, logConfig); err != nil {
		return fmt.Errorf("creating topic %q: %w", LogTopic(c.Model), err)
	}
	if c.Transactional {
		if err := c.Client.CreateDurable(ctx, ReleasedTopic(c.Model), 1, logConfig); err != nil {
			return fmt.Errorf("creating topic %q: %w", ReleasedTopic(c.Model), err)
		}
	}
	if err := serve.CreateOutput(ctx, c.Client, PredictionsTopic(c.Model), partitions, c.Topics); err != nil {
		return err
	}
	return serve.CreateOutput(ctx, c.Client, QuarantineTopic(c.Model), 1, c.Topics)
}

// host names this process in a CLAIM, for people.
func host() string {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return fmt.Sprintf("%s:%d", name, os.Getpid())
}
