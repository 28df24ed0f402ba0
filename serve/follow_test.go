package serve_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// Before the first learner there is no model log, which nobody else is to create.
func TestWithoutALogTheErrorNamesTheLearner(t *testing.T) {
	log := model.LogTopic(kafkatest.Name("fraud"))
	f := serve.NewFollower(kafkatest.Client(t), log, nil, func(string, error) {})
	_, err := f.Next(t.Context())
	if !errors.Is(err, ingest.ErrUnknownTopic) || !ingest.Temporary(err) || !strings.Contains(err.Error(), "no learner of this model has run yet") || !strings.Contains(err.Error(), log) || strings.Contains(err.Error(), "create it") {
		t.Errorf("%v, want that there is no learner, and not that the topic is to be created", err)
	}
}
