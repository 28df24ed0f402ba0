package pipeline

import (
	"context"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/challenger"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// LastLearned returns the last n labelled records, or fewer if there are not as many, that a model
// has learned up to its newest snapshot. They are in the order of the model log and have their
// keys. It also returns the schema of that snapshot. It reads the records again from the input
// topics.
func LastLearned(ctx context.Context, c model.Config, n int) (*learner.Batch, *decode.Schema, error) {
	c = c.Quiet()
	_, s, ins, err := newest(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	schema, err := record.ReadSchema(s.Schema)
	if err != nil {
		return nil, nil, err
	}
	rows, _, err := challenger.Rows(ctx, c, ins, s, n, true)
	return rows, &schema, err
}
