package pipeline

import (
	"testing"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// Old markers are deleted now and then, so that their topic, which keeps all records, does not grow for ever.
func TestOldMarkersAreDeleted(t *testing.T) {
	client, topic := kafkatest.Client(t), kafkatest.Name("markers")
	kafkatest.Fill(t, client, topic, 1, learntest.Rings(10))
	c := &committer{client: client, topic: topic, report: func(ev event.Event) { t.Errorf("%+v", ev) }}
	for i := range 1000 {
		c.trim(t.Context(), 7)
		first, _, err := client.Offsets(t.Context(), topic)
		if want := int64(i/999) * 7; err != nil || first[0] != want {
			t.Fatalf("after %d markers the topic begins at %d, %v; want %d", i+1, first[0], err, want)
		}
	}
}
