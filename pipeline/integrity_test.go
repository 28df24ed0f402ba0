package pipeline

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// ends waits for a learner to end by itself.
func ends(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the learner goes on")
		return nil
	}
}

// A learner ends when the model log loses its tail. Nothing but a rollback continues
// the model, and nothing that was learned from the lost tail remains in it.
func TestALostTailOfTheLogEndsTheLearner(t *testing.T) {
	kafkatest.OnFragile(t, func(t *testing.T, addr string, b kafkatest.Fragile) {
		for _, fed := range []bool{true, false} {
			name := "that is idle"
			if fed {
				name = "that goes on learning"
			}
			t.Run(name, func(t *testing.T) {
				c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("rings")
				values := learntest.Rings(3000)
				kafkatest.Fill(t, c, in, 1, values[:1000])
				cfg, ev := learntest.Config(c, "m", in)
				cfg.ToEnd = false
				_, ended := start(t, cfg)
				eventually(t, "it learns", func() bool { return learned(ev) == 980 })
				b.Down(func() { b.Cut(model.LogTopic(cfg.Model), 0, 4) })
				watch := kafkatest.NewStopwatch()
				if fed {
					kafkatest.Fill(t, kafkatest.ClientOf(t, addr, nil), in, 1, values[1000:])
				}
				learntest.Wants(t, ends(t, ended), ErrLog, "has lost its tail")
				if took := watch.Elapsed(); took > 4*time.Second {
					t.Errorf("it noticed after %v", took)
				}
				cfg.Client, cfg.ToEnd = kafkatest.ClientOf(t, addr, nil), true
				if !fed {
					kafkatest.Fill(t, cfg.Client, in, 1, values[1000:])
				}
				rolledBack(t, cfg)
				if n := learned(ev); n != 2940 {
					t.Errorf("%d records were learned in the end", n)
				}
			})
		}
	})
}

// rolledBack verifies that a model of which the log has lost its tail is refused by
// everything that reads it, and continues after a rollback.
func rolledBack(t *testing.T, cfg model.Config) *modellog.Rollback {
	t.Helper()
	_, err := Open(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, "accrete rollback")
	_, err = audit.Verify(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, "accrete rollback")
	report, err := audit.Inspect(t.Context(), cfg, 1)
	learntest.Wants(t, err, ErrLog, "accrete rollback")
	if report == nil {
		t.Error("inspect does not report what is left of the log")
	}
	r, err := admin.Rollback(t.Context(), cfg, admin.RollbackTo{})
	if err != nil || r.Record == nil {
		t.Fatalf("rolled back: %+v, %v", r, err)
	}
	learnAll(t, cfg)
	v := proved(t, cfg, 1)
	if a := v.Abandoned[0]; a.From != r.Record.ToSeq+1 || a.To != r.Record.Seq-1 {
		t.Errorf("abandoned: %+v, want %d to %d", a, r.Record.ToSeq+1, r.Record.Seq-1)
	}
	return r.Record
}

func TestALogThatLostItsTailAndGrewAgainIsNotTheSame(t *testing.T) {
	kafkatest.OnFragile(t, func(t *testing.T, addr string, b kafkatest.Fragile) {
		c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("rings")
		kafkatest.Fill(t, c, in, 1, learntest.Rings(1000))
		cfg, ev := learntest.Config(c, "m", in)
		cfg.ToEnd = false
		_, ended := start(t, cfg)
		eventually(t, "it learns", func() bool { return learned(ev) == 980 })
		b.Down(func() { // change the last record
			b.Change(model.LogTopic(cfg.Model), 0, func(bs [][]byte) [][]byte {
				return kafkatest.Reseal(bs, len(bs)-1, func(b []byte) { b[len(b)-2] ^= 1 })
			})
		})
		learntest.Wants(t, ends(t, ended), ErrLog, "differs from the one read before")
	})
}

func TestALogThatIsDeletedEndsItsLearner(t *testing.T) {
	t.Parallel()
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, nil)
	kafkatest.Fill(t, c, in, 1, learntest.Rings(1000))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.ToEnd = false
	_, ended := start(t, cfg)
	eventually(t, "it learns", func() bool { return learned(ev) == 980 })
	kafkatest.Delete(t, addr, model.LogTopic(cfg.Model))
	if err := journal.CreateLog(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	learntest.Wants(t, ends(t, ended), ErrLog, "deleted")
	_, err := Open(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, "the log was deleted")
	if rs := kafkatest.Read(t, c, model.LogTopic(cfg.Model)); len(rs) > 0 {
		t.Errorf("%d records were written to the new log", len(rs))
	}
}

