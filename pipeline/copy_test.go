package pipeline

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/transfer"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/backup"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// cluster returns a client of another Kafka.
func cluster(t *testing.T) (addr string, c *ingest.Client) {
	addr = kafkatest.NewDisk(t).Addr
	return addr, kafkatest.ClientOf(t, addr, nil)
}

func exported(t *testing.T, c model.Config) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := admin.Export(t.Context(), c, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func opening(b []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
}

func imported(t *testing.T, c model.Config, b []byte) admin.Copy {
	t.Helper()
	got, err := admin.Import(t.Context(), c, opening(b))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// same fails the test unless the logs of two models have the same history.
func same(t *testing.T, a, b model.Config) {
	t.Helper()
	var is [2]*audit.LogReport
	for i, c := range []model.Config{a, b} {
		r, err := audit.Inspect(t.Context(), c, 0)
		if err != nil {
			t.Fatal(err)
		}
		is[i] = r
	}
	if x, y := is[0], is[1]; x.Seq != y.Seq || x.Released != y.Released || len(x.Snapshots) != len(y.Snapshots) || !bytes.Equal(x.Options, y.Options) {
		t.Errorf("the copy has seq %d, released %d, %d snapshots, options %s; want %d, %d, %d, %s", y.Seq, y.Released, len(y.Snapshots), y.Options, x.Seq, x.Released, len(x.Snapshots), x.Options)
	}
	for i := range is[0].Snapshots {
		if x, y := is[0].Snapshots[i], is[1].Snapshots[i]; x.StateHash != y.StateHash || x.Chain != y.Chain || x.Lineage != y.Lineage {
			t.Errorf("the copy has the snapshot %v, want %v", y, x)
		}
	}
}

func TestAnExportedModelContinuesOnAnotherCluster(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(300))
	want := uninterrupted(t, c, in)
	all := contents(t, c, in)
	cfg, _ := learntest.Config(c, "m", in+".a")
	cfg.BatchSize = 20
	refill(t, c, in+".a", [][]ingest.Record{all[0][:60]})
	learnAll(t, cfg)
	time.Sleep(2 * time.Millisecond) // timestamps of records are in milliseconds
	between := time.Now()
	time.Sleep(2 * time.Millisecond)
	refill(t, c, in+".a", [][]ingest.Record{all[0][60:130]})
	learnAll(t, cfg)
	if _, err := admin.Rollback(t.Context(), cfg, admin.RollbackTo{Before: between}); err != nil { // abandoned decisions are copied, too
		t.Fatal(err)
	}
	learnAll(t, cfg)
	file := exported(t, cfg)

	_, other := cluster(t)
	there, ev := learntest.Config(other, "m", in+".a")
	there.BatchSize = 20
	_, err := audit.Verify(t.Context(), there)
	learntest.Wants(t, err, ErrTopic, "no learner of this model has run")
	got := imported(t, there, file)
	if got.Signed || got.Header.Snapshot == nil {
		t.Errorf("imported %+v, want unsigned, with a snapshot", got)
	}
	same(t, cfg, there)
	refill(t, other, in+".a", [][]ingest.Record{all[0][45:]})
	_, err = Open(t.Context(), there)
	learntest.Wants(t, err, ErrHistory, "accrete adopt")
	if r, err := admin.Rollback(t.Context(), there, admin.RollbackTo{}); err != nil || r.Record != nil || len(r.Abandoned) != 1 {
		t.Errorf("the copy has %+v, %v; want one abandoned range", r, err)
	}
	adopts(t, there, admin.Adoption{})
	learnAll(t, there)
	if got := learntest.FinalHash(t, ev); got != want {
		t.Errorf("state hash %v, without the copy %v", got, want)
	}
	proved(t, there, 1)
	if again, err := admin.Import(t.Context(), there, opening(file)); !errors.Is(err, admin.ErrCopy) {
		t.Errorf("into a log with records: %+v, %v", again, err)
	}
}

// A log that was trimmed begins at its oldest snapshot, and so does its copy, and a
// copy of the copy.
func TestATrimmedLogIsCopiedFromItsOldestSnapshot(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(300))
	want := uninterrupted(t, c, in)
	all := contents(t, c, in)
	cfg, _ := learntest.Config(c, "m", in+".a")
	cfg.Keep, cfg.History = 2, 1
	for from := 0; from < 250; from += 50 {
		refill(t, c, in+".a", [][]ingest.Record{all[0][from : from+50]})
		learnAll(t, cfg)
	}
	first, _, err := c.Offsets(t.Context(), model.LogTopic(cfg.Model))
	if err != nil || first[0] == 0 {
		t.Fatalf("the log begins at %v, %v; want it trimmed", first, err)
	}
	file := exported(t, cfg)
	_, second := cluster(t)
	middle, _ := learntest.Config(second, "m", in+".a")
	if got := imported(t, middle, file); got.Header.Begin.Seq == 0 {
		t.Errorf("imported %+v, want a history that begins at a snapshot", got.Header)
	}
	same(t, cfg, middle)
	_, third := cluster(t)
	there, ev := learntest.Config(third, "m", in+".a")
	imported(t, there, exported(t, middle))
	same(t, cfg, there)
	refill(t, third, in+".a", all)
	adopts(t, there, admin.Adoption{})
	learnAll(t, there)
	if got := learntest.FinalHash(t, ev); got != want {
		t.Errorf("state hash %v, without the copies %v", got, want)
	}
	proved(t, there, 0)
}

