package watch

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// A learner that rolls itself back, because the input of a BATCH is lost, names what it abandons.
func TestARollbackOfTheLearnerIsLogged(t *testing.T) {
	var b bytes.Buffer
	w := New("m", zerolog.New(&b), prometheus.NewRegistry(), metrics.NewHealth(time.Now))
	w.Event(event.RolledBack{Record: &modellog.Rollback{Seq: 81, ToSeq: 60, Reason: "BATCH 61 cannot be replayed"}})
	for _, want := range []string{`"level":"error"`, `"to_seq":60,"abandoned_from":61,"abandoned_to":80`, "BATCH 61 cannot be replayed"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q does not have %s", b.String(), want)
		}
	}
}
