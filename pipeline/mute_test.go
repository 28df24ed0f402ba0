package pipeline

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/heartbeat"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A standby whose heartbeats are denied reports it for as long as it lasts: it would never take over.
func TestStandbyWithoutHeartbeatsReportsIt(t *testing.T) {
	k, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	c := kafkatest.ClientOf(t, k.ListenAddrs()[0], nil)
	kafkatest.Fill(t, c, "in", 1, learntest.Rings(300))
	start := func(standby bool) *running {
		r := new(running)
		cfg, events := learntest.Config(c, "m", "in")
		r.events, cfg.ToEnd, cfg.Heartbeat, cfg.Standby = events, false, 100*time.Millisecond, standby
		r.start(t, cfg)
		return r
	}
	owner := start(false)
	sight[event.Learned](t, owner.events)
	standby := start(true)
	sight[event.StandingBy](t, standby.events)
	fault := k.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: heartbeat.Topic("m.in"), Err: kerr.TopicAuthorizationFailed, Count: -1})
	until := func(what string, done func(error) bool) {
		t.Helper()
		for limit := time.Now().Add(time.Minute); !done(sight[event.StandingBy](t, standby.events).Mute); time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatal(what)
			}
		}
	}
	until("no heartbeat has failed", func(err error) bool { return errors.Is(err, ingest.ErrDenied) })
	fault.Remove()
	until("heartbeats fail", func(err error) bool { return err == nil })
	for _, r := range []*running{standby, owner} {
		r.stop()
		r.wait(t)
	}
}
