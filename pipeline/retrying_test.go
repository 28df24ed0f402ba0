package pipeline

import (
	"errors"
	"testing"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// What keeps predictions from being published is reported as such, with transactions or without.
func TestPublishersReportWhatTheyWaitFor(t *testing.T) {
	var said []event.Event
	p := newPublisher(model.Config{Client: kafkatest.Client(t), Model: "m", Transactional: true, Report: func(e event.Event) { said = append(said, e) }}, nil, 1, 0)
	cause := errors.New("no such topic")
	p.producer.Retrying(cause)
	p.commit.tx.Retrying(cause)
	for i := range 2 {
		if len(said) != 2 || said[i] != (event.Unpublished{Err: cause}) {
			t.Fatalf("reported %v", said)
		}
	}
}
