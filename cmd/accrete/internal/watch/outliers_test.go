package watch

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Labels that are not learned are warned of once: those of the first batch of a model too, and
// not those before a restart.
func TestOutliersAreWarnedOf(t *testing.T) {
	with := func(n int64) learner.Progress { return learner.Progress{Mixture: &learner.MixtureScores{Outliers: n}} }
	for _, c := range []struct {
		name   string
		before learner.Progress
		now    int64
		want   string
	}{
		{"a new model", learner.Progress{}, 2, `"labels":2,"all":2`},
		{"a model that continues", with(5), 7, `"labels":2,"all":7`},
		{"no others", with(5), 5, ""},
	} {
		var b bytes.Buffer
		w := New("m", zerolog.New(&b), prometheus.NewRegistry(), metrics.NewHealth(time.Now))
		w.Event(event.Replayed{Progress: c.before})
		for range 2 {
			w.progress(with(c.now))
		}
		if got := strings.Count(b.String(), "far from all others"); got != min(1, len(c.want)) || !strings.Contains(b.String(), c.want) {
			t.Errorf("%s: logged %q, want %q once", c.name, b.String(), c.want)
		}
	}
}
