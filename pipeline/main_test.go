package pipeline

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/accrete-ml/accrete/test/kafkatest"
)

func TestMain(m *testing.M) {
	kafkatest.Prepare(6)
	goleak.VerifyTestMain(m)
}
