package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/encode"
	"github.com/accrete-ml/accrete/ingest/registry"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// silent is a registry that does not answer.
type silent struct{ t *testing.T }

func (g silent) Writer(_ context.Context, id string) (decode.Writer, error) {
	g.t.Errorf("schema %s is asked for", id)
	return decode.Writer{}, errors.New("no answer")
}

// TestRecordsInEveryFormatAreTheSameModel writes the same examples in each format. The
// states are identical. Where there is a registry, records with schemas that it does not have
// go to quarantine, and neither a restart nor a verification asks it again.
func TestRecordsInEveryFormatAreTheSameModel(t *testing.T) {
	t.Parallel()
	c := kafkatest.Client(t)
	fake := srfake.New()
	defer fake.Close()
	schemas, err := registry.New(registry.Config{URLs: []string{fake.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	var want snapshot.Hash
	for _, format := range append([]string{"json", "vw", "cloudevents"}, decode.SchemaFormats()...) {
		t.Run(format, func(t *testing.T) {
			in := kafkatest.Name(format)
			cfg, _ := learntest.Config(c, format, in)
			cfg.Decode = decode.Config{Format: format, Label: "label", Infer: true, Missing: "impute"}
			framed := slices.Contains(decode.SchemaFormats(), format)
			var client *registry.Client
			if framed {
				cfg.Decode.Framed, cfg.Schemas, client = true, schemas, schemas
			}
			w, err := encode.WithSchema(t.Context(), format, "", encode.Roles{Labels: []string{"label"}}, client, in+"-value")
			if err != nil {
				t.Fatal(err)
			}
			bad := 0
			fill := func(examples []string) {
				var values []string
				for i, example := range examples {
					value, _, err := w.Write([]byte(example))
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, string(value))
					if framed && i%200 == 7 {
						values, bad = append(values, fmt.Sprintf("\x00\x00\x00\x02%c\x00rest", 1+i%3), string(value[:len(value)-1])), bad+2
					}
				}
				kafkatest.Fill(t, c, in, 1, values)
			}
			all := learntest.Rings(1000)
			fill(all[:600])
			learnAll(t, cfg)
			if framed { // what it needs is in the model log
				cfg.Schemas = known{schemas, silent{t}}
			}
			fill(all[600:])
			learnAll(t, cfg)
			got := stateAlone(t, cfg)
			if want == (snapshot.Hash{}) {
				want = got
			}
			if got != want {
				t.Errorf("the state is %v, want %v", got, want)
			}
			if n := len(kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))); n != bad {
				t.Errorf("%d records in quarantine, want %d", n, bad)
			}
			if n := len(kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model))); n != len(all) {
				t.Errorf("%d predictions, want %d", n, len(all))
			}
			if framed {
				cfg.Schemas = silent{t}
			}
			if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
				t.Errorf("verify: %+v, %v", v, err)
			}
		})
	}
}

// stateAlone returns the hash of what the newest snapshot has learned, without the schema of
// its columns, which has the schemas of the records too.
func stateAlone(t *testing.T, c model.Config) snapshot.Hash {
	t.Helper()
	j, err := journal.Open(t.Context(), c, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := j.Load(t.Context(), j.Log.Fold.Snapshots()[0])
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.StateHash(nil, s.State)
}

// known is a registry that may be asked for schemas that it does not have.
type known struct {
	*registry.Client
	silent
}

func (k known) Writer(ctx context.Context, id string) (decode.Writer, error) {
	w, err := k.Client.Writer(ctx, id)
	if err == nil {
		return k.silent.Writer(ctx, id)
	}
	return w, err
}

// flaky is a registry that is down for some time.
type flaky struct {
	*registry.Client
	down int
}

func (f *flaky) Writer(ctx context.Context, id string) (decode.Writer, error) {
	if f.down--; f.down >= 0 {
		return decode.Writer{}, errors.New("connection refused")
	}
	return f.Client.Writer(ctx, id)
}

// registered returns the configuration of a model whose input, of 100 records, names a schema in a
// registry. The registry does not answer the first requests, as many as down.
func registered(t *testing.T, down int) (model.Config, *learntest.Events) {
	t.Helper()
	c, in := kafkatest.Client(t), kafkatest.Name("avro")
	fake := srfake.New()
	t.Cleanup(fake.Close)
	schemas, err := registry.New(registry.Config{URLs: []string{fake.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	cfg, ev := learntest.Config(c, "m", in)
	cfg.Decode = decode.Config{Format: "avro", Framed: true, Label: "label", Infer: true, Missing: "impute"}
	cfg.Schemas = &flaky{schemas, down}
	w, err := encode.WithSchema(t.Context(), "avro", "", encode.Roles{Labels: []string{"label"}}, schemas, in+"-value")
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, example := range learntest.Rings(100) {
		value, _, err := w.Write([]byte(example))
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, string(value))
	}
	kafkatest.Fill(t, c, in, 1, values)
	return cfg, ev
}

func TestALearnerWaitsForTheRegistry(t *testing.T) {
	cfg, ev := registered(t, 2)
	learnAll(t, cfg)
	waited := 0
	for _, e := range ev.All() {
		if r, ok := e.(event.Retrying); ok && errors.Is(r.Err, ingest.ErrUnreachable) {
			waited++
		}
	}
	if waited != 2 {
		t.Errorf("it has reported %d retries, want 2", waited)
	}
	if n := len(kafkatest.Read(t, cfg.Client, model.QuarantineTopic(cfg.Model))); n != 0 {
		t.Errorf("%d records in quarantine", n)
	}
}

// A learner that waits for the registry can be stopped: the records are learned after the next start.
func TestALearnerThatWaitsForTheRegistryStops(t *testing.T) {
	cfg, ev := registered(t, math.MaxInt)
	cfg.ToEnd, cfg.Drain = false, 2*time.Second
	stop, _ := start(t, cfg)
	eventually(t, "it misses the registry", func() bool { _, ok := learntest.Last[event.Retrying](ev); return ok })
	if err := stop(); err != nil {
		t.Error(err)
	}
	cfg.ToEnd = true
	cfg.Schemas.(*flaky).down = 0
	learnAll(t, cfg)
	if n := len(kafkatest.Read(t, cfg.Client, model.PredictionsTopic(cfg.Model))); n != 100 {
		t.Errorf("%d predictions, want 100", n)
	}
}
