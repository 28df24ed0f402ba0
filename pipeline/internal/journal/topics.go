package journal

import (
	"context"
	"fmt"
	"os"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// topicConfig is the configuration that the model log is created with. The log is
// not compacted: compaction would keep a half-written snapshot and delete the
// complete one before it.
var topicConfig = map[string]string{
	"cleanup.policy":  "delete",
	"retention.ms":    "-1",
	"retention.bytes": "-1",
	"segment.bytes":   "67108864",
	ingest.BeforeMax:  ingest.AnyTime, // so that the records of an imported history keep their times
	ingest.AfterMax:   ingest.AnyTime, // so that a broker with a slow clock accepts appends
}

// CreateLog creates the model log, unless it exists.
func CreateLog(ctx context.Context, c model.Config) error {
	if err := c.Client.CreateDurable(ctx, model.LogTopic(c.Model), 1, topicConfig); err != nil {
		return fmt.Errorf("create topic %q: %w", model.LogTopic(c.Model), err)
	}
	return nil
}

// Create creates the topics that a learner writes to, unless they exist.
func Create(ctx context.Context, c model.Config, partitions int) error {
	if err := CreateLog(ctx, c); err != nil {
		return err
	}
	if c.Transactional {
		if err := c.Client.CreateDurable(ctx, model.ReleasedTopic(c.Model), 1, topicConfig); err != nil {
			return fmt.Errorf("create topic %q: %w", model.ReleasedTopic(c.Model), err)
		}
	}
	if err := record.CreateOutputTopic(ctx, c.Client, model.PredictionsTopic(c.Model), partitions, c.Topics); err != nil {
		return err
	}
	return record.CreateOutputTopic(ctx, c.Client, model.QuarantineTopic(c.Model), 1, c.Topics)
}

// Host returns host name and process id, which identify this process in a CLAIM for
// information.
func Host() string {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return fmt.Sprintf("%s:%d", name, os.Getpid())
}
