package pipeline

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// fileOf returns the start with a file of these rows.
func fileOf(values []string) *model.Start {
	return &model.Start{Name: "rows.json", SHA256: sha256.Sum256([]byte(strings.Join(values, "\n"))), Rows: func(yield func([]byte) error) error {
		for _, v := range values {
			if err := yield([]byte(v)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// fitted returns the snapshot of accrete fit on these rows.
func fitted(t *testing.T, c model.Config, values []string) *snapshot.Snapshot {
	t.Helper()
	file, err := decode.Read(strings.NewReader(strings.Join(values, "\n")), "rows.json", c.Decode, decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	return withoutKafka(t, c, file, len(values), func(int) (decode.Row, error) { return file.Next() })
}

// A model that begins with a file, or with the model that fit has made of it, and
// continues with Kafka has the state of fit, and of a learner, on all records.
func TestAWarmStartIsOneLearnerOverTheConcatenation(t *testing.T) {
	c, in, whole := kafkatest.Client(t), kafkatest.Name("rings"), kafkatest.Name("rings")
	values := learntest.Rings(700)
	const cut = 333 // not at the end of a mini-batch
	kafkatest.Fill(t, c, in, 1, values[cut:])
	kafkatest.Fill(t, c, whole, 1, values)
	for _, algorithm := range []string{"dsg", "newton"} {
		t.Run(algorithm, func(t *testing.T) {
			all, ev := learntest.Config(c, "all-"+algorithm, whole)
			all.Learner.Algorithm = algorithm
			learnAll(t, all)
			want := learntest.FinalHash(t, ev)
			s := fitted(t, all, values)
			if got := snapshot.StateHash(s.Schema, s.State); got != want {
				t.Errorf("fit has state %v, learn %v", got, want)
			}
			part, err := snapshot.Append(nil, fitted(t, all, values[:cut]))
			if err != nil {
				t.Fatal(err)
			}
			for name, start := range map[string]*model.Start{
				"file":     fileOf(values[:cut]),
				"snapshot": {Name: "model.snap", SHA256: sha256.Sum256(part), Snapshot: part},
			} {
				cfg, ev := learntest.Config(c, name+"-"+algorithm, in)
				cfg.Learner.Algorithm, cfg.Start = algorithm, start
				if start.Snapshot != nil { // of a model without a mixture, which new ones have
					cfg.AutoMixture, cfg.Learner.Mixture = true, true
				}
				learnAll(t, cfg)
				if got := learntest.FinalHash(t, ev); got != want {
					t.Errorf("%s, then Kafka: state %v, in one go %v", name, got, want)
				}
				learnAll(t, cfg) // with the same start, it continues
				v, err := audit.Verify(t.Context(), cfg)
				if err != nil || v.Divergent != 0 || v.Compared < 2 || v.Start == nil || !v.Start.Verified || v.StateHash != want {
					t.Errorf("%s: verify %+v, %v", name, v, err)
				}
				cfg.Start = nil
				if v, err = audit.Verify(t.Context(), cfg); err != nil || v.Start.Verified || v.StateHash != want {
					t.Errorf("%s, without the file: verify %+v, %v", name, v, err)
				}
				cfg.Start = fileOf(values[:cut-1])
				_, err = Open(t.Context(), cfg)
				learntest.Wants(t, err, model.ErrStart, "under another name")
				_, err = audit.Verify(t.Context(), cfg)
				learntest.Wants(t, err, model.ErrStart, "began with")
			}
		})
	}
}

// A beginning is verified also if the program reads the file in another way since.
func TestABeginningIsVerifiedAsItWasRead(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(300)
	kafkatest.Fill(t, c, in, 1, values[200:])
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Start = fileOf(values[:200])
	learnAll(t, cfg)
	was := *cfg.Start
	for _, now := range [][]string{values[1:200], {"no row"}} {
		cfg.Start = fileOf(now)
		cfg.Start.Name, cfg.Start.SHA256 = was.Name, was.SHA256
		if v, err := audit.Verify(t.Context(), cfg); err == nil && v.Divergent == 0 {
			t.Errorf("with other rows: verify %+v, %v", v, err)
		}
		cfg.Start.Earlier = was.Rows
		if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || !v.Start.Verified {
			t.Errorf("with those rows as the earlier ones: verify %+v, %v", v, err)
		}
	}
}

// A new model can begin in the middle of its inputs.
func TestAModelBeginsAtStatedPositions(t *testing.T) {
	c, in, rest := kafkatest.Client(t), kafkatest.Name("rings"), kafkatest.Name("rings")
	values := learntest.Rings(300)
	kafkatest.Fill(t, c, in, 1, values[:100])
	for last := time.Now().UnixMilli(); time.Now().UnixMilli() == last; {
	}
	at := time.Now()
	for last := time.Now().UnixMilli(); time.Now().UnixMilli() == last; {
	}
	kafkatest.Fill(t, c, in, 1, values[100:])
	kafkatest.Fill(t, c, rest, 1, values[100:])
	all, ev := learntest.Config(c, "m", rest)
	learnAll(t, all)
	want := learntest.FinalHash(t, ev)
	for name, from := range map[string]model.From{
		"offset": {Offsets: map[string]map[int32]int64{in: {0: 100}}},
		"time":   {Time: at},
	} {
		cfg, ev := learntest.Config(c, name, in)
		cfg.Start = &model.Start{From: from}
		learnAll(t, cfg)
		if got := learntest.FinalHash(t, ev); got != want {
			t.Errorf("%s: state %v, want %v", name, got, want)
		}
		cfg.Start = nil
		if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || !v.Start.Verified || v.Records != 200 {
			t.Errorf("%s: verify %+v, %v", name, v, err)
		}
	}
	cfg, _ := learntest.Config(c, "latest", in)
	cfg.Start = &model.Start{From: model.From{Latest: true}}
	learnAll(t, cfg)
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Records != 0 || !v.Start.Verified {
		t.Errorf("latest: verify %+v, %v", v, err)
	}
	cfg, _ = learntest.Config(c, "beyond", in)
	cfg.Start = &model.Start{From: model.From{Offsets: map[string]map[int32]int64{in: {0: 301}}}}
	_, err := Open(t.Context(), cfg)
	learntest.Wants(t, err, model.ErrStart, "it has the offsets 0 to 300")
}

// A start that was interrupted is not a model until the same start is repeated.
func TestAnInterruptedStartIsRepeated(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(400)
	kafkatest.Fill(t, c, in, 1, values[200:])
	whole, ev := learntest.Config(c, "whole", in)
	whole.Start = fileOf(values[:200])
	learnAll(t, whole)
	want := learntest.FinalHash(t, ev)

	cfg, ev := learntest.Config(c, "m", in)
	cfg.ChunkBytes = 1000
	if err := journal.Create(t.Context(), cfg, 1); err != nil {
		t.Fatal(err)
	}
	from, err := journal.Open(t.Context(), whole, 1)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	options, err := cfg.Options()
	if err != nil {
		t.Fatal(err)
	}
	g := from.Log.Fold.Genesis()
	if err := j.Claim(t.Context(), cfg.Versions(), func(o modellog.Owner) []modellog.Record {
		return []modellog.Record{
			&modellog.Genesis{Owner: o, Model: cfg.Model, TopicID: j.Log.ID(), Seq: g.Seq, Chain: g.Start.Hash(), Import: g.Seq, Start: g.Start, Versions: cfg.Versions()},
			&modellog.Config{Owner: o, Hash: sha256.Sum256(options), Config: options},
		}
	}); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, "repeat accrete learn with the same --from")
	cfg.Start = fileOf(values[:199])
	_, err = Open(t.Context(), cfg)
	learntest.Wants(t, err, model.ErrStart, "began with")
	cfg.Start = fileOf(values[:200])
	learnAll(t, cfg)
	if got := learntest.FinalHash(t, ev); got != want {
		t.Errorf("state %v, want %v", got, want)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || !v.Start.Verified {
		t.Errorf("verify %+v, %v", v, err)
	}
}

func TestBadRowsAreNotSkippedInAStart(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(10)
	kafkatest.Fill(t, c, in, 1, values)
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Start = fileOf([]string{values[0], values[1], `{"features":{"x":"y"}}`})
	_, err := Open(t.Context(), cfg)
	learntest.Wants(t, err, model.ErrStart, "row 3 of rows.json")
	cfg.Start = fileOf(nil)
	_, err = Open(t.Context(), cfg)
	learntest.Wants(t, err, model.ErrStart, "no rows")
	cfg.Start = nil
	learnAll(t, cfg) // nothing was written
}

// A model does not begin with a snapshot whose schema names other columns or classes than the model has.
func TestAStartHasTheSchemaOfItsModel(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(200)
	kafkatest.Fill(t, c, in, 1, values)
	cfg, _ := learntest.Config(c, "m", in)
	s := fitted(t, cfg, values)
	for schema, why := range map[string]string{
		``:                "0 columns",
		`{}`:              "0 columns",
		`{"columns":"x"}`: "schema",
		`{"columns":["x"],"task":"classification","classes":["false","true"]}`: "1 columns",
		`{"columns":["x","y"],"task":"classification","classes":["false"]}`:    "1 classes",
		`{"columns":["x","y"],"task":"regression"}`:                            "the task",
	} {
		s.Schema = []byte(schema)
		file, err := snapshot.Append(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Start = &model.Start{Name: "model.snap", SHA256: sha256.Sum256(file), Snapshot: file}
		_, err = Open(t.Context(), cfg)
		learntest.Wants(t, err, snapshot.ErrCorrupt, why)
	}
}

func TestParseFrom(t *testing.T) {
	for _, bad := range []string{"x", "in:1", "in/0", "in/0:1,in/0:2", "in/-1:2", "/0:1", "in/0:-1", "2026-13-01T00:00:00Z"} {
		if f, err := model.ParseFrom(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, f)
		}
	}
	f, err := model.ParseFrom("a.b/0:12,a.b/1:0")
	if err != nil || f.Offsets["a.b"][0] != 12 || len(f.Offsets["a.b"]) != 2 {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := model.ParseFrom("2026-03-01T00:00:00+01:00"); err != nil || f.Time.Unix() != 1772319600 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A snapshot of a model without late labels begins one that has them, with nothing that waits.
func TestASnapshotBeginsAModelWithLateLabels(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rows")
	outcomes := in + "-outcomes"
	var rows, labels []string
	for i := range 300 {
		rows = append(rows, fmt.Sprintf(`{"id":"k%d","a":%d}`, i, i%10))
		labels = append(labels, fmt.Sprintf(`{"id":"k%d","label":"c%d"}`, i, i%2))
	}
	kafkatest.Fill(t, c, in, 1, rows)
	kafkatest.Fill(t, c, outcomes, 1, labels)
	cfg, ev := learntest.Config(c, "m", in)
	cfg.Decode = decode.Config{Label: "label", Infer: true, Types: map[string]string{"id": "id"}}
	var whole []string
	for i := range 200 {
		whole = append(whole, fmt.Sprintf(`{"id":"w%d","a":%d,"label":"c%d"}`, i, i%10, i%2))
	}
	part, err := snapshot.Append(nil, fitted(t, cfg, whole))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Topics = []string{in, outcomes}
	cfg.Decode.Late = &join.Config{Topic: outcomes, Key: "id", TTL: 3_600_000, Pending: 1000}
	cfg.Start = &model.Start{Name: "model.snap", SHA256: sha256.Sum256(part), Snapshot: part}
	cfg.AutoMixture, cfg.Learner.Mixture = true, true
	learnAll(t, cfg)
	if s, ok := learntest.Last[event.Learned](ev); !ok || s.Progress.Examples != 500 || s.Late == nil {
		t.Errorf("learned %+v, want 500 examples", s)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Start == nil || !v.Start.Verified {
		t.Errorf("verify: %+v, %v", v, err)
	}
}
