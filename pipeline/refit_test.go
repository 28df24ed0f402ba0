package pipeline

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/challenger"
	"github.com/accrete-ml/accrete/pipeline/internal/decisions"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/refit"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// refits returns the configuration of a model with refits on its last 500 records.
func refits(t *testing.T, partitions, records int) (model.Config, *learntest.Events) {
	t.Helper()
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, partitions, learntest.Rings(records))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.Learner.Algorithm, cfg.Learner.MaxFeatures = "all", 64
	cfg.Refit = model.RefitConfig{Window: 500, Tolerance: 1e-3}
	return cfg, ev
}

// challengers returns the challengers in the model log, with their models.
func challengers(t *testing.T, c model.Config) (all []*modellog.Challenger, models []*learner.Model) {
	t.Helper()
	c.VerifyKey = nil
	j, err := journal.Open(t.Context(), c, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range j.Log.Fold.Challengers() {
		stored := modellog.Stored{Manifest: &s.Challenger.Manifest, Offset: s.Offset, Chunks: s.Chunks}
		got, err := j.Load(t.Context(), stored)
		if err != nil {
			t.Fatal(err)
		}
		m, err := learner.NewModel(got.State.Serving)
		if err != nil || len(got.State.Resuming) != 0 {
			t.Fatalf("%d resuming arrays, %v", len(got.State.Resuming), err)
		}
		all, models = append(all, s.Challenger), append(models, m)
	}
	return all, models
}

// TestRefitsDoNotChangeWhatIsLearned learns the same records with and without refits.
// The only difference is the challengers in the log, which Verify solves for again.
func TestRefitsDoNotChangeWhatIsLearned(t *testing.T) {
	cfg, ev := refits(t, 1, 1500)
	learnAll(t, cfg)
	want := learntest.FinalHash(t, ev)

	again, ev2 := learntest.Config(cfg.Client, "again", cfg.Topics[0])
	again.Learner, again.Refit = cfg.Learner, cfg.Refit
	again.Refit.Every, again.BatchSize, again.ChunkBytes = time.Nanosecond, 70, 1000
	again.ToEnd, again.SnapshotEvery = false, 20*time.Millisecond
	stop, _ := start(t, again)
	eventually(t, "it refits what it has learned", func() bool { r, ok := learntest.Last[event.Refitted](ev2); return ok && r.Refit.Rows == 500 })
	eventually(t, "it learns everything", func() bool { return learned(ev2) == 1470 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	all, models := challengers(t, again)
	v, err := audit.Verify(t.Context(), again)
	if err != nil || v.Divergent != 0 || v.Challengers < 1 || v.Compared < 1 {
		t.Errorf("%+v, %v", v, err)
	}
	for i, m := range all {
		r := m.Refit
		if r.Rows > 500 || r.Relative > 1e-3 || r.Gap < 0 || r.Suboptimality == nil || *r.Suboptimality < r.Gap || models[i] == nil {
			t.Errorf("%+v", r)
		}
	}
	if got := learntest.FinalHash(t, ev2); got != want {
		t.Errorf("with refits the state is %v, and without %v", got, want)
	}
}

// TestARefitFromOutsideIsTheLearnersOwn calls Refit while no learner runs, and compares
// the result with a refit on the rows in memory.
func TestARefitFromOutsideIsTheLearnersOwn(t *testing.T) {
	cfg, _ := refits(t, 2, 1500)
	learnAll(t, cfg)
	dry, _, err := Refit(t.Context(), cfg, false)
	if err != nil || dry.Published {
		t.Fatalf("%+v, %v", dry, err)
	}
	if all, _ := challengers(t, cfg); len(all) != 0 {
		t.Fatal("a challenger, unasked")
	}
	report, s, err := Refit(t.Context(), cfg, true)
	if err != nil || !report.Published || report.Rows != 500 || report.Relative > 1e-3 || report.StateHash != dry.StateHash {
		t.Fatalf("%+v, %v", report, err)
	}
	all, models := challengers(t, cfg)
	if len(all) != 1 || all[0].StateHash != report.StateHash || all[0].Seq != report.Seq {
		t.Fatalf("%v", all)
	}

	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	coef, _ := models[0].Coefficients()
	model, err := learner.NewModel(l.history.Learner.Serving())
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := challenger.Rows(t.Context(), cfg, l.inputs, s, 500, false)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := refit.Solve(t.Context(), model, rows, refit.Options{Relative: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := direct.Model.Coefficients()
	if !slices.Equal(got, coef) {
		t.Error("the challenger is another model")
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Challengers != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestVerifyFindsAChallengerThatWasNotSolvedFor plants a challenger with a changed
// coefficient.
func TestVerifyFindsAChallengerThatWasNotSolvedFor(t *testing.T) {
	cfg, _ := refits(t, 2, 800)
	learnAll(t, cfg)
	j, err := journal.Open(t.Context(), cfg, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	s, err := j.Load(t.Context(), j.Log.Fold.Snapshots()[0])
	if err != nil {
		t.Fatal(err)
	}
	ins, err := input.Open(t.Context(), cfg.Client, cfg.Topics)
	if err != nil {
		t.Fatal(err)
	}
	r, err := challenger.Solve(t.Context(), cfg, ins, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Snapshot.State.Serving {
		if a.Name == "coefficients" {
			a.Data.([]float32)[3] += 1e-3
		}
	}
	j.Owner = j.Log.Fold.Claim().Owner
	if _, err := j.Challenge(t.Context(), r.Snapshot, r.Refit, cfg); err != nil {
		t.Fatal(err)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 1 || v.Challengers != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestRefitReadsOnlyWhatCounts mixes BATCHes of a fenced learner, and of an earlier
// history with the same seqs, with the valid ones.
func TestRefitReadsOnlyWhatCounts(t *testing.T) {
	cfg, _ := refits(t, 2, 1200)
	learnAll(t, cfg)
	j, err := journal.Open(t.Context(), cfg, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	want, err := challenger.Decisions(cfg).Before(t.Context(), j.Log.Fold.Seq(), j.Log.Fold.Chain(), 400)
	if err != nil || len(want) < 2 {
		t.Fatalf("%d batches, %v", len(want), err)
	}
	for _, b := range want {
		void := *b
		void.Owner.Nonce[3]++
		void.Counts.Learned += 1000
		void.Chain = modellog.NextChain(snapshot.Hash{1}, &void)
		if err := j.Write(t.Context(), &void); err != nil {
			t.Fatal(err)
		}
	}
	same := func(a, b *modellog.Batch) bool { return a.Chain == b.Chain }
	got, err := challenger.Decisions(cfg).Before(t.Context(), j.Log.Fold.Seq(), j.Log.Fold.Chain(), 400)
	if err != nil || !slices.EqualFunc(got, want, same) {
		t.Errorf("%d batches, want %d, %v", len(got), len(want), err)
	}
	found := map[int64][]modellog.Record{}
	if err := challenger.Decisions(cfg).Read(t.Context(), 0, j.Log.Next(), found); err != nil {
		t.Fatal(err)
	}
	for _, rs := range found { // the order of reading does not matter
		slices.Reverse(rs)
	}
	back, _ := decisions.Follow(found, j.Log.Fold.Seq(), j.Log.Fold.Chain(), 400)
	slices.Reverse(back)
	if !slices.EqualFunc(back, want, same) {
		t.Errorf("%d batches, want %d", len(back), len(want))
	}
	learned := 0
	for _, b := range got {
		learned += int(b.Counts.Learned)
	}
	if learned < 400 || learned-int(got[0].Counts.Learned) >= 400 {
		t.Errorf("%d records in the BATCHes, and %d without the first", learned, learned-int(got[0].Counts.Learned))
	}
	if all, err := challenger.Decisions(cfg).Before(t.Context(), j.Log.Fold.Seq(), j.Log.Fold.Chain(), 1<<20); err != nil || all[0].Seq != 1 || len(all) != int(j.Log.Fold.Seq()) {
		t.Errorf("all the way back: %d batches from %d, %v", len(all), all[0].Seq, err)
	}
}

// TestRefitPassesOverWhatWasRolledBack refits directly after a rollback: the rows are
// those up to its target, and then those after it.
func TestRefitPassesOverWhatWasRolledBack(t *testing.T) {
	cfg, ev := refits(t, 1, 900)
	learnAll(t, cfg)
	first, _ := learntest.Last[event.Saved](ev)
	kafkatest.Fill(t, cfg.Client, cfg.Topics[0], 1, learntest.Rings(300))
	learnAll(t, cfg)
	want, _, err := Refit(t.Context(), cfg, true)
	if err != nil || want.Rows != 500 {
		t.Fatalf("%+v, %v", want, err)
	}
	if _, err := admin.Rollback(t.Context(), cfg, admin.RollbackTo{Step: &first.Step}); err != nil {
		t.Fatal(err)
	}
	learnAll(t, cfg)
	got, _, err := Refit(t.Context(), cfg, true)
	if err != nil || got.Rows != want.Rows || got.Loss != want.Loss || got.Seq <= want.Seq {
		t.Errorf("%+v, %v; before the rollback %+v", got, err, want)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Challengers != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestVerifyOmitsAChallengerWhoseBatchesWereDeleted has a challenger of the first BATCH
// that is left in the log. Nothing confirms this BATCH, and those before it are gone.
func TestVerifyOmitsAChallengerWhoseBatchesWereDeleted(t *testing.T) {
	cfg, _ := refits(t, 1, 800)
	learnAll(t, cfg)
	kafkatest.Fill(t, cfg.Client, cfg.Topics[0], 1, learntest.Rings(50)) // one BATCH
	learnAll(t, cfg)
	if _, _, err := Refit(t.Context(), cfg, true); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), cfg, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	kept := j.Log.Fold.Snapshots()
	if kept[0].Manifest.Seq != kept[1].Manifest.Seq+1 {
		t.Fatalf("snapshots at %d and %d", kept[1].Manifest.Seq, kept[0].Manifest.Seq)
	}
	if err := cfg.Client.DeleteRecords(t.Context(), model.LogTopic(cfg.Model), 0, kept[1].Manifest.Start.Offset); err != nil {
		t.Fatal(err)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Challengers != 0 || v.Compared != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestRefitEndsWithItsContext(t *testing.T) {
	cfg, _ := refits(t, 1, 300)
	learnAll(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Refit(ctx, cfg, true); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestChallengersAreSigned(t *testing.T) {
	cfg, _ := refits(t, 1, 500)
	cfg.SignKey = ed25519.NewKeyFromSeed(slices.Repeat([]byte{1}, ed25519.SeedSize))
	cfg.VerifyKey = cfg.SignKey.Public().(ed25519.PublicKey)
	learnAll(t, cfg)
	if _, _, err := Refit(t.Context(), cfg, true); err != nil {
		t.Fatal(err)
	}
	all, _ := challengers(t, cfg)
	if len(all) != 1 || all[0].Verify(cfg.VerifyKey) != nil {
		t.Errorf("%v", all)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Challengers != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	other := bytes.Clone(all[0].Signature)
	other[5]++
	all[0].Signature = other
	if err := all[0].Verify(cfg.VerifyKey); !errors.Is(err, modellog.ErrSignature) {
		t.Errorf("error %v", err)
	}
}
