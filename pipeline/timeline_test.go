package pipeline

import (
	"reflect"
	"testing"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// The timeline of a learner that was restarted is that of one which was not.
func TestTimelineSurvivesARestart(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("orders")
	run := func(name string) (*event.Replayed, func() *event.Replayed) {
		cfg, ev := learntest.Config(c, name, in)
		cfg = columnsConfig(cfg)
		cfg.BatchSize, cfg.Linger = 100, 10*1e9
		again := func() *event.Replayed {
			learnAll(t, cfg)
			r, ok := learntest.Last[event.Replayed](ev)
			if !ok || r.Timeline == nil {
				t.Fatalf("%+v", r)
			}
			return &r
		}
		return again(), again
	}
	kafkatest.Fill(t, c, in, 1, orders(600))
	first, restart := run("restarted")
	if len(first.Timeline.Points) != 0 || len(first.Snapshots) != 0 {
		t.Errorf("a new model has a history: %+v", first)
	}
	middle := restart()
	if len(middle.Timeline.Points) != 6 || len(middle.Snapshots) == 0 || middle.Snapshots[0].Written().IsZero() {
		t.Errorf("after the first run: %+v, %d snapshots", middle.Timeline, len(middle.Snapshots))
	}
	kafkatest.Fill(t, c, in, 1, orders(600))
	restart()
	_, whole := run("whole")
	if a, b := restart(), whole(); len(a.Timeline.Points) < 9 || !reflect.DeepEqual(a.Timeline, b.Timeline) {
		t.Errorf("restarted: %+v\nnot restarted: %+v", a.Timeline, b.Timeline)
	}
}
