package pipeline

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/challenger"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/snapshot"
)

// LastLearned returns the last n labelled records, or fewer if there are not as many, that a model
// has learned up to its newest snapshot. They are in the order of the model log and have their
// keys. It also returns the schema of that snapshot. It reads the records again from the input
// topics.
func LastLearned(ctx context.Context, c model.Config, n int) (*learner.Batch, *decode.Schema, error) {
	j, err := journal.Open(ctx, c, 1)
	if err != nil {
		return nil, nil, err
	}
	newest := j.Log.Fold.Snapshots()
	if len(newest) == 0 {
		return nil, nil, fmt.Errorf("%w: the model log %q has no complete snapshot yet", refit.ErrUnfit, j.Topic)
	}
	s, err := j.Load(ctx, newest[0])
	if err != nil {
		return nil, nil, err
	}
	ins, err := input.Open(ctx, c.Client, c.Topics)
	if err != nil {
		return nil, nil, err
	}
	var schema decode.Schema
	if err := json.Unmarshal(s.Schema, &schema); err != nil {
		return nil, nil, fmt.Errorf("%w: schema: %w", snapshot.ErrCorrupt, err)
	}
	rows, _, err := challenger.Rows(ctx, c, ins, s, n, true)
	return rows, &schema, err
}