// A copy has the history of each version under a claim of that version.
func TestAnUpgradeIsCopiedAndRolledBack(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(300)
	kafkatest.Fill(t, c, in, 1, values[:150])
	cfg, ev := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	older := finalSeq(t, ev)
	kafkatest.Fill(t, c, in, 1, values[150:])
	next := modellog.Versions{Arithmetic: learner.Arithmetic + 1, Decoder: history.Versions.Decoder}
	as(next, func() {
		up := cfg
		up.Upgrade = true
		learnAll(t, up)
	})
	kafkatest.Fill(t, c, in, 1, learntest.Rings(20))
	back := func(c model.Config, step int64) {
		t.Helper()
		as(next, func() {
			r, err := admin.Rollback(t.Context(), c, admin.RollbackTo{Step: &step})
			if err != nil || r.Record == nil || r.Record.ToSeq != older {
				t.Fatalf("rolled back: %+v, %v; want to seq %d, before the upgrade", r.Record, err, older)
			}
		})
	}
	copied := func() model.Config {
		t.Helper()
		_, other := cluster(t)
		there, _ := learntest.Config(other, "m", in)
		imported(t, there, exported(t, cfg))
		same(t, cfg, there)
		return there
	}
	step := func() int64 {
		s, ok := learntest.Last[event.Restored](ev)
		if !ok {
			t.Fatal("no snapshot was restored")
		}
		return s.Step
	}()
	there := copied()
	_, err := Open(t.Context(), cfg)
	learntest.Wants(t, err, model.ErrVersion, "arithmetic 2")
	back(cfg, step)
	back(there, step)
	learnAll(t, cfg) // by the older program again
	proved(t, cfg, 1)
	copied()
}

// An import that was interrupted leaves a log that nobody continues.
func TestAnInterruptedImportIsNotAModel(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(600))
	cfg, _ := learntest.Config(c, "m", in)
	cfg.BatchSize, cfg.ChunkBytes = 1, 2000
	learnAll(t, cfg)
	file := exported(t, cfg)
	for _, part := range []int{2, 3} {
		addr, other := cluster(t)
		kafkatest.Fill(t, other, in, 1, learntest.Rings(600))
		there, _ := learntest.Config(other, "m", in)
		size := halfway(t, file, there.Model, len(file)*(part-1)/part)
		opened := 0
		_, err := admin.Import(t.Context(), there, func() (io.ReadCloser, error) {
			r := io.Reader(bytes.NewReader(file))
			if opened++; opened == 2 {
				r = io.LimitReader(r, size)
			}
			return io.NopCloser(r), nil
		})
		learntest.Wants(t, err, snapshot.ErrTruncated, "delete the topic and repeat")
		_, err = Open(t.Context(), there)
		learntest.Wants(t, err, ErrLog, "import")
		_, err = audit.Verify(t.Context(), there)
		learntest.Wants(t, err, ErrLog, "import")
		_, err = admin.Rollback(t.Context(), there, admin.RollbackTo{})
		learntest.Wants(t, err, ErrLog, "import")
		_, err = admin.Adopt(t.Context(), there, admin.Adoption{})
		learntest.Wants(t, err, ErrLog, "import")
		_, err = admin.Export(t.Context(), there, io.Discard)
		learntest.Wants(t, err, ErrLog, "import")
		report, err := audit.Inspect(t.Context(), there, 1)
		learntest.Wants(t, err, ErrLog, "import")
		if report == nil || report.Seq == 0 {
			t.Errorf("inspect reports %+v, want what was imported", report)
		}
		_, err = admin.Import(t.Context(), there, opening(file))
		learntest.Wants(t, err, admin.ErrCopy, "was interrupted at seq")
		kafkatest.Delete(t, addr, model.LogTopic(there.Model))
		eventually(t, "the topic is gone", func() bool {
			_, err := other.Topic(t.Context(), model.LogTopic(there.Model))
			return errors.Is(err, ingest.ErrUnknownTopic)
		})
		imported(t, there, file)
		same(t, cfg, there)
	}
}

// halfway returns a size, of at least from bytes, to which an export is cut so that an import
// writes some BATCHes and then fails.
func halfway(t *testing.T, file []byte, name string, from int) int64 {
	t.Helper()
	for size := from; size < len(file); size += len(file) / 50 {
		var r transfer.Rehearsal
		if _, err := transfer.Write(opening(file[:size]), name, &r, nil); err != nil && r.Fold() != nil && r.Fold().Seq() > 0 {
			return int64(size)
		}
	}
	t.Fatal("no part of the export has a BATCH that would be imported")
	return 0
}

