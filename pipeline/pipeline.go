package pipeline

import (
	"errors"
	"time"

	"github.com/accrete-ml/accrete/pipeline/internal/heartbeat"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// commitInterval is the interval at which positions are committed to Config.Group,
// that of Kafka's own consumers.
const commitInterval = 5 * time.Second

// HeartbeatEvery is the usual interval of heartbeats.
const HeartbeatEvery = heartbeat.Every

var (
	// ErrFenced means that another learner has claimed the same model and is its
	// writer now.
	ErrFenced = journal.ErrFenced

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

	// ErrHung means that the learner has not finished a mini-batch for longer than
	// Config.Watchdog. The process should exit, because the learner still holds
	// memory and a processor. Another process can continue the model.
	ErrHung = errors.New("the learner is hung")

	// ErrUndrained means that Run was cancelled and the broker did not acknowledge
	// everything in time. No data is lost: the next start publishes the rest.
	ErrUndrained = errors.New("stopped before the broker acknowledged everything")
)
