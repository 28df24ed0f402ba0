package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
)

// Marker is the value of the record that identifies what a transaction publishes.
type Marker struct {
	Seq   int64         `json:"seq"`
	Chain snapshot.Hash `json:"chain"` // chain of that BATCH, which distinguishes it from a BATCH of another history
}

// NewestMarker returns the last marker that was committed; zero if there is none.
func (j *Journal) NewestMarker(ctx context.Context) (m Marker, err error) {
	topic := model.ReleasedTopic(j.model)
	for back := int64(4); ; back *= 8 { // a control record of Kafka follows every marker, committed or aborted
		first, end, err := input.Offsets(ctx, j.client, topic, j.report)
		if err != nil {
			return m, err
		}
		from := max(first[0], end[0]-back)
		r := input.NewCursor(j.client.Fetcher(topic, 0))
		records, err := r.Take(ctx, from, end[0], j.report)
		var gap *ingest.GapError
		if errors.As(err, &gap) { // the owner of the model has deleted old markers in the meantime
			continue
		}
		if err != nil {
			return m, err
		}
		if n := len(records); n > 0 {
			if err := json.Unmarshal(records[n-1].Value, &m); err != nil {
				return m, fmt.Errorf("%w: record %d of %q is not a marker: %v", input.ErrHistory, records[n-1].Offset, topic, err)
			}
			return m, nil
		}
		if from == first[0] {
			return m, nil
		}
	}
}
