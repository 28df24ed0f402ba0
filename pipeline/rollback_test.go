package pipeline

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// proved verifies a model and fails the test unless it has that many abandoned ranges.
func proved(t *testing.T, c model.Config, abandoned int) audit.Verification {
	t.Helper()
	v, err := audit.Verify(t.Context(), c)
	if err != nil || v.Divergent > 0 || v.Compared == 0 || len(v.Abandoned) != abandoned || v.Unreached != "" {
		t.Errorf("verify: %+v, %v; want %d stretches abandoned", v, err, abandoned)
	}
	return v
}

// sequences counts the predictions that were made under each seq.
func sequences(t *testing.T, c model.Config) map[int64]int {
	t.Helper()
	out := map[int64]int{}
	for _, r := range kafkatest.Read(t, c.Client, model.PredictionsTopic(c.Model)) {
		seq, err := strconv.ParseInt(kafkatest.Header(r, "ce_sequence"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out[seq]++
	}
	return out
}

// A log that has lost its tail while no learner ran is rejected, because there are
// predictions of which it has no BATCH. The model continues after a rollback.
func TestALostTailIsRefusedAtTheStartAndRolledBack(t *testing.T) {
	kafkatest.OnFragile(t, func(t *testing.T, addr string, b kafkatest.Fragile) {
		for _, transactional := range []bool{false, true} {
			c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("rings")
			kafkatest.Fill(t, c, in, 2, learntest.Rings(2000))
			cfg, ev := learntest.Config(c, "m", in)
			cfg.Transactional = transactional
			learnAll(t, cfg)
			was := finalSeq(t, ev)
			b.Down(func() { // remove the snapshot and some of the decisions before it
				b.Change(model.LogTopic(cfg.Model), 0, func(bs [][]byte) [][]byte { return bs[:12] })
			})
			cfg.Client = kafkatest.ClientOf(t, addr, nil)
			_, err := Open(t.Context(), cfg)
			learntest.Wants(t, err, ErrLog, "has lost its tail")
			r := rolledBack(t, cfg)
			if r.Seq != was+1 || r.ToSeq >= was {
				t.Errorf("rolled back: %+v; want seqs up to %d abandoned", r, was)
			}
			if n := learned(ev); n != 1960 {
				t.Errorf("%d records were learned in the end", n)
			}
			for seq := range sequences(t, cfg) {
				if seq == r.Seq {
					t.Errorf("a prediction carries the rollback's own seq %d", seq)
				}
			}
			if r, err := admin.Rollback(t.Context(), cfg, admin.RollbackTo{}); err != nil || r.Record != nil {
				t.Errorf("once more: %+v, %v; want nothing to do", r, err)
			}
		}
	})
}

func TestRollbackToAStepASeqAndATime(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(3000)
	cfg, ev := learntest.Config(c, "m", in)
	var at []event.Saved
	var times []time.Time
	for from := 0; from < 3000; from += 1000 {
		kafkatest.Fill(t, c, in, 1, values[from:from+1000])
		learnAll(t, cfg)
		s, _ := learntest.Last[event.Saved](ev)
		at, times = append(at, s), append(times, time.Now())
		time.Sleep(2 * time.Millisecond) // timestamps of records are in milliseconds
	}
	back := func(to admin.RollbackTo, want event.Saved, abandoned int) {
		t.Helper()
		r, err := admin.Rollback(t.Context(), cfg, to)
		if err != nil || r.Record == nil || r.Record.ToSeq != want.Seq {
			t.Fatalf("to %+v: %+v, %v; want to seq %d", to, r.Record, err, want.Seq)
		}
		learnAll(t, cfg)
		proved(t, cfg, abandoned)
		if got := learntest.FinalHash(t, ev); got != at[2].StateHash {
			t.Errorf("to %+v: state hash %v, before %v", to, got, at[2].StateHash)
		}
	}
	step := at[1].Step + 1
	back(admin.RollbackTo{Step: &step, Reason: "for a test"}, at[1], 1)
	back(admin.RollbackTo{Before: times[0].Add(time.Millisecond)}, at[0], 1) // abandons the previous rollback, too
	seq := at[0].Seq - 1
	back(admin.RollbackTo{Seq: &seq}, event.Saved{Seq: seq}, 1)
	abandoned := seq + 1
	_, err := admin.Rollback(t.Context(), cfg, admin.RollbackTo{Seq: &abandoned})
	learntest.Wants(t, err, admin.ErrNowhere, "abandoned")
	none := int64(-1)
	_, err = admin.Rollback(t.Context(), cfg, admin.RollbackTo{Step: &none})
	learntest.Wants(t, err, admin.ErrNowhere, "step -1")
	_, err = admin.Rollback(t.Context(), cfg, admin.RollbackTo{Before: times[0].AddDate(-1, 0, 0)})
	learntest.Wants(t, err, admin.ErrNowhere, "--to-seq 0")
}

func TestInputLostBelowTheSnapshotIsRecorded(t *testing.T) {
	kafkatest.OnFragile(t, func(t *testing.T, addr string, d kafkatest.Fragile) {
		in := kafkatest.Name("rings")
		c := kafkatest.ClientOf(t, addr, nil)
		values := learntest.Rings(3000)
		kafkatest.Fill(t, c, in, 1, values[:1500])
		cfg, ev := learntest.Config(c, "m", in)
		learnAll(t, cfg)
		saved := finalSeq(t, ev)
		kafkatest.Fill(t, c, in, 1, values[1500:])
		learnAll(t, cfg)
		d.Down(func() { // remove the second snapshot, as if the learner had been killed before it
			d.Change(model.LogTopic(cfg.Model), 0, func(bs [][]byte) [][]byte {
				n := len(bs)
				for n > 0 && !strings.Contains(string(bs[n-1]), `{"type":"batch"`) {
					n--
				}
				return bs[:n]
			})
		})
		c = kafkatest.ClientOf(t, addr, nil)
		cfg.Client = c
		eventually(t, "the broker leads the partition again and deletes", func() bool {
			return c.DeleteRecords(t.Context(), in, 0, 2000) == nil
		})
		_, err := Open(t.Context(), cfg)
		learntest.Wants(t, err, input.ErrHistory, "BATCH")
		cfg.OnGap = "record"
		learnAll(t, cfg)
		r, ok := learntest.Last[event.RolledBack](ev)
		if !ok || r.Record.ToSeq != saved {
			t.Fatalf("rolled back: %+v, want to seq %d", r, saved)
		}
		if g, ok := learntest.Last[event.Gap](ev); !ok || g.From != 1500 || g.To != 2000 {
			t.Errorf("the gap is %+v", g)
		}
		learnAll(t, cfg)
		proved(t, cfg, 1)
	})
}

// as runs f as a program of the versions v.
func as(v modellog.Versions, f func()) {
	was := history.Versions
	history.Versions = v
	defer func() { history.Versions = was }()
	f()
}

func TestAnotherArithmeticIsRefusedOrSaid(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(3000)
	kafkatest.Fill(t, c, in, 1, values[:1500])
	cfg, ev := learntest.Config(c, "m", in)
	cfg.Learner = learntest.Newton
	learnAll(t, cfg)
	older := finalSeq(t, ev)
	kafkatest.Fill(t, c, in, 1, values[1500:])
	next := modellog.Versions{Arithmetic: learner.Arithmetic + 1, Decoder: history.Versions.Decoder}
	as(next, func() {
		_, err := Open(t.Context(), cfg)
		learntest.Wants(t, err, model.ErrVersion, "arithmetic 1, decoder 1, this program has arithmetic 2, decoder 1")
		_, err = audit.Verify(t.Context(), cfg)
		learntest.Wants(t, err, model.ErrVersion, "verify it with a program of that version")
		cfg.Upgrade = true
		learnAll(t, cfg)
		learnAll(t, cfg)
		v := proved(t, cfg, 0)
		if v.FromSeq != older+1 || len(v.Stretches) != 2 || v.Stretches[0].Verified || !v.Stretches[1].Verified {
			t.Errorf("verified: %+v, want what is behind seq %d", v, older)
		}
	})
	_, err := Open(t.Context(), model.Config{Model: cfg.Model, Client: c, Topics: cfg.Topics, Learner: cfg.Learner, Report: cfg.Report, BatchSize: 1, SnapshotEvery: time.Hour})
	learntest.Wants(t, err, model.ErrVersion, "arithmetic 2, decoder 1, this program has arithmetic 1, decoder 1")
	cfg.Upgrade = false
	v, err := audit.Verify(t.Context(), cfg)
	if err != nil || v.ToSeq != older || v.Divergent > 0 || !strings.Contains(v.Unreached, "newest MANIFEST") {
		t.Errorf("the older program verifies %+v, %v; want up to seq %d", v, err, older)
	}
}

// A learner that claims the log with --upgrade while the older one is still deciding
// leaves a whole log, whatever comes between.
func TestAnUpgradeDoesNotBreakTheLogOfALiveLearner(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(300))
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Learner = learntest.Newton
	learnAll(t, cfg)
	older, err := journal.Open(t.Context(), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := older.Claim(t.Context(), history.Versions, nil); err != nil {
		t.Fatal(err)
	}
	cfg.Upgrade = true
	newer, err := journal.Open(t.Context(), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := older.AppendGap(t.Context(), &input.Gap{In: &input.Partition{Topic: in}, From: 300, To: 301}); err != nil {
		t.Fatal(err)
	}
	as(modellog.Versions{Arithmetic: learner.Arithmetic + 1, Decoder: history.Versions.Decoder}, func() {
		learntest.Wants(t, newer.Begin(t.Context(), cfg, nil, 0), model.ErrVersion, "after its newest snapshot")
	})
	if err := newer.Log.Fold.Broken(); err != nil {
		t.Errorf("the log: %v", err)
	}
	if _, err := admin.Rollback(t.Context(), cfg, admin.RollbackTo{}); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// A learner that is rolled back further than it remembers does not know who did it.
func TestALearnerIsRolledBackFurtherThanItRemembers(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(3000)
	cfg, ev := learntest.Config(c, "m", in)
	cfg.Keep = 1
	var first time.Time
	for from := 0; from < 3000; from += 1000 {
		kafkatest.Fill(t, c, in, 1, values[from:from+1000])
		learnAll(t, cfg)
		if from == 0 {
			first = time.Now()
			time.Sleep(2 * time.Millisecond) // timestamps of records are in milliseconds
		}
	}
	cfg.ToEnd = false
	before := learned(ev)
	_, ended := start(t, cfg)
	kafkatest.Fill(t, c, in, 1, learntest.Rings(100))
	eventually(t, "it learns", func() bool { return learned(ev) > before })
	if _, err := admin.Rollback(t.Context(), cfg, admin.RollbackTo{Before: first.Add(time.Millisecond)}); err != nil {
		t.Fatal(err)
	}
	kafkatest.Fill(t, c, in, 1, learntest.Rings(100))
	learntest.Wants(t, ends(t, ended), ErrFenced, "rolled it back")
}