func TestALogThatDoesNotKeepItsRecordsIsRefused(t *testing.T) {
	for name, value := range map[string]string{"cleanup.policy": "compact", "retention.ms": "60000", "retention.bytes": "1000000"} {
		t.Run(name, func(t *testing.T) {
			c, in := kafkatest.Client(t), kafkatest.Name("rings")
			kafkatest.Fill(t, c, in, 1, learntest.Rings(10))
			cfg, _ := learntest.Config(c, "m", in)
			bad := map[string]string{"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
			bad[name] = value
			if err := c.Create(t.Context(), model.LogTopic(cfg.Model), 1, bad); err != nil {
				t.Fatal(err)
			}
			_, err := Open(t.Context(), cfg)
			learntest.Wants(t, err, ErrLog, name+" is "+value)
			if rs := kafkatest.Read(t, c, model.LogTopic(cfg.Model)); len(rs) > 0 {
				t.Errorf("%d records were written to it nevertheless", len(rs))
			}
			_, err = audit.Inspect(t.Context(), cfg, 0)
			learntest.Wants(t, err, ErrLog, name)
		})
	}
}

func TestALogThatAcceptsNoSnapshotSaysWhatToDo(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(1000))
	cfg, _ := learntest.Config(c, "m", in)
	small := map[string]string{"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", "max.message.bytes": "8192"}
	if err := c.Create(t.Context(), model.LogTopic(cfg.Model), 1, small); err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), cfg)
	if err == nil {
		err = l.Run(t.Context())
	}
	learntest.Wants(t, err, ingest.ErrTooLarge, "snapshot.chunk")
}

func TestALogWithAMissingRecordIsRefused(t *testing.T) {
	kafkatest.OnFragile(t, func(t *testing.T, addr string, b kafkatest.Fragile) {
		c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("rings")
		kafkatest.Fill(t, c, in, 1, learntest.Rings(1000))
		cfg, _ := learntest.Config(c, "m", in)
		learnAll(t, cfg)
		b.Down(func() {
			b.Change(model.LogTopic(cfg.Model), 0, func(bs [][]byte) [][]byte { return slices.Delete(bs, 5, 7) })
		})
		cfg.Client = kafkatest.ClientOf(t, addr, nil)
		_, err := audit.Verify(t.Context(), cfg)
		learntest.Wants(t, err, ErrLog, "offsets 7 to 8 are missing")
		r, err := audit.Inspect(t.Context(), cfg, 100)
		learntest.Wants(t, err, ErrLog, "offsets 7 to 8 are missing")
		if r == nil || len(r.Records) < 5 {
			t.Errorf("inspect shows %+v, want what precedes the missing record", r)
		}
	})
}

func TestAnIdleLearnerNoticesThatItWasReplaced(t *testing.T) {
	t.Parallel()
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(500))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.ToEnd = false
	_, ended := start(t, cfg)
	eventually(t, "it learns", func() bool { return learned(ev) == 490 })
	second, _ := learntest.Config(c, "m", in)
	learnAll(t, second)
	watch := kafkatest.NewStopwatch()
	if err := ends(t, ended); !errors.Is(err, ErrFenced) {
		t.Errorf("it ended with %v, want %v", err, ErrFenced)
	}
	if took := watch.Elapsed(); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A record of the log that does not count is reported, and changes nothing.
func TestVoidRecordsAreReported(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(300))
	cfg, ev := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	if v, ok := learntest.Last[event.Void](ev); ok {
		t.Fatalf("before there is one: %+v", v)
	}
	if err := c.Producer().Publish(t.Context(), model.LogTopic(cfg.Model), 0, []ingest.Record{{Key: []byte("batch"), Value: []byte("{")}}); err != nil {
		t.Fatal(err)
	}
	_, end, err := c.Offsets(t.Context(), model.LogTopic(cfg.Model))
	if err != nil {
		t.Fatal(err)
	}
	kafkatest.Fill(t, c, in, 1, learntest.Rings(100))
	learnAll(t, cfg)
	if v, ok := learntest.Last[event.Void](ev); !ok || v.Offset != end[0]-1 || v.Type != "batch" || v.Why == "" {
		t.Errorf("%+v, want one at offset %d", v, end[0]-1)
	}
}