func TestAWrongFileIsNotImported(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(300))
	cfg, _ := learntest.Config(c, "m", in)
	_, err := admin.Export(t.Context(), cfg, io.Discard)
	learntest.Wants(t, err, ErrTopic, "no learner of this model has run")
	learnAll(t, cfg)
	file := exported(t, cfg)
	_, other := cluster(t)
	there, _ := learntest.Config(other, "m", in)
	try := func(name string, b []byte, kind error, what string) {
		t.Helper()
		_, err := admin.Import(t.Context(), there, opening(b))
		if !errors.Is(err, kind) {
			t.Errorf("%s: %v, want %v", name, err, kind)
		}
		learntest.Wants(t, err, kind, what)
	}
	changed := func(change func(h *backup.Header, rs []backup.Record) []backup.Record) []byte {
		t.Helper()
		r, err := backup.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		var rs []backup.Record
		for rec, err := r.Next(); err == nil; rec, err = r.Next() {
			rs = append(rs, rec)
		}
		rs = change(&r.Header, rs)
		var b bytes.Buffer
		w, err := backup.NewWriter(&b, r.Header)
		if err != nil {
			t.Fatal(err)
		}
		for i, rec := range rs {
			key, value, err := modellog.Encode(rec.Record)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Add(int64(i), rec.Time, key, value); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	flipped := bytes.Clone(file)
	flipped[len(file)/2] ^= 4
	try("no file", nil, snapshot.ErrTruncated, "trailer")
	try("garbage", bytes.Repeat([]byte("garbage"), 1000), snapshot.ErrCorrupt, "not an export")
	try("cut", file[:len(file)*2/3], snapshot.ErrTruncated, "trailer")
	try("flipped", flipped, snapshot.ErrCorrupt, "")
	try("twice", append(bytes.Clone(file), file...), snapshot.ErrCorrupt, "follows the trailer")
	type change = func(h *backup.Header, rs []backup.Record) []backup.Record
	for _, x := range []struct {
		name string
		change
		kind error
		want string
	}{
		{"another model", func(h *backup.Header, rs []backup.Record) []backup.Record {
			h.Model = "another"
			return rs
		}, admin.ErrCopy, `contains model "another"`},
		{"another end", func(h *backup.Header, rs []backup.Record) []backup.Record {
			h.Seq++
			return rs
		}, snapshot.ErrMismatch, "lead to seq"},
		{"a decision is missing", func(_ *backup.Header, rs []backup.Record) []backup.Record { return append(rs[:1:1], rs[2:]...) }, snapshot.ErrMismatch, "missing"},
		{"the last snapshot is missing", func(_ *backup.Header, rs []backup.Record) []backup.Record { return rs[:len(rs)-1] }, snapshot.ErrMismatch, "another chain or snapshot"},
		{"a forged chunk", func(_ *backup.Header, rs []backup.Record) []backup.Record {
			for _, r := range rs {
				if c, ok := r.Record.(*modellog.Chunk); ok {
					c.Data = bytes.Clone(c.Data)
					c.Data[len(c.Data)-1] ^= 1
				}
			}
			return rs
		}, snapshot.ErrCorrupt, "are not its file"},
		{"a claim", func(_ *backup.Header, rs []backup.Record) []backup.Record {
			return append(rs, backup.Record{Record: &modellog.Claim{Owner: modellog.Owner{Epoch: 99, Nonce: snapshot.ID{1}}}})
		}, snapshot.ErrCorrupt, "unexpected claim"},
	} {
		try(x.name, changed(x.change), x.kind, x.want)
	}
	if _, err := other.Topic(t.Context(), model.LogTopic(there.Model)); !errors.Is(err, ingest.ErrUnknownTopic) {
		t.Errorf("the topic of the log: %v, want that nothing was written", err)
	}
	imported(t, there, changed(func(_ *backup.Header, rs []backup.Record) []backup.Record { return rs }))
}

func TestACopyIsSignedAgain(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(300))
	cfg, _ := learntest.Config(c, "m", in)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.SignKey, cfg.VerifyKey = private, public
	learnAll(t, cfg)
	file := exported(t, cfg)
	for _, keys := range []struct{ sign, verify bool }{{true, true}, {false, false}, {false, true}} {
		_, other := cluster(t)
		there, _ := learntest.Config(other, "m", in)
		if keys.sign {
			there.SignKey = private
		}
		if keys.verify {
			there.VerifyKey = public
		}
		got, err := admin.Import(t.Context(), there, opening(file))
		if keys.verify && !keys.sign {
			learntest.Wants(t, err, modellog.ErrSignature, "sign_key_file")
			continue
		}
		if err != nil || !got.Signed {
			t.Fatalf("%+v: %+v, %v", keys, got, err)
		}
		same(t, cfg, there)
		there.VerifyKey = public
		if r, err := audit.Inspect(t.Context(), there, 1000); err != nil || keys.sign != (len(r.Snapshots[0].Signature) > 0) {
			t.Errorf("%+v: %v, signature %x", keys, err, r.Snapshots[0].Signature)
		}
	}
}
