package pipeline

import (
	"context"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
)

// What is in quarantine does not show that the log has lost its BATCH; predictions do.
func TestPredictionsArePublishedBeforeTheQuarantine(t *testing.T) {
	p := &publisher{predictions: "predictions", partitions: 2, quarantine: "quarantine"}
	out := &history.Publication{Predictions: []history.Outgoing{{Partition: 0}, {Partition: 1}}, Quarantined: []history.Outgoing{{Partition: 1}}}
	var topics []string
	err := p.writeAll(t.Context(), out, func(_ context.Context, topic string, _ int, _ []ingest.Record) error {
		topics = append(topics, topic)
		return nil
	})
	if want := []string{"predictions", "predictions", "quarantine"}; err != nil || !slices.Equal(topics, want) {
		t.Errorf("%v, %v; want %v", topics, err, want)
	}
}
